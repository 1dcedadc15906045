/** A time limit that restarts often. It reuses one timer, because a new timer for each request costs throughput. */
export class RestartableTimeout {
  readonly ms: number;
  readonly #onExpired: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;

  /** @param ms 0 for no limit */
  constructor(ms: number, onExpired: () => void) {
    this.ms = ms;
    this.#onExpired = onExpired;
  }

  /** Starts the time limit, or restarts it. */
  start(): void {
    if (this.ms === 0) return;
    this.#isRunning = true;
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#expire(), this.ms).unref();
    else this.#timer.refresh();
  }

  stop(): void {
    this.#isRunning = false;
  }

  /** Stops the time limit permanently. */
  close(): void {
    clearTimeout(this.#timer);
    this.#isRunning = false;
  }

  #expire(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#onExpired();
  }
}

/** Idle timeout when the upstream sends no `Keep-Alive` header. */
const DEFAULT_IDLE_MS = 4_000;
const MAX_IDLE_MS = 600_000;
/** An idle connection expires this long before the upstream closes it, because a request takes time to arrive. */
const MARGIN_MS = 2_000;
const TIMEOUT = /(?:^|[,\t ])timeout=(\d{1,9})/i;

/** The time for which an idle connection may be reused. */
export class KeepAliveTimeout {
  #header: string | undefined;
  #ms = DEFAULT_IDLE_MS;
  #startedAt = 0;

  /** Starts the idle time. @param header the upstream's `Keep-Alive` (RFC 2068 section 19.7.1.1) */
  start(header: string | undefined): void {
    this.#startedAt = performance.now();
    if (header === this.#header) return;
    this.#header = header;
    const seconds = TIMEOUT.exec(header ?? '')?.[1];
    this.#ms = seconds === undefined ? DEFAULT_IDLE_MS : Math.min(Number(seconds) * 1000 - MARGIN_MS, MAX_IDLE_MS);
  }

  get isExpired(): boolean {
    return performance.now() - this.#startedAt > this.#ms;
  }
}
