import { setFlagsFromString } from 'node:v8';
import { type Admin, createAdmin } from '../admin/admin.ts';
import type { Operated } from '../admin/call.ts';

import { createGateway } from '../gateway/gateway.ts';
import { findTraces } from '../gateway/spans.ts';
import { createLog, type Log } from '../log.ts';
import type { AdminRules, Plan } from '../plan/plan.ts';
import { createReloader, type Reload, type Reloader } from '../reload.ts';
import { formatChanges, formatProblems } from './format.ts';
import { loadFile, MANIFEST_OPTIONS, readArguments, worldOf } from './manifest-file.ts';
import { type ExitCode, type Terminal, type Verb, WorkError } from './terminal.ts';
import { version } from './version.ts';

/** How long requests in flight may go on once the process was asked to stop. */
const GRACE_MS = 30_000;

export const run: Verb = {
  usage: 'signing-gateway run [FILE]',
  options: MANIFEST_OPTIONS,
  examples: ['signing-gateway run', 'signing-gateway run /etc/signing-gateway/gateway.yaml'],
  async run(terminal) {
    const { file } = readArguments(terminal.args, {});
    return serveFile(file, terminal, () => undefined);
  },
};

/**
 * Serves a manifest file until the terminal's `stop`.
 *
 * @param ready is told the address once requests are served
 */
export async function serveFile(
  file: string,
  terminal: Terminal,
  ready: (url: string, plan: Plan) => void,
): Promise<ExitCode> {
  const loaded = loadFile(file, terminal.env);
  const { plan, problems, files, text } = loaded;
  if (plan === undefined) {
    terminal.err(formatProblems(problems, text, terminal.errColour));
    return 1;
  }
  // The engine learns that some of a request's objects live long, puts all that come after them with the old ones from
  // the start, and they keep a quarter of all requests alive until the next full collection: 12 µs a request.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const log = createLog(1);
  const gateway = createGateway(plan, log, findTraces(version));
  const bound = await gateway.listen().catch((error) => Promise.reject(listenError(error, 'listen', plan.listen)));
  const world = worldOf(file, terminal.env);
  let reloader: Reloader | undefined;
  let inForce: ReturnType<Operated['inForce']> = { planned: loaded, since: new Date() };
  const lastReload = () => reloader?.last;
  const isStopping = () => terminal.stop.aborted;
  const startedAt = new Date();
  const reloads = { loaded: 0, kept: 0, unreadable: 0 };
  const past = { startedAt, first: plan, lastReload, reloads: () => reloads };
  const operated = { gateway, version, ...past, inForce: () => inForce, isStopping };
  const admin = await startAdmin(plan.admin, operated);
  void plan.auth?.verifier.prepare();
  reloader = createReloader(file, world, gateway, files, (reload) => {
    reloads[reload.kind] += 1;
    if (reload.kind === 'loaded') {
      inForce = { planned: reload.planned, since: reload.at };
      void reload.planned.plan.auth?.verifier.prepare();
    }
    tell(reload, log, terminal);
  });
  const scheme = plan.server.tls === undefined ? 'http' : 'https';
  const url = `${scheme}://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
  log.logger.info({ url, manifest: file, hash: plan.hash, routes: plan.routes.length }, 'serving');
  ready(url, plan);

  await aborted(terminal.stop);
  log.logger.info('stopping');
  await reloader.close();
  await gateway.close(GRACE_MS);
  await admin?.close();
  log.logger.info('stopped');
  log.flush();
  return 0;
}

async function startAdmin(rules: AdminRules | undefined, operated: Operated): Promise<Admin | undefined> {
  if (rules === undefined) return undefined;
  const admin = createAdmin(rules, operated);
  try {
    await admin.listen();
    return admin;
  } catch (error) {
    await operated.gateway.close(0);
    throw listenError(error, 'admin', rules);
  }
}

function tell(reload: Reload, log: Log, { err, errColour }: Terminal): void {
  if (reload.kind === 'loaded') {
    log.logger.info({ hash: reload.hash, ...reload.changes }, 'manifest reloaded');
    err(`${formatChanges(reload.changes)}\n`);
  } else if (reload.kind === 'unreadable') {
    log.logger.error({ reason: reload.reason }, 'manifest cannot be read; the last good one stays in force');
  } else {
    const problems = reload.problems.map(
      ({ file, range, message }) => `${file}:${range.line}:${range.column} ${message}`,
    );
    log.logger.error({ problems }, 'manifest refused; the last good one stays in force');
    err(formatProblems(reload.problems, reload.source.text, errColour));
  }
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
