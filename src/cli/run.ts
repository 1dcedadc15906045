import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { createAdmin } from '../admin/admin.ts';
import { AdminCounts } from '../admin/admin-counts.ts';
import type { Operated } from '../admin/call.ts';
import { Descriptors, descriptorLimit } from '../admin/descriptors.ts';
import { CountedWarning } from '../gateway/counted-warning.ts';
import { createGateway, type Gateway } from '../gateway/gateway.ts';
import { findTraces } from '../gateway/spans.ts';
import type { Planned } from '../load.ts';
import { createLog, type Log, type WrittenLog } from '../log.ts';
import type { Changes } from '../plan/changes.ts';
import type { AdminRules } from '../plan/plan.ts';
import { selfTest } from '../reload/self-test.ts';
import { toldProblems } from '../reload/told.ts';
import { type Reload, Reloader } from '../reload.ts';
import { worldOf } from '../world.ts';
import { formatChanges, formatProblems } from './format.ts';
import { formatLogLine } from './log-line.ts';
import { loadFile, MANIFEST_OPTIONS, readArguments } from './manifest-file.ts';
import { type ExitCode, type Terminal, type Verb, WorkError } from './terminal.ts';
import { version } from './version.ts';

export const run: Verb = {
  usage: 'signing-gateway run [FILE]',
  options: MANIFEST_OPTIONS,
  examples: ['signing-gateway run', 'signing-gateway run /etc/signing-gateway/gateway.yaml'],
  async run(terminal) {
    const { file } = readArguments(terminal.args, {});
    return serveFile(file, terminal, () => '');
  },
};

/**
 * Serves a manifest file until the terminal's `stop`.
 *
 * @param welcome returns a text for a person once requests are served, given the gateway's URL and the admin API's
 */
export async function serveFile(
  file: string,
  terminal: Terminal,
  welcome: (url: string, adminUrl: string | undefined) => string,
): Promise<ExitCode> {
  const loaded = loadFile(file, terminal.env);
  const { plan } = loaded;
  const refused = plan === undefined ? loaded : await selfTest(loaded, worldOf(file, terminal.env));
  if (plan === undefined || refused.problems.length > 0) {
    terminal.err(formatProblems(refused.problems, refused.sources, terminal.errColour));
    return 1;
  }
  // A signal that arrived while this thread was busy is delivered in the next turn of the event loop.
  await nextTurn();
  if (terminal.stop.aborted) return 0;
  // The engine learns that some of a request's objects live long, puts all that come after them with the old ones from
  // the start, and they keep a quarter of all requests alive until the next full collection: 12 µs a request.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const { log, notes } = openStreams(terminal);
  const maxDescriptors = descriptorLimit();
  const gateway = createGateway(plan, log, findTraces(version), undefined, maxDescriptors);
  const bound = await gateway.listen().catch((error) => Promise.reject(listenError(error, 'listen', plan.listen)));
  let planned: Planned = loaded;
  const takeKeys = () => void planned.plan.auth?.verifier.prepare();
  const hear = (reload: Reload) => {
    if (reload.kind === 'loaded') {
      planned = reload.planned;
      takeKeys();
    }
    tell(reload, log, notes, terminal.errColour);
  };
  const unwatched = new CountedWarning(log.logger, UNWATCHED);
  const onWatchError = (reason: string) => unwatched.add({ reason });
  const reloader = new Reloader({ path: file, env: terminal.env, gateway, first: loaded, tell: hear, onWatchError });
  terminal.onHungThread(() => reloader.isThreadHung);
  const isStopping = () => terminal.stop.aborted;
  const descriptors = new Descriptors(gateway, log.logger, maxDescriptors);
  void descriptors.start();
  const operated = {
    gateway,
    version,
    startedAt: new Date(),
    planned: () => planned,
    reloader,
    isStopping,
    counts: new AdminCounts(log.logger),
    descriptors,
    streams: () => ({ stdout: log.status(), stderr: notes.status() }),
  };
  const admin = await startAdmin(plan.admin, operated).catch(async (error) => {
    await reloader.close();
    await gateway.close(0);
    throw error;
  });
  takeKeys();
  terminal.onSignal((signal) => hearSignal(signal, reloader, isStopping, log));
  const url = urlOf(bound, plan.server.tls !== undefined);
  const adminUrl = admin && urlOf(admin.bound, plan.admin?.tls !== undefined);
  log.logger.info({ url, admin: adminUrl, manifest: file, hash: plan.hash, routes: plan.routes.length }, 'serving');
  note(notes, welcome(url, adminUrl));

  await aborted(terminal.stop);
  descriptors.close();
  const reloaderClosed = reloader.close();
  await stop(gateway, log, terminal.stop.reason);
  await Promise.all([reloaderClosed, admin?.close()]);
  log.logger.info('stopped');
  await Promise.all([log.end(), notes.end()]);
  return 0;
}

/**
 * The log on the standard output, and notes for a person on the standard error. Neither is written on this thread, which a
 * full pipe, a full disk or a mount that hangs would stop.
 */
function openStreams(terminal: Terminal): { log: WrittenLog; notes: WrittenLog } {
  const format = terminal.outIsTerminal ? (json: string) => formatLogLine(json, terminal.outColour) : undefined;
  const log = createLog(1, format, (code) => note(notes, `signing-gateway: the log cannot be written: ${code}\n`));
  const notes = createLog(2, undefined, (code) => log.logger.error({ code }, 'the standard error cannot be written'));
  terminal.onSuddenEnd((fault) => {
    if (fault !== undefined) log.logger.fatal({ err: fault }, 'the process ends by a fault of its own');
    log.flush();
    notes.flush();
  });
  return { log, notes };
}

function note(notes: Log, text: string): void {
  if (text !== '') notes.line(text.replace(/\n$/, ''));
}

function hearSignal(signal: string, reloader: Reloader, isStopping: () => boolean, log: Log): void {
  const isReload = signal === 'SIGHUP';
  if (isReload && !isStopping()) void reloader.reload('signal').then((reload) => tellUnchanged(reload, log));
  else log.logger.info({ signal }, isReload ? 'the gateway is stopping; SIGHUP is ignored' : 'signal ignored');
}

const UNWATCHED = 'the files of the manifest cannot be watched; they are polled';

/** Who waits at a terminal has nobody to tell that no more requests are wanted. */
const AT_ONCE = 'SIGINT';

/** Serves on until whoever sends requests has learnt that no more are wanted, then lets those in flight end. */
async function stop(gateway: Gateway, { logger }: Log, signal: unknown): Promise<void> {
  const { delayMs, graceMs } = gateway.plan.server.stopping;
  const waitMs = signal === AT_ONCE ? 0 : delayMs;
  logger.info({ signal, delay_ms: waitMs, grace_ms: graceMs }, 'stopping');
  gateway.drain();
  await sleep(waitMs);
  await gateway.close(graceMs);
}

function urlOf({ family, address, port }: AddressInfo, isSecure: boolean): string {
  return `${isSecure ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

async function startAdmin(rules: AdminRules | undefined, operated: Operated) {
  if (rules === undefined) return undefined;
  const admin = createAdmin(rules, operated);
  const bound = await admin.listen().catch((error) => Promise.reject(listenError(error, 'admin', rules)));
  return { bound, close: () => admin.close() };
}

function tell(reload: Reload, { logger }: Log, notes: Log, errColour: boolean): void {
  const { cause, files, ms } = reload;
  const attempt = { cause, files: files.slice(0, MOST_NAMES), ms };
  if (reload.kind === 'loaded') {
    const { hash, oldHash: old_hash, summary, changes, needsRestart } = reload;
    logger.info({ hash, old_hash, summary, ...attempt, ...shortened(changes) }, 'manifest reloaded');
    const keys = changes.needsRestart.filter((key) => needsRestart.includes(key));
    if (keys.length > 0)
      logger.warn({ keys }, 'these keys take a restart; until then they stay as they were at the start');
    note(notes, `${formatChanges(changes, files)}\n`);
  } else if (reload.kind === 'unreadable') {
    logger.error({ reason: reload.reason, ...attempt }, 'manifest cannot be read; the last good one stays in force');
  } else if (reload.kind === 'kept') {
    const problems = toldProblems(reload);
    logger.error({ problems, ...attempt }, 'manifest refused; the last good one stays in force');
    note(notes, formatProblems(reload.problems, reload.sources, errColour));
  }
}

function tellUnchanged({ kind, cause }: Reload, { logger }: Log): void {
  if (kind === 'unchanged') logger.info({ cause }, 'manifest unchanged; nothing was reloaded');
}

/** Names of one kind in one line of the log; how many there are, the summary says. */
const MOST_NAMES = 20;

function shortened(changes: Changes): object {
  return Object.fromEntries(Object.entries(changes).map(([what, names]) => [what, names.slice(0, MOST_NAMES)]));
}

function listenError(error: unknown, key: string, { host, port }: { host: string; port: number }): WorkError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  const reason = code === 'EADDRINUSE' ? 'another process listens there' : code;
  return new WorkError(
    `cannot listen on ${host}:${port}: ${reason}; write another address at "${key}" in the manifest`,
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
