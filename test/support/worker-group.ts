import type { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { createGateway } from '../../src/engine/gateway/gateway.ts';
import { load, type PlannedManifest } from '../../src/engine/load.ts';
import { createMemoryEnvironment } from '../../src/engine/manifest/source.ts';
import { createMainContext } from '../../src/process/workers/main-context.ts';
import { WorkerGroup } from '../../src/process/workers/worker-group.ts';

export interface TestGroup {
  readonly group: WorkerGroup;
  readonly port: number;
  /** The threads of the workers that have started, in their order. A replaced worker stays in the list. */
  readonly threads: readonly Worker[];
  /** The log lines so far, parsed. */
  readonly entries: readonly Record<string, unknown>[];
  /** Compiles a manifest in this thread. */
  plan(text: string): PlannedManifest;
  /** Prepares and activates a manifest as a reload does. */
  reload(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts workers for a manifest: threads, and a gateway in this thread. */
export async function startGroup(text: string, count: number): Promise<TestGroup> {
  const planOf = (source: string, previous?: PlannedManifest['plan']) => {
    const loaded = load({ path: 'gateway.yaml', text: source }, createMemoryEnvironment({}, {}), previous);
    if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
    return loaded;
  };
  const initial = planOf(text);
  const entries: Record<string, unknown>[] = [];
  const write = (line: string) => void entries.push(JSON.parse(line));
  const log = { logger: pino({ base: null }, { write }), writeLine: write, flush: () => undefined };
  const context = createMainContext(count);
  const gateway = createGateway(initial.plan, log, { worker: context });
  const threads: Worker[] = [];
  const addThread = (thread: Worker) => void threads.push(thread);
  process.on('worker', addThread);
  const group = new WorkerGroup({
    gateway,
    context,
    log,
    input: initial.compileInput,
    version: '0',
    descriptorLimit: Number.POSITIVE_INFINITY,
  });
  await group.start(new AbortController().signal);
  const { port } = await group.listen();
  const plan = (source: string) => planOf(source, group.plan);
  return {
    group,
    port,
    threads,
    entries,
    plan,
    reload: async (source) => {
      const planned = plan(source);
      await group.prepare(planned);
      await group.activate(planned);
    },
    close: async () => {
      process.off('worker', addThread);
      await group.close(0);
    },
  };
}
