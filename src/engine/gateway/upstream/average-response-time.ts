/** A wait up to this long is never slow. */
const MIN_SLOW_MS = 1_000;
const FACTOR = 4;
/** Weight of the latest response in the average. */
const WEIGHT = 0.1;

/** The moving average of the time from a request to the beginning of its response, for one endpoint. */
export class AverageResponseTime {
  #averageMs: number | undefined;

  add(ms: number): void {
    this.#averageMs = this.#averageMs === undefined ? ms : this.#averageMs + (ms - this.#averageMs) * WEIGHT;
  }

  isSlow(ms: number): boolean {
    return ms > Math.max(MIN_SLOW_MS, (this.#averageMs ?? 0) * FACTOR);
  }
}
