/** The first pause after a failure; it doubles with each further one. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;

/** One address of a name. Connections keep it to learn that it is gone. */
export class HostAddress {
  readonly ip: string;
  readonly family: 4 | 6;
  /** True once the name no longer has this address. */
  isRemoved = false;
  #failures = 0;
  #avoidedUntil = 0;

  constructor(ip: string) {
    this.ip = ip;
    this.family = ip.includes(':') ? 6 : 4;
  }

  /** True shortly after a connection to it failed: other addresses come first. */
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
