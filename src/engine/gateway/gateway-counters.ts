import { randomInt } from 'node:crypto';
import {
  type BufferDefinition,
  BufferParts,
  bytesOf,
  WorkerCounter,
  workerCounterMemory,
} from '../shared-memory/buffer-parts.ts';
import { SharedLock } from '../shared-memory/shared-lock.ts';
import { MAX_WORKERS, sharedNow, type WorkerContext, type WorkerPlace } from '../shared-memory/worker-context.ts';
import { BufferBudget } from './server/buffer-budget.ts';

const MAX_CELL = 2 ** 31 - 1;

/** The counts of the whole process that all workers share. */
export class GatewayCounters {
  /** Open connections of clients. */
  readonly connections: WorkerCounter;
  /** Sockets of WebSocket handshakes and tunnels. */
  readonly tunnels: WorkerCounter;
  /** Connections that were closed because of the limit. */
  readonly refused: WorkerCounter;
  /** Connections that could not be accepted. */
  readonly unaccepted: WorkerCounter;
  readonly upstreamConnections: WorkerCounter;
  /** The total length of the standstills of the process or of one worker. */
  readonly standstillMs: WorkerCounter;
  readonly bufferBudget: BufferBudget;
  readonly #reportLock: SharedLock;
  /** When the latest standstill was counted. */
  readonly #reportedAt: Float64Array;
  readonly #pseudonym: Int32Array;

  constructor(parts: BufferParts, worker: WorkerPlace) {
    const createCounter = () => new WorkerCounter(workerCounterMemory(parts, worker.count), worker);
    this.connections = createCounter();
    this.tunnels = createCounter();
    this.refused = createCounter();
    this.unaccepted = createCounter();
    this.upstreamConnections = createCounter();
    this.standstillMs = createCounter();
    this.bufferBudget = new BufferBudget(parts, worker);
    this.#reportLock = new SharedLock(parts.int32(1));
    this.#reportedAt = parts.float64(1);
    this.#pseudonym = parts.int32(2);
  }

  /** Returns a random name for `Via`, which is the same in all workers. */
  pseudonym(): string {
    const cells = this.#pseudonym;
    for (let index = 0; index < cells.length; index += 1)
      Atomics.compareExchange(cells, index, 0, randomInt(1, MAX_CELL));
    return `signing-gateway-${Array.from(cells, (cell) => cell.toString(16).padStart(8, '0')).join('')}`;
  }

  /** Counts a standstill that ends now. Returns false if another worker has counted the same one. */
  addStandstill(ms: number): boolean {
    const now = sharedNow();
    const isFirst = this.#reportLock.run(() => {
      const isNew = (this.#reportedAt[0] as number) <= now - ms;
      if (isNew) this.#reportedAt[0] = now;
      return isNew;
    });
    if (isFirst) this.standstillMs.add(ms);
    return isFirst;
  }

  /** Removes the connections and bytes of a worker that ended. Its refused connections still count. */
  forgetWorker(worker: number): void {
    for (const counter of [this.connections, this.tunnels, this.upstreamConnections]) counter.forget(worker);
    this.bufferBudget.forgetWorker(worker);
  }
}

/** Returns the buffer that every plan needs. @param workers the number of workers */
export function gatewayBuffer(workers: number): BufferDefinition {
  return { name: 'gateway', bytes: bytesOf((parts) => new GatewayCounters(parts, { index: 0, count: workers })) };
}

/** Returns the counts that a worker shares with the others. */
export function sharedGatewayCounters(worker: Pick<WorkerContext, 'index' | 'count' | 'memory'>): GatewayCounters {
  if (worker.count > MAX_WORKERS) throw new RangeError(`a process has at most ${MAX_WORKERS} workers`);
  const { name, bytes } = gatewayBuffer(worker.count);
  return new GatewayCounters(new BufferParts(worker.memory.buffer(name, bytes)), worker);
}
