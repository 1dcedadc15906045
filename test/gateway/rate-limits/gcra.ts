/**
 * The generic cell rate algorithm in exact fractions of a millisecond, from its definition. The tests compare the counters of the
 * gateway with it.
 */
export class ExactGcra {
  readonly #requests: bigint;
  readonly #interval: bigint;
  readonly #burst: bigint;
  #arrival = 0n;

  constructor(requests: number, periodMs: number, burst = requests) {
    // The unit is 1/requests ms, in which the interval is a whole number.
    this.#requests = BigInt(requests);
    this.#interval = BigInt(periodMs);
    this.#burst = BigInt(burst);
  }

  /** Counts a request. Returns the time to wait in milliseconds, and the number of requests that are still allowed. */
  count(nowMs: number): { readonly waitMs: number; readonly remaining: number; readonly resetMs: number } {
    const now = BigInt(nowMs) * this.#requests;
    const start = this.#arrival > now ? this.#arrival : now;
    const ahead = start + this.#interval - now;
    const wait = ahead - this.#burst * this.#interval;
    const toMs = (units: bigint) => Number(units) / Number(this.#requests);
    if (wait > 0n) return { waitMs: toMs(wait), remaining: 0, resetMs: toMs(ahead - this.#interval) };
    this.#arrival = now + ahead;
    return { waitMs: 0, remaining: Number(-wait / this.#interval), resetMs: toMs(ahead) };
  }
}
