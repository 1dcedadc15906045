import { standstills } from './standstills.ts';

/**
 * A time limit on a peer. It restarts often, and reuses one timer, because a new timer for each request costs throughput. It expires
 * only after the process has read all sockets once more, and it runs once again if the process stood still meanwhile: then the peer's
 * bytes may be here, or could not arrive because the process had not done its own part.
 */
export class RestartableTimeout {
  readonly ms: number;
  readonly #onExpired: () => void;
  #timer: NodeJS.Timeout | undefined;
  #state: 'stopped' | 'running' | 'expiring' = 'stopped';
  #standstills = 0;
  #isExtended = false;

  /** @param ms 0 for no limit */
  constructor(ms: number, onExpired: () => void) {
    this.ms = ms;
    this.#onExpired = onExpired;
  }

  /** Starts the time limit, or restarts it. */
  start(): this {
    if (this.ms === 0) return this;
    this.#state = 'running';
    this.#standstills = standstills.count;
    this.#isExtended = false;
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#expire(), this.ms).unref();
    else this.#timer.refresh();
    return this;
  }

  stop(): void {
    this.#state = 'stopped';
  }

  /** Stops the time limit permanently. */
  close(): void {
    clearTimeout(this.#timer);
    this.#state = 'stopped';
  }

  #expire(): void {
    if (this.#state !== 'running') return;
    if (!this.#isExtended && standstills.hasHappenedSince(this.#standstills)) {
      this.#isExtended = true;
      this.#timer?.refresh();
      return;
    }
    this.#state = 'expiring';
    setImmediate(() => {
      if (this.#state !== 'expiring') return;
      this.#state = 'stopped';
      this.#onExpired();
    });
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

  /**
   * Starts the idle time. Returns false if it is over at once.
   *
   * @param header the upstream's `Keep-Alive` (RFC 2068 section 19.7.1.1)
   */
  start(header: string | undefined): boolean {
    this.#startedAt = performance.now();
    if (header !== this.#header) {
      this.#header = header;
      const seconds = TIMEOUT.exec(header ?? '')?.[1];
      this.#ms = seconds === undefined ? DEFAULT_IDLE_MS : Math.min(Number(seconds) * 1000 - MARGIN_MS, MAX_IDLE_MS);
    }
    return this.#ms > 0;
  }

  get isExpired(): boolean {
    return performance.now() - this.#startedAt > this.#ms;
  }
}
