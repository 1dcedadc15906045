const BEAT_MS = 100;
/** A busy machine delays a beat by less. */
const MIN_MS = 250;

/** The clock of the machine, also in tests that replace it. */
const now = performance.now.bind(performance);

/**
 * The standstills of this thread: the machine did not run the process, or something blocked the event loop. Bytes and timeouts that
 * became due meanwhile wait together, so a failure then is no sign of a failing server.
 */
class Standstills {
  /** The number of standstills, but possibly without one that has just ended. */
  count = 0;
  readonly #listeners = new Set<(ms: number) => void>();
  #timer: NodeJS.Timeout | undefined;
  #beatAt = 0;

  /** True if the thread stood still after it had read this `count`. */
  hasHappenedSince(count: number): boolean {
    if (this.#timer !== undefined) this.#check();
    return this.count !== count;
  }

  /** Watches this thread while there is a listener, which receives the length of each standstill. Returns a function that stops it. */
  watch(listener: (ms: number) => void): () => void {
    this.#listeners.add(listener);
    if (this.#timer === undefined) this.#beatAt = now();
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #beat(): void {
    this.#check();
    this.#beatAt = now();
  }

  #check(): void {
    const checkedAt = now();
    const ms = checkedAt - this.#beatAt - BEAT_MS;
    if (ms < MIN_MS) return;
    this.#beatAt = checkedAt;
    this.count += 1;
    for (const listener of this.#listeners) listener(ms);
  }
}

export const standstills = new Standstills();
