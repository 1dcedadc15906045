import type { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { createGateway, type Gateway } from '../../src/engine/gateway/gateway.ts';
import { load, type PlannedManifest } from '../../src/engine/load.ts';
import { createMainContext } from '../../src/process/workers/main-context.ts';
import { WorkerGroup } from '../../src/process/workers/worker-group.ts';
import { worldOf } from './gateway.ts';
import { keepAliveHead, Wire } from './raw.ts';

/** A gateway whose workers are threads of the process of the test. */
export interface WorkerThreads {
  readonly port: number;
  readonly gateway: Gateway;
  readonly group: WorkerGroup;
  /** The threads of the other workers so far, those that have ended included. */
  readonly threads: readonly Worker[];
  /** The log lines of all workers so far. */
  readonly lines: readonly string[];
  /** Opens a connection to the main thread, and one to another worker. */
  openWires(): Promise<readonly [main: Wire, other: Wire]>;
  /** Activates another manifest in all workers. */
  reload(text: string): Promise<void>;
  close(): Promise<void>;
}

export async function startWorkerThreads(
  text: string,
  env: Record<string, string> = {},
  count = 2,
): Promise<WorkerThreads> {
  const threads: Worker[] = [];
  const onWorker = (worker: Worker) => {
    if (worker.threadName?.startsWith('worker ')) threads.push(worker);
  };
  process.on('worker', onWorker);
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = { logger: pino({ base: null }, { write }), writeLine: write, flush: () => undefined };
  let planned = planOf(text, env);
  const context = createMainContext(count);
  const gateway = createGateway(planned.plan, log, { worker: context });
  const descriptorLimit = Number.POSITIVE_INFINITY;
  const input = planned.compileInput;
  const group = new WorkerGroup({ gateway, context, log, input, version: '1.2.3', descriptorLimit });
  await group.start(new AbortController().signal);
  const { port } = await group.listen();
  return {
    port,
    gateway,
    group,
    threads,
    lines,
    openWires: () => openWires(port, gateway),
    async reload(text) {
      planned = planOf(text, env, planned);
      await group.prepare(planned);
      await group.activate(planned);
    },
    async close() {
      process.off('worker', onWorker);
      await group.close(0);
    },
  };
}

function planOf(text: string, env: Record<string, string>, previous?: PlannedManifest): PlannedManifest {
  const loaded = load({ path: 'gateway.yaml', text }, worldOf(env), previous?.plan);
  if (loaded.plan !== undefined) return loaded;
  throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
}

/** The kernel chooses the worker of a connection, so this function opens some until it has one of each kind. */
async function openWires(port: number, gateway: Gateway): Promise<readonly [Wire, Wire]> {
  // The gateway of this thread publishes only its own requests.
  let ofMain = 0;
  const unsubscribe = gateway.subscribe(() => {
    ofMain += 1;
  });
  try {
    let main: Wire | undefined;
    let other: Wire | undefined;
    for (let index = 0; main === undefined || other === undefined; index += 1) {
      const wire = await Wire.open(port);
      const before = ofMain;
      wire.write(keepAliveHead(`GET /-opened/${index} HTTP/1.1`));
      await wire.response();
      if (ofMain > before) {
        main?.end();
        main = wire;
      } else {
        other?.end();
        other = wire;
      }
    }
    return [main, other];
  } finally {
    unsubscribe();
  }
}
