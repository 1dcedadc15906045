import type { BufferParts } from '../../shared-memory/buffer-parts.ts';
import { WorkerCounter, workerCounterMemory } from '../../shared-memory/buffer-parts.ts';
import { SharedLock } from '../../shared-memory/shared-lock.ts';
import type { WorkerPlace } from '../../shared-memory/worker-context.ts';
import { UsageByKey } from '../fairness/client-key.ts';

/** The share of the budget that one client may use while more than half of the budget is in use. */
const SHARE = 1 / 4;

/** `buffer_full`: the budget is used up; `buffer_share`: the client has used its share. */
type BufferRefusalReason = 'buffer_full' | 'buffer_share';

/**
 * Limits the bytes of buffered bodies in memory: request bodies that are validated, and responses of login routes. Bytes
 * count when they arrive, so a client cannot reserve memory by announcing a long body.
 *
 * The limit is for the bytes of all workers. The bytes of a client are counted in each worker alone.
 */
export class BufferBudget {
  limitBytes = 0;
  readonly #lock: SharedLock;
  readonly #bytes: WorkerCounter;
  readonly #refused: Readonly<Record<BufferRefusalReason, WorkerCounter>>;
  readonly #clients = new UsageByKey<string>();
  readonly #clientCount: WorkerCounter;

  constructor(parts: BufferParts, worker: WorkerPlace) {
    const createCounter = () => new WorkerCounter(workerCounterMemory(parts, worker.count), worker);
    this.#lock = new SharedLock(parts.int32(1));
    this.#bytes = createCounter();
    this.#clientCount = createCounter();
    this.#refused = { buffer_full: createCounter(), buffer_share: createCounter() };
  }

  /** The bytes of all workers, as the other counts. */
  get usedBytes(): number {
    return this.#bytes.total;
  }

  /** The number of clients with buffered bytes. A client that uses two workers counts twice. */
  get clientCount(): number {
    return this.#clientCount.total;
  }

  get refusedCounts(): Record<BufferRefusalReason, number> {
    const { buffer_full, buffer_share } = this.#refused;
    return { buffer_full: buffer_full.total, buffer_share: buffer_share.total };
  }

  /** Counts the bytes and returns `undefined`, or returns the reason why they cannot be buffered. */
  acquire(client: string, bytes: number): BufferRefusalReason | undefined {
    const refusal = this.#lock.run(() => this.#tryAdd(client, bytes));
    if (refusal === undefined) this.#addClient(client, bytes);
    else this.#refused[refusal].add(1);
    return refusal;
  }

  release(client: string, bytes: number): void {
    this.#bytes.add(-bytes);
    this.#addClient(client, -bytes);
  }

  /** Removes the bytes of a worker that ended. */
  forgetWorker(worker: number): void {
    this.#bytes.forget(worker);
    this.#clientCount.forget(worker);
  }

  #tryAdd(client: string, bytes: number): BufferRefusalReason | undefined {
    const usedBytes = this.usedBytes + bytes;
    const clientBytes = this.#clients.of(client) + bytes;
    const isHalfFull = usedBytes > this.limitBytes / 2;
    const isOverShare = isHalfFull && clientBytes > this.limitBytes * SHARE;
    if (usedBytes > this.limitBytes) return 'buffer_full';
    if (isOverShare) return 'buffer_share';
    this.#bytes.add(bytes);
    return undefined;
  }

  #addClient(client: string, bytes: number): void {
    const before = this.#clients.size;
    this.#clients.add(client, bytes);
    this.#clientCount.add(this.#clients.size - before);
  }
}
