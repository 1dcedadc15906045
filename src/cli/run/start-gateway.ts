import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminContext } from '../../admin/admin-endpoint.ts';
import type { AdminListener } from '../../admin/admin-listener.ts';
import { createAdminMetrics } from '../../admin/admin-metrics.ts';
import { createAdminServer } from '../../admin/admin-server.ts';
import { createDescriptorMonitor, descriptorLimit } from '../../admin/descriptor-monitor.ts';
import { createGateway } from '../../engine/gateway/gateway.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import { type Log, ThrottledWarning } from '../../engine/log/log.ts';
import type { AddressOverrides } from '../../engine/manifest/source.ts';
import type { ListenAddress } from '../../engine/settings/address.ts';
import type { ReloadOutcome } from '../../process/reload/reload-outcome.ts';
import { Reloader, type ReloadTarget } from '../../process/reload/reloader.ts';
import { findRequestTracer } from '../../process/telemetry/opentelemetry.ts';
import { createMainContext } from '../../process/workers/main-context.ts';
import { countWorkers } from '../../process/workers/shared-port.ts';
import { WorkerGroup } from '../../process/workers/worker-group.ts';
import { CandidateControl } from '../../traffic/candidate/candidate-control.ts';
import { CommandError, errorCode, type Terminal } from '../terminal.ts';
import { version } from '../version.ts';
import { logCertificates, logReload, logUnchanged } from './reload-log.ts';
import type { Streams } from './streams.ts';
import { type CandidateFile, watchCandidate } from './watch-candidate.ts';

/** A manifest to serve, and the process that serves it. */
export interface GatewayStart {
  readonly file: string;
  readonly initial: PlannedManifest;
  readonly overrides: AddressOverrides;
  /** See `FileThreadOptions`. */
  readonly secretsFolder?: string | undefined;
  /** A manifest to compare the requests with. */
  readonly candidate?: CandidateFile | undefined;
  readonly terminal: Terminal;
  readonly streams: Streams;
}

/** A gateway that serves requests, with its reloader and its admin API. */
export type RunningGateway = NonNullable<Awaited<ReturnType<typeof startGateway>>>;

/** Listens, watches the manifest and serves the admin API, unless a signal comes first. Throws a `CommandError` if an address is taken. */
export async function startGateway(start: GatewayStart) {
  const { initial, overrides, secretsFolder, terminal, streams } = start;
  const { log, notes } = streams;
  const { plan } = initial;
  const limit = descriptorLimit();
  const tracer = findRequestTracer(version);
  const context = createMainContext(await countWorkers(plan.server.workers, log.logger));
  const gateway = createGateway(plan, log, { tracer, descriptorLimit: limit, worker: context });
  const input = initial.compileInput;
  const workers = new WorkerGroup({ gateway, context, log, input, version, descriptorLimit: limit });
  const isStarted = await workers.start(terminal.stop).then(
    () => true,
    (error) => (terminal.stop.aborted ? false : Promise.reject(startError(error))),
  );
  if (!isStarted) return undefined;
  const bound = await workers.listen().catch((error) => Promise.reject(listenError(error, 'listen', plan.listen)));
  const candidate = new CandidateControl(gateway, log.logger, workers.candidates);
  const { reloader, activeManifest } = startReloader(start, workers, candidate);
  const candidateReloader =
    start.candidate &&
    watchCandidate(start.candidate, { gateway, control: candidate, overrides, secretsFolder }, terminal, streams);
  const reloaders = [reloader, ...(candidateReloader === undefined ? [] : [candidateReloader])];
  terminal.setHungThreadCheck(() => reloaders.some(({ isThreadBlocked }) => isThreadBlocked));
  const descriptors = createDescriptorMonitor(gateway, log.logger, limit);
  void descriptors.start();
  let isWarm = false;
  const admin = await startAdmin(plan.admin, {
    gateway,
    workers,
    version,
    startedAt: new Date(),
    overrides,
    activeManifest,
    reloader,
    candidate,
    candidateFile: candidateReloader,
    isStopping: () => terminal.stop.aborted,
    isWarm: () => isWarm,
    adminMetrics: createAdminMetrics(log.logger),
    descriptors,
    standardStreams: () => ({ stdout: log.status(), stderr: notes.status() }),
  }).catch(async (error) => {
    await Promise.all(reloaders.map((each) => each.close()));
    await workers.close(0);
    throw error;
  });
  fetchSigningKeys(activeManifest());
  logCertificates(plan, log.logger);
  terminal.onSignal((signal) => handleSignal(signal, reloader, terminal.stop, log));
  // The first scrape would otherwise delay requests for as long as its library takes to load.
  if (admin !== undefined && !terminal.stop.aborted) await import('../../admin/metrics/prometheus-renderer.ts');
  await warmUpWorkers(workers, terminal.stop, log);
  isWarm = true;
  return {
    workerCount: context.count,
    url: urlOf(bound, plan.server.tls !== undefined),
    adminUrl: admin && urlOf(admin.bound, plan.admin?.tls !== undefined),
    /** Drains the gateway, unless it stops at once, and closes everything. `signal` is the reason that the log reports. */
    stop: async (signal: unknown, atOnce = false) => {
      descriptors.close();
      void candidate.remove();
      await Promise.all([
        ...reloaders.map((each) => each.close()),
        drainAndClose(workers, log, signal, atOnce).then(() => admin?.close()),
      ]);
      await tracer?.flush();
    },
  };
}

function startReloader(
  { file, initial, overrides, secretsFolder, terminal: { env, errColour }, streams }: GatewayStart,
  workers: WorkerGroup,
  candidate: CandidateControl,
) {
  let active = initial;
  const onReload = (reload: ReloadOutcome) => {
    if (reload.kind === 'accepted') {
      active = reload.planned;
      fetchSigningKeys(active);
    }
    logReload(reload, streams, errColour);
  };
  const watchWarning = new ThrottledWarning(
    streams.log.logger,
    'the files of the manifest cannot be watched; the gateway polls them instead',
  );
  const onWatchError = (reason: string) => watchWarning.add({ reason });
  const gateway: ReloadTarget = {
    get plan() {
      return workers.plan;
    },
    prepare: (planned) => workers.prepare(planned),
    activate: async (planned) => {
      await workers.activate(planned);
      await candidate.rebase();
    },
  };
  const reloader = new Reloader({
    path: file,
    initial,
    overrides,
    secretsFolder,
    gateway,
    env,
    onReload,
    onWatchError,
  });
  return { reloader, activeManifest: () => active };
}

/** Fetches the keys that verify tokens, so that the first request does not wait for them. */
function fetchSigningKeys({ plan }: PlannedManifest): void {
  for (const method of plan.auth?.verifier.methods ?? []) void method.prepare();
}

function handleSignal(signal: string, reloader: Reloader, stop: AbortSignal, log: Log): void {
  const isReload = signal === 'SIGHUP';
  if (isReload && !stop.aborted) void reloader.reload('signal').then((reload) => logUnchanged(reload, log));
  else log.logger.info({ signal }, isReload ? 'the gateway is stopping; SIGHUP is ignored' : 'signal ignored');
}

/** Ctrl+C at a terminal, where no load balancer polls /readyz. The gateway therefore stops without the delay. */
const IMMEDIATE_STOP_SIGNAL = 'SIGINT';

/** Serves requests until load balancers have seen that the gateway is not ready, then waits for requests in progress. */
async function drainAndClose(workers: WorkerGroup, { logger }: Log, signal: unknown, atOnce: boolean): Promise<void> {
  const { stopping } = workers.plan.server;
  const graceMs = atOnce ? 0 : stopping.graceMs;
  const waitMs = atOnce || signal === IMMEDIATE_STOP_SIGNAL ? 0 : stopping.delayMs;
  logger.info({ signal, delay_ms: waitMs, grace_ms: graceMs }, 'stopping');
  workers.drain();
  await sleep(waitMs);
  await workers.close(graceMs);
}

async function startAdmin(settings: AdminListener | undefined, context: AdminContext) {
  if (settings === undefined) return undefined;
  const admin = createAdminServer(settings, context);
  const bound = await admin.listen().catch((error) => Promise.reject(listenError(error, 'admin', settings)));
  return { bound, close: () => admin.close() };
}

function urlOf({ family, address, port }: AddressInfo, isSecure: boolean): string {
  if (family === 'unix') return `unix:${address}`;
  return `${isSecure ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function startError(error: unknown): CommandError {
  const reason = error instanceof Error ? error.message : String(error);
  return new CommandError(`${reason}; set "server.workers" to a smaller number`);
}

const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there',
  EEXIST: 'a file that is not a socket is there',
  ENOENT: 'its folder does not exist',
};

function listenError(error: unknown, key: string, { host, port, socket }: ListenAddress): CommandError {
  const code = errorCode(error);
  const reason = LISTEN_ERRORS[code] ?? code;
  const address = socket === undefined ? `${host.includes(':') ? `[${host}]` : host}:${port}` : `unix:${socket.path}`;
  return new CommandError(`cannot listen on ${address}: ${reason}; change "${key}" in the manifest, or use --${key}`);
}

/** Warms up all workers. Never rejects: a worker that is cold serves its first requests too, only slower. */
async function warmUpWorkers(workers: Pick<WorkerGroup, 'warmUp'>, stop: AbortSignal, { logger }: Log): Promise<void> {
  try {
    // Imported now that the gateway listens: no request needs these modules.
    const [{ warmUp }, { createWarmUpTraffic, startWarmUpUpstream }] = await Promise.all([
      import('../../prove/offline/warm-up.ts'),
      import('../../prove/offline/warm-up-traffic.ts'),
    ]);
    if (stop.aborted) return;
    const upstream = await startWarmUpUpstream();
    const traffic = createWarmUpTraffic(upstream.url);
    await Promise.all([warmUp(traffic, stop), workers.warmUp(traffic)]).finally(() => upstream.close());
  } catch (error) {
    if (!stop.aborted) logger.warn({ reason: String(error) }, 'the warm-up failed, so the first requests take longer');
  }
}
