import { pino } from 'pino';
import { createGateway, type Gateway } from '../../src/engine/gateway/gateway.ts';
import { load } from '../../src/engine/load.ts';
import type { Log } from '../../src/engine/log/log.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import { SharedMemory, type WorkerContext } from '../../src/engine/shared-memory/worker-context.ts';
import { worldOf } from './gateway.ts';

export interface WorkerGateway {
  readonly gateway: Gateway;
  readonly port: number;
  /** The lines of the access log so far, parsed. */
  readonly lines: Record<string, unknown>[];
  /** The other log lines so far, parsed. */
  readonly logEntries: Record<string, unknown>[];
}

/** Gateways in this thread that are workers of one process. */
export interface WorkerGateways {
  readonly workers: readonly WorkerGateway[];
  /** The messages between the workers so far, by topic. */
  readonly messages: string[];
  /** Starts the worker of an index that has no gateway, or whose gateway has ended. */
  start(index: number): Promise<WorkerGateway>;
  /** Cuts a worker off from the others, as if its thread had ended: its memory and its messages reach nobody. */
  end(index: number): void;
  close(): Promise<void>;
}

export interface WorkerGatewaysOptions {
  readonly count: number;
  /** The workers that start at once. By default all. */
  readonly started?: number;
  readonly descriptorLimit?: number;
}

/** Returns contexts of workers in this thread. Messages arrive in a later turn of the event loop, as between threads. */
export function createWorkerContexts(count: number) {
  const memory = new SharedMemory();
  const messages: string[] = [];
  const listeners: Map<string, Set<(value: unknown) => void>>[] = [];
  const contextOf = (index: number): WorkerContext => {
    const own = new Map<string, Set<(value: unknown) => void>>();
    listeners[index] = own;
    const publish = (topic: string, value: unknown) => {
      if (listeners[index] !== own) return;
      messages.push(topic);
      const copy = structuredClone(value);
      setImmediate(() => {
        for (const others of listeners)
          if (others !== own) for (const listener of others?.get(topic) ?? []) listener(copy);
      });
    };
    const subscribe = (topic: string, listener: (value: unknown) => void) => {
      own.set(topic, (own.get(topic) ?? new Set()).add(listener));
      return () => void own.get(topic)?.delete(listener);
    };
    return { index, count, memory, bus: { publish, subscribe } };
  };
  const disconnect = (index: number) => void listeners.splice(index, 1, new Map());
  return { memory, messages, contextOf, disconnect };
}

export function planOf(manifest: string): Plan {
  const { plan, problems } = load({ path: 'gateway.yaml', text: manifest }, worldOf());
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('; '));
  return plan;
}

/** Starts gateways that share one memory, each on a port of its own. */
export async function startWorkerGateways(manifest: string, options: WorkerGatewaysOptions): Promise<WorkerGateways> {
  const { count, started = count, descriptorLimit } = options;
  const { messages, contextOf, disconnect } = createWorkerContexts(count);
  const workers: WorkerGateway[] = [];
  const start = async (index: number) => {
    const lines: Record<string, unknown>[] = [];
    const logEntries: Record<string, unknown>[] = [];
    const log: Log = {
      logger: pino({ base: null }, { write: (line: string) => void logEntries.push(JSON.parse(line)) }),
      writeLine: (json) => void lines.push(JSON.parse(json)),
      flush: () => undefined,
    };
    const gateway = createGateway(planOf(manifest), log, { worker: contextOf(index), descriptorLimit });
    const { port } = await gateway.listen();
    workers[index] = { gateway, port, lines, logEntries };
    return workers[index];
  };
  for (let index = 0; index < started; index += 1) await start(index);
  return {
    workers,
    messages,
    start,
    end: disconnect,
    close: async () => void (await Promise.all(workers.map(({ gateway }) => gateway.close(0)))),
  };
}
