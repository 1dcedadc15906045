/** How long a connection is kept that nobody uses, where the other side does not say how long it keeps it. */
const DEFAULT_IDLE_MS = 4_000;
const MAX_IDLE_MS = 600_000;
/** So much before the other side it is closed, since a request may be on its way. */
const MARGIN_MS = 2_000;
const TIMEOUT = /(?:^|[,\t ])timeout=(\d{1,9})/i;

/** For how long after an exchange a connection may carry another one. */
export class KeepAliveTimeout {
  #said: string | undefined;
  #ms = DEFAULT_IDLE_MS;
  #since = 0;

  /** It is free from now on. @param keepAlive the other side's `Keep-Alive`, as it was written (RFC 2068 section 19.7.1.1) */
  start(keepAlive: string | undefined): void {
    this.#since = performance.now();
    if (keepAlive === this.#said) return;
    this.#said = keepAlive;
    const seconds = TIMEOUT.exec(keepAlive ?? '')?.[1];
    this.#ms = seconds === undefined ? DEFAULT_IDLE_MS : Math.min(Number(seconds) * 1000 - MARGIN_MS, MAX_IDLE_MS);
  }

  get isExpired(): boolean {
    return performance.now() - this.#since > this.#ms;
  }
}
