const FREE = 0;
const HELD = 1;
/** Held, and other threads wait for it. Each thread that takes the lock from a terminated one adds 1. */
const CONTENDED = 2;

/** Attempts before a thread sleeps. Most locks are held for less than a microsecond. */
const SPINS = 100;
/** A thread that waits longer takes the lock: no thread holds one for longer than a few milliseconds, so its holder was terminated. */
const MAX_WAIT_MS = 1_000;

/** A lock between the threads of a process, in one cell of shared memory that is zero at first. */
export class SharedLock {
  readonly #cells: Int32Array;
  readonly #index: number;

  constructor(cells: Int32Array, index = 0) {
    this.#cells = cells;
    this.#index = index;
  }

  /** Runs a short function that does not wait and does not take the same lock. */
  run<T>(action: () => T): T {
    this.acquire();
    try {
      return action();
    } finally {
      this.release();
    }
  }

  /** For the hot path, which creates no function. Call `release` in `finally`. */
  acquire(): void {
    if (Atomics.compareExchange(this.#cells, this.#index, FREE, HELD) !== FREE) this.#wait();
  }

  release(): void {
    const cells = this.#cells;
    const index = this.#index;
    if (Atomics.exchange(cells, index, FREE) >= CONTENDED) Atomics.notify(cells, index, 1);
  }

  #wait(): void {
    const cells = this.#cells;
    const index = this.#index;
    for (let spin = 0; spin < SPINS; spin += 1) if (Atomics.compareExchange(cells, index, FREE, HELD) === FREE) return;
    for (;;) {
      const state = Atomics.load(cells, index);
      // Other threads may wait too, so the lock stays contended.
      if (state === FREE && Atomics.compareExchange(cells, index, FREE, CONTENDED) === FREE) return;
      if (state === HELD) Atomics.compareExchange(cells, index, HELD, CONTENDED);
      if (state < CONTENDED || Atomics.wait(cells, index, state, MAX_WAIT_MS) !== 'timed-out') continue;
      // Of all threads that wait for the terminated one, the first takes the lock.
      if (Atomics.compareExchange(cells, index, state, state + 1) === state) return;
    }
  }
}
