import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { limitBuffer } from '../../src/engine/rate-limits/limit-buffer.ts';
import { LocalCounters } from '../../src/engine/rate-limits/local-counters.ts';
import type { RateLimit } from '../../src/engine/rate-limits/rate-limit.ts';
import { SharedMemory } from '../../src/engine/shared-memory/worker-context.ts';
import { ALLOWED, type CountingThreadData, GATE, THREADS } from './counting-steps.ts';

export type CountingOptions = Pick<CountingThreadData, 'values' | 'steps' | 'msPerTicket' | 'inventsValues'>;

/** Threads that count by one limit in the same memory. */
export class CountingThreads {
  readonly cells: Int32Array;
  readonly memory = new SharedMemory();
  readonly limit: RateLimit;
  readonly #options: CountingOptions;
  #seed: number;

  constructor(limit: RateLimit, options: CountingOptions, seed: number) {
    this.limit = limit;
    this.#options = options;
    this.#seed = seed;
    this.cells = new Int32Array(new SharedArrayBuffer(4 * (ALLOWED + options.values.length)));
    const { name, bytes, maxBytes } = limitBuffer(limit);
    this.memory.buffer(name, bytes, maxBytes);
  }

  /** Starts a thread, which waits until `open`. Resolves once it is ready. */
  async start(index: number): Promise<Worker> {
    this.#seed += 1;
    const { id, key, burst, intervalMs, failures } = this.limit;
    const workerData: CountingThreadData = {
      ...this.#options,
      index,
      buffers: this.memory.buffers,
      cells: this.cells,
      limit: { id, key, burst, intervalMs, failures },
      seed: Math.imul(this.#seed, 2_654_435_761) >>> 0,
    };
    const worker = new Worker(new URL('counting-thread.ts', import.meta.url), { workerData, execArgv: [], env: {} });
    await once(worker, 'message');
    return worker;
  }

  /** Lets all threads count. */
  open(): void {
    Atomics.store(this.cells, GATE, 1);
    Atomics.notify(this.cells, GATE);
  }

  /** Counters of the main thread in the same memory. */
  counters(index: number, now: () => number): LocalCounters {
    const counters = new LocalCounters(now, { index, count: THREADS, memory: this.memory });
    counters.activate([this.limit]);
    return counters;
  }

  /** The requests of each value that the threads were allowed. */
  get allowed(): number[] {
    return [...this.cells.subarray(ALLOWED)];
  }
}
