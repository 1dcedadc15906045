/** A request that the queue has counted, with its theoretical arrival time. */
interface QueuedRequest {
  readonly request: string;
  arrival: number;
}

/** The counter of one value with pending requests, in plain objects. Tests compare the counters of several threads with it. */
export class GcraQueue {
  readonly #intervalMs: number;
  readonly #fullMs: number;
  #arrival = 0;
  #pending: QueuedRequest[] = [];

  constructor(intervalMs: number, burst: number) {
    this.#intervalMs = intervalMs;
    this.#fullMs = burst * intervalMs;
  }

  count(
    request: string,
    now: number,
  ): { readonly waitMs: number; readonly remaining: number; readonly resetMs: number } {
    const startMs = Math.max(this.#arrival - now, 0);
    const freeMs = this.#fullMs - startMs - this.#intervalMs;
    if (freeMs < 0) return { waitMs: -freeMs, remaining: 0, resetMs: startMs };
    this.#arrival = now + startMs + this.#intervalMs;
    this.#pending.push({ request, arrival: this.#arrival });
    return { waitMs: 0, remaining: Math.floor(freeMs / this.#intervalMs), resetMs: startMs + this.#intervalMs };
  }

  /** Ends a pending request. A release moves those that came later ahead. */
  end(request: string, now: number, isReleased: boolean): void {
    const index = this.#pending.findIndex((pending) => pending.request === request);
    const [ended] = this.#pending.splice(index, 1);
    if (ended === undefined || !isReleased) return;
    const unusedMs = Math.min(Math.max(ended.arrival - now, 0), this.#intervalMs);
    this.#arrival -= unusedMs;
    for (const later of this.#pending.slice(index)) later.arrival -= unusedMs;
  }
}
