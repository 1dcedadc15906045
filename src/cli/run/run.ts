import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { AdminContext } from '../../admin/admin-endpoint.ts';
import { AdminMetrics } from '../../admin/admin-metrics.ts';
import { createAdminServer } from '../../admin/admin-server.ts';
import { DescriptorMonitor, descriptorLimit } from '../../admin/descriptor-monitor.ts';
import { createGateway, type Gateway } from '../../gateway/gateway.ts';
import { findRequestTracer } from '../../gateway/telemetry/opentelemetry.ts';
import { ThrottledWarning } from '../../gateway/telemetry/throttled-warning.ts';
import type { PlannedManifest } from '../../load.ts';
import { createProcessLog, type Log, type ProcessLog } from '../../log/log.ts';
import { createFileEnvironment } from '../../manifest/file-environment.ts';
import type { AdminSettings } from '../../plan/settings/admin.ts';
import { reportChanges, reportProblems } from '../../reload/reload-report.ts';
import { Reloader, type ReloadOutcome } from '../../reload/reloader.ts';
import { runSelfTest } from '../../reload/self-test.ts';
import { formatChanges, formatProblems } from '../format.ts';
import { loadFile, MANIFEST_OPTIONS, parseSingleManifestArguments } from '../manifest-file.ts';
import { CommandError, type ExitCode, type Terminal, type Verb } from '../terminal.ts';
import { version } from '../version.ts';
import { formatLogLine } from './log-line.ts';

export const run: Verb = {
  usage: 'signing-gateway run [FILE]',
  options: MANIFEST_OPTIONS,
  examples: ['signing-gateway run', 'signing-gateway run /etc/signing-gateway/gateway.yaml'],
  async run(terminal) {
    const { file } = parseSingleManifestArguments(terminal.args, {});
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
  const initial = loadFile(file, terminal.env);
  const { plan } = initial;
  const refused = plan === undefined ? initial : await runSelfTest(initial, createFileEnvironment(file, terminal.env));
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
  const gateway = createGateway(plan, log, findRequestTracer(version), undefined, maxDescriptors);
  const bound = await gateway.listen().catch((error) => Promise.reject(listenError(error, 'listen', plan.listen)));
  let planned: PlannedManifest = initial;
  const takeKeys = () => void planned.plan.auth?.verifier.prepare();
  const onReload = (reload: ReloadOutcome) => {
    if (reload.kind === 'accepted') {
      planned = reload.planned;
      takeKeys();
    }
    logReload(reload, log, notes, terminal.errColour);
  };
  const unwatched = new ThrottledWarning(log.logger, WATCH_FAILED);
  const onWatchError = (reason: string) => unwatched.add({ reason });
  const reloader = new Reloader({ path: file, env: terminal.env, gateway, initial, onReload, onWatchError });
  terminal.setHungThreadCheck(() => reloader.isThreadBlocked);
  const isStopping = () => terminal.stop.aborted;
  const descriptors = new DescriptorMonitor(gateway, log.logger, maxDescriptors);
  void descriptors.start();
  const operated = {
    gateway,
    version,
    startedAt: new Date(),
    activeManifest: () => planned,
    reloader,
    isStopping,
    adminMetrics: new AdminMetrics(log.logger),
    descriptors,
    standardStreams: () => ({ stdout: log.status(), stderr: notes.status() }),
  };
  const admin = await startAdmin(plan.admin, operated).catch(async (error) => {
    await reloader.close();
    await gateway.close(0);
    throw error;
  });
  takeKeys();
  terminal.onSignal((signal) => handleSignal(signal, reloader, isStopping, log));
  const url = urlOf(bound, plan.server.tls !== undefined);
  const adminUrl = admin && urlOf(admin.bound, plan.admin?.tls !== undefined);
  log.logger.info({ url, admin: adminUrl, manifest: file, hash: plan.hash, routes: plan.routes.length }, 'serving');
  writeNote(notes, welcome(url, adminUrl));

  await waitForAbort(terminal.stop);
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
function openStreams(terminal: Terminal): { log: ProcessLog; notes: ProcessLog } {
  const format = terminal.outIsTerminal ? (json: string) => formatLogLine(json, terminal.outColour) : undefined;
  const log = createProcessLog(1, format, (code) =>
    writeNote(notes, `signing-gateway: the log cannot be written: ${code}\n`),
  );
  const notes = createProcessLog(2, undefined, (code) =>
    log.logger.error({ code }, 'the standard error cannot be written'),
  );
  terminal.onAbruptExit((fault) => {
    if (fault !== undefined) log.logger.fatal({ err: fault }, 'the process ends by a fault of its own');
    log.flush();
    notes.flush();
  });
  return { log, notes };
}

function writeNote(notes: Log, text: string): void {
  if (text !== '') notes.writeLine(text.replace(/\n$/, ''));
}

function handleSignal(signal: string, reloader: Reloader, isStopping: () => boolean, log: Log): void {
  const isReload = signal === 'SIGHUP';
  if (isReload && !isStopping()) void reloader.reload('signal').then((reload) => logUnchanged(reload, log));
  else log.logger.info({ signal }, isReload ? 'the gateway is stopping; SIGHUP is ignored' : 'signal ignored');
}

const WATCH_FAILED = 'the files of the manifest cannot be watched; they are polled';

/** Who waits at a terminal has nobody to tell that no more requests are wanted. */
const IMMEDIATE_STOP_SIGNAL = 'SIGINT';

/** Serves on until whoever sends requests has learnt that no more are wanted, then lets those in flight end. */
async function stop(gateway: Gateway, { logger }: Log, signal: unknown): Promise<void> {
  const { delayMs, graceMs } = gateway.plan.server.stopping;
  const waitMs = signal === IMMEDIATE_STOP_SIGNAL ? 0 : delayMs;
  logger.info({ signal, delay_ms: waitMs, grace_ms: graceMs }, 'stopping');
  gateway.drain();
  await sleep(waitMs);
  await gateway.close(graceMs);
}

function urlOf({ family, address, port }: AddressInfo, isSecure: boolean): string {
  return `${isSecure ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

async function startAdmin(rules: AdminSettings | undefined, operated: AdminContext) {
  if (rules === undefined) return undefined;
  const admin = createAdminServer(rules, operated);
  const bound = await admin.listen().catch((error) => Promise.reject(listenError(error, 'admin', rules)));
  return { bound, close: () => admin.close() };
}

function logReload(reload: ReloadOutcome, { logger }: Log, notes: Log, errColour: boolean): void {
  const { cause, files, ms } = reload;
  const attempt = { cause, files: files.slice(0, MAX_NAMES), ms };
  if (reload.kind === 'accepted') {
    const { hash, oldHash: old_hash, summary, changes, keysNeedingRestart } = reload;
    logger.info({ hash, old_hash, summary, ...attempt, ...reportChanges(changes, MAX_NAMES) }, 'manifest reloaded');
    const keys = changes.needsRestart.filter((key) => keysNeedingRestart.includes(key));
    if (keys.length > 0) logger.warn({ keys }, 'these keys take effect only after a restart; restart the gateway');
    writeNote(notes, `${formatChanges(changes, files)}\n`);
  } else if (reload.kind === 'unreadable') {
    logger.error(
      { reason: reload.reason, ...attempt },
      'manifest cannot be read; the gateway keeps the active manifest',
    );
  } else if (reload.kind === 'rejected') {
    const problems = reportProblems(reload);
    logger.error({ problems, ...attempt }, 'manifest rejected; the gateway keeps the active manifest');
    writeNote(notes, formatProblems(reload.problems, reload.sources, errColour));
  }
}

function logUnchanged({ kind, cause }: ReloadOutcome, { logger }: Log): void {
  if (kind === 'unchanged') logger.info({ cause }, 'manifest unchanged; nothing was reloaded');
}

/** The most names of one kind in a log line; the summary has the counts. */
const MAX_NAMES = 20;

function listenError(error: unknown, key: string, { host, port }: { host: string; port: number }): CommandError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  const reason = code === 'EADDRINUSE' ? 'another process listens there' : code;
  return new CommandError(
    `cannot listen on ${host}:${port}: ${reason}; write another address at "${key}" in the manifest`,
  );
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
