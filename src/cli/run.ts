import { setFlagsFromString } from 'node:v8';
import { type Admin, createAdmin } from '../admin/admin.ts';
import { createGateway, type Gateway } from '../gateway/gateway.ts';
import { createLog, type Log } from '../log.ts';
import type { Plan } from '../plan/plan.ts';
import { createReloader, type Reload, type Reloader } from '../reload.ts';
import { worldOf } from '../world.ts';
import { formatChanges, formatProblems } from './format.ts';
import { loadFile, MANIFEST_OPTIONS, readArguments } from './manifest-file.ts';
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
  const { plan, problems, sources, files } = loadFile(file, terminal.env);
  if (plan === undefined) {
    terminal.err(formatProblems(problems, sources, terminal.errColour));
    return 1;
  }
  // The engine learns that some of a request's objects live long, puts all that come after them with the old ones from
  // the start, and they keep a quarter of all requests alive until the next full collection: 12 µs a request.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const log = createLog(1);
  const gateway = createGateway(plan, log);
  const bound = await gateway.listen().catch((error) => Promise.reject(listenError(error, 'listen', plan.listen)));
  const world = worldOf(file, terminal.env);
  let reloader: Reloader | undefined;
  const admin = await startAdmin(gateway, () => reloader?.last);
  reloader = createReloader(file, world, gateway, files, (reload) => tell(reload, log, terminal));
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

async function startAdmin(gateway: Gateway, last: () => Reload | undefined): Promise<Admin | undefined> {
  const address = gateway.plan.admin;
  if (address === undefined) return undefined;
  const admin = createAdmin(address, gateway, version, last);
  try {
    await admin.listen();
    return admin;
  } catch (error) {
    await gateway.close(0);
    throw listenError(error, 'admin', address);
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
