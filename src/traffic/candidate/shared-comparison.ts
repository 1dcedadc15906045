import type { Exchange } from '../../engine/gateway/exchange.ts';
import { GrowingBuffer } from '../../engine/http1/growing-buffer.ts';
import type { WorkerContext } from '../../engine/shared-memory/worker-context.ts';

/** The cells of a row, which fill a cache line: workers that write to the same line would slow each other down. */
const ROW_CELLS = 16;
/** The cells of the first row. */
const HAS_HISTORY = 0;
const LACKS_REQUESTS = 1;
/** The cells of the row of a worker. */
const OBSERVED = 0;
const KEPT_BYTES = 1;

/** The numbers of a comparison that all workers share. They are 0 at first. */
export class SharedComparison {
  readonly #cells: Int32Array;
  readonly #worker: Pick<WorkerContext, 'index' | 'count'>;
  /** For each rate limit of the candidate, the time at which it had earlier requests. */
  readonly #history: Float64Array;
  /** The first cell of the row of this worker. */
  readonly #row: number;

  /** Takes a worker with the memory of the comparison, not that of the active plan, and the number of rate limits of the candidate. */
  constructor(worker: Pick<WorkerContext, 'index' | 'count' | 'memory'>, limits: number) {
    const rowsBytes = (1 + worker.count) * ROW_CELLS * Int32Array.BYTES_PER_ELEMENT;
    const buffer = worker.memory.buffer('comparison', rowsBytes + limits * Float64Array.BYTES_PER_ELEMENT);
    this.#worker = worker;
    this.#cells = new Int32Array(buffer, 0, (1 + worker.count) * ROW_CELLS);
    this.#history = new Float64Array(buffer, rowsBytes, limits);
    this.#row = rowOf(worker.index);
  }

  /** Counts a request that this worker will compare or skip. Only this worker writes the cell. */
  countObserved(): void {
    const cells = this.#cells;
    const cell = this.#row + OBSERVED;
    cells[cell] = ((cells[cell] as number) + 1) | 0;
  }

  /** Adds bytes to the kept bodies of this worker. Returns false, and adds nothing, if all workers would keep too many. */
  acquireBytes(bytes: number, maxBytes: number): boolean {
    Atomics.add(this.#cells, this.#row + KEPT_BYTES, bytes);
    if (this.#allKeptBytes() <= maxBytes) return true;
    this.releaseBytes(bytes);
    return false;
  }

  releaseBytes(bytes: number): void {
    Atomics.sub(this.#cells, this.#row + KEPT_BYTES, bytes);
  }

  /** The bytes of the bodies that this worker keeps. */
  get keptBytes(): number {
    return Atomics.load(this.#cells, this.#row + KEPT_BYTES);
  }

  /** False once some requests were not compared. The rate limits of the candidate then lack them. */
  get hasAllRequests(): boolean {
    return this.#cells[LACKS_REQUESTS] === 0;
  }

  markMissingRequests(): void {
    Atomics.store(this.#cells, LACKS_REQUESTS, 1);
  }

  /** Records which limits of the candidate had counted requests that no worker has compared. Until then, each one may have. */
  recordHistory(hadRequests: readonly boolean[], now: number): void {
    for (const [index, had] of hadRequests.entries()) this.#history[index] = had ? now : Number.NEGATIVE_INFINITY;
    Atomics.store(this.#cells, HAS_HISTORY, 1);
  }

  /** Returns true if a rate limit may have counted requests after this time that no worker has compared. */
  mayHaveEarlier(limit: number, time: number): boolean {
    return Atomics.load(this.#cells, HAS_HISTORY) === 0 || (this.#history[limit] as number) >= time;
  }

  /** Gives back what a worker held which has ended. Returns the number of requests that it had observed, modulo 2^32. */
  forget(index: number): number {
    const row = rowOf(index);
    const observed = Atomics.exchange(this.#cells, row + OBSERVED, 0);
    Atomics.store(this.#cells, row + KEPT_BYTES, 0);
    return observed >>> 0;
  }

  #allKeptBytes(): number {
    let sum = 0;
    for (let index = 0; index < this.#worker.count; index += 1)
      sum += Atomics.load(this.#cells, rowOf(index) + KEPT_BYTES);
    return sum;
  }
}

function rowOf(index: number): number {
  return (1 + index) * ROW_CELLS;
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
