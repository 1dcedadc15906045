/** The pause after the first failure; it doubles with each further one. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;

/** One address of a name. Its connections refer to it, to detect that it was removed. */
export class HostAddress {
  readonly ip: string;
  readonly family: 4 | 6;
  /** True if the name no longer has this address. */
  isRemoved = false;
  #failures = 0;
  #avoidedUntil = 0;

  constructor(ip: string) {
    this.ip = ip;
    this.family = ip.includes(':') ? 6 : 4;
  }

  /** True during the pause after a failed connection: other addresses come first. */
  get isAvoided(): boolean {
    return this.#failures > 0 && performance.now() < this.#avoidedUntil;
  }

  recordSuccess(): void {
    this.#failures = 0;
  }

  recordFailure(): void {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
    this.#failures += 1;
    this.#avoidedUntil = performance.now() + pauseMs;
  }
}
