import type { Exchange } from '../../engine/gateway/exchange.ts';
import { GrowingBuffer } from '../../engine/http1/growing-buffer.ts';
import { BufferParts, bytesOf, WorkerCounter, workerCounterMemory } from '../../engine/shared-memory/buffer-parts.ts';
import type { WorkerContext, WorkerPlace } from '../../engine/shared-memory/worker-context.ts';

/** The numbers of a comparison that all workers share. They are 0 at first. */
export class SharedComparison {
  /** The requests that each worker will compare or skip. */
  readonly #observed: WorkerCounter;
  /** The bytes of the bodies that each worker keeps. */
  readonly #kept: WorkerCounter;
  /** More than 0 once some requests were not compared. */
  readonly #missing: WorkerCounter;
  /** For each rate limit of the candidate, the time at which it had earlier requests; 0 if this is not known. */
  readonly #history: Float64Array;

  /** Takes a worker with the memory of the comparison, not that of the active plan, and the number of rate limits of the candidate. */
  constructor(worker: WorkerPlace & Pick<WorkerContext, 'memory'>, limits: number) {
    const { count, memory } = worker;
    const take = (parts: BufferParts) => ({
      observed: workerCounterMemory(parts, count),
      kept: workerCounterMemory(parts, count),
      missing: workerCounterMemory(parts, count),
      history: parts.float64(limits),
    });
    const { observed, kept, missing, history } = take(new BufferParts(memory.buffer('comparison', bytesOf(take))));
    this.#observed = new WorkerCounter(observed, worker);
    this.#kept = new WorkerCounter(kept, worker);
    this.#missing = new WorkerCounter(missing, worker);
    this.#history = history;
  }

  countObserved(): void {
    this.#observed.add(1);
  }

  /** Adds bytes to the kept bodies of this worker. Returns false, and adds nothing, if all workers would keep too many. */
  acquireBytes(bytes: number, maxBytes: number): boolean {
    this.#kept.add(bytes);
    if (this.#kept.total <= maxBytes) return true;
    this.releaseBytes(bytes);
    return false;
  }

  releaseBytes(bytes: number): void {
    this.#kept.add(-bytes);
  }

  /** The bytes of the bodies that this worker keeps. */
  get keptBytes(): number {
    return this.#kept.own;
  }

  /** False once some requests were not compared. The rate limits of the candidate then lack them. */
  get hasAllRequests(): boolean {
    return this.#missing.total === 0;
  }

  markMissingRequests(): void {
    this.#missing.add(1);
  }

  /** Records which limits of the candidate had counted requests that no worker has compared. Until then, each one may have. */
  recordHistory(hadRequests: readonly boolean[], now: number): void {
    for (const [index, had] of hadRequests.entries()) this.#history[index] = had ? now : Number.NEGATIVE_INFINITY;
  }

  /** Returns true if a rate limit may have counted requests after this time that no worker has compared. */
  mayHaveEarlier(limit: number, time: number): boolean {
    const lastAt = this.#history[limit] as number;
    return lastAt === 0 || lastAt >= time;
  }

  /** Gives back what a worker held which has ended. Returns the number of requests that it had observed. */
  forget(index: number): number {
    this.#kept.forget(index);
    return this.#observed.forget(index);
  }
}

/** The most bytes of one body, and of those of all workers together, that are kept for the candidate. Their buffers take up to twice as much. */
const MAX_BODY_BYTES = 1024 ** 2;
const MAX_ALL_BYTES = 16 * 1024 ** 2;

/** The memory for copies of bodies, of all workers together. */
type KeptBodies = Pick<SharedComparison, 'acquireBytes' | 'releaseBytes'>;

/** A copy of the body of one request. The gateway gives the original away to the thread that validates it. */
export class KeptBody implements NonNullable<Exchange['bodyCopy']> {
  readonly #memory: KeptBodies;
  /** `undefined` if only the size is needed, or the bytes are too many. */
  #buffer: GrowingBuffer | undefined;
  #keptBytes = 0;
  /** The bytes so far, whether they are kept or not. */
  size = 0;
  isComplete = false;

  /** @param keepsBytes false if only the size is needed */
  constructor(memory: KeptBodies, keepsBytes: boolean) {
    this.#memory = memory;
    this.#buffer = keepsBytes ? new GrowingBuffer(MAX_BODY_BYTES) : undefined;
  }

  add(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.#buffer === undefined) return;
    // The buffer itself copies all chunks but the first.
    const copy = this.#keptBytes === 0 ? Buffer.from(chunk) : chunk;
    const hasMemory = this.#memory.acquireBytes(chunk.length, MAX_ALL_BYTES);
    if (hasMemory) this.#keptBytes += chunk.length;
    if (!hasMemory || !this.#buffer.add(copy)) this.release();
  }

  end(): void {
    this.isComplete = true;
  }

  /** Returns the complete body; `undefined` if it is not complete or not kept. */
  bytes(): Buffer | undefined {
    return this.isComplete ? this.#buffer?.bytes() : undefined;
  }

  release(): void {
    this.#memory.releaseBytes(this.#keptBytes);
    this.#keptBytes = 0;
    this.#buffer = undefined;
  }
}
