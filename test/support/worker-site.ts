import type { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { createAdminServer } from '../../src/admin/admin-server.ts';
import { createGateway, type Gateway } from '../../src/engine/gateway/gateway.ts';
import { load, type PlannedManifest } from '../../src/engine/load.ts';
import type { Log } from '../../src/engine/log/log.ts';
import { createMainContext } from '../../src/process/workers/main-context.ts';
import { WorkerGroup } from '../../src/process/workers/worker-group.ts';
import { CandidateControl } from '../../src/traffic/candidate/candidate-control.ts';
import { adminContextOf } from './admin.ts';
import { worldOf } from './gateway.ts';
import { keepAliveHead, type RawResponse, Wire } from './raw.ts';
import { eventually } from './site.ts';

/** A gateway with several workers in the process of the test, its admin API and its candidate. */
export interface WorkerSite {
  readonly port: number;
  readonly adminUrl: string;
  readonly gateway: Gateway;
  readonly control: CandidateControl;
  /** The threads of the other workers so far, those that have ended included. */
  readonly threads: readonly Worker[];
  /** The lines of the access log of all workers so far, parsed. */
  readonly requestLines: Record<string, unknown>[];
  /** The other log lines of all workers so far, parsed. */
  readonly logEntries: Record<string, unknown>[];
  /** The requests that were sent to find out which worker has a connection. They match no route. */
  readonly probes: number;
  /** Opens connections until each worker has some: those of the main thread, and the others. */
  openWires(count: number): Promise<readonly [main: Wire[], others: Wire[]]>;
  /** Makes a manifest the candidate, as `run --candidate` does. */
  compareWithFile(text: string): Promise<void>;
  /** Activates another manifest in all workers. */
  reload(text: string): Promise<void>;
  /** Waits until all workers serve, after one of them has ended. */
  complete(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a gateway with workers, and an admin API if the manifest has `admin`, on port 0. */
export async function startWorkerSite(text: string, count = 2): Promise<WorkerSite> {
  const threads: Worker[] = [];
  const onWorker = (worker: Worker) => {
    if (worker.threadName?.startsWith('worker ')) threads.push(worker);
  };
  process.on('worker', onWorker);
  const { log, requestLines, logEntries } = memoryLog();
  let planned = planOf(text);
  let probes = 0;
  const context = createMainContext(count);
  const gateway = createGateway(planned.plan, log, { worker: context });
  const options = { gateway, context, log, version: '1.2.3', descriptorLimit: Number.POSITIVE_INFINITY };
  const group = new WorkerGroup({ ...options, input: planned.compileInput });
  await group.start(new AbortController().signal);
  const { port } = await group.listen();
  const control = new CandidateControl(gateway, log.logger, group.candidates);
  const settings = planned.plan.admin;
  const adminContext = { ...adminContextOf(gateway, log, () => planned), candidate: control };
  const admin = settings && createAdminServer(settings, adminContext);
  const adminUrl = `http://127.0.0.1:${(await admin?.listen())?.port}`;
  return {
    port,
    adminUrl,
    gateway,
    control,
    threads,
    requestLines,
    logEntries,
    get probes() {
      return probes;
    },
    async openWires(wires) {
      const [opened, count] = await openWires(port, gateway, wires);
      probes += count;
      return opened;
    },
    async compareWithFile(text) {
      const candidate = planOf(text, planned);
      await control.prepare(candidate);
      await control.activate(candidate, 'file', 1);
    },
    async reload(text) {
      const next = planOf(text, planned);
      await group.prepare(next);
      await group.activate(next);
      await control.rebase();
      planned = next;
    },
    complete: () => eventually('all workers serve', () => group.status.serving === count),
    async close() {
      process.off('worker', onWorker);
      await control.remove();
      await admin?.close();
      await group.close(0);
    },
  };
}

function planOf(text: string, previous?: PlannedManifest): PlannedManifest {
  const loaded = load({ path: 'gateway.yaml', text }, worldOf(), previous?.plan);
  if (loaded.plan !== undefined) return loaded;
  throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
}

function memoryLog(): { readonly log: Log } & Pick<WorkerSite, 'requestLines' | 'logEntries'> {
  const requestLines: Record<string, unknown>[] = [];
  const logEntries: Record<string, unknown>[] = [];
  const write = (json: string) => {
    const line = JSON.parse(json);
    (line.msg === 'request' ? requestLines : logEntries).push(line);
  };
  const log = { logger: pino({ base: null }, { write }), writeLine: write, flush: () => undefined };
  return { log, requestLines, logEntries };
}

/**
 * Opens connections until the main thread has accepted this many, and the other workers too. Closes the rest.
 *
 * @returns the connections, and the number of requests
 */
async function openWires(
  port: number,
  gateway: Gateway,
  count: number,
): Promise<[wires: readonly [Wire[], Wire[]], probes: number]> {
  // The gateway of this thread publishes only its own requests.
  let seen = 0;
  const unsubscribe = gateway.subscribe(() => {
    seen += 1;
  });
  const wires: readonly [Wire[], Wire[]] = [[], []];
  let index = 0;
  for (; wires.some(({ length }) => length < count); index += 1) {
    const wire = await Wire.open(port);
    const before = seen;
    await sendOn(wire, `GET /-opened/${index} HTTP/1.1`);
    const ofThread = wires[seen > before ? 0 : 1];
    if (ofThread.length < count) ofThread.push(wire);
    else wire.end();
  }
  unsubscribe();
  return [wires, index];
}

/** Sends a request without a body, and returns its response. */
export async function sendOn(wire: Wire, line: string, ...headers: string[]): Promise<RawResponse> {
  wire.write(keepAliveHead(line, ...headers));
  return wire.response();
}
