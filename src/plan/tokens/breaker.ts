const FAILURES = 5;
const COOLDOWN_MS = 2_000;

/** Keeps questions from one that gives no answers: after five failures in a row it is asked once in two seconds. */
export class Breaker {
  #failures = 0;
  #mayAskAt = Number.NEGATIVE_INFINITY;

  /** Whether it may be asked now. Who is told so asks, and says how it went. */
  mayAsk(): boolean {
    if (!this.isOpen) return true;
    const now = performance.now();
    if (now < this.#mayAskAt) return false;
    this.#mayAskAt = now + COOLDOWN_MS;
    return true;
  }

  get isOpen(): boolean {
    return this.#failures >= FAILURES;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#failures === FAILURES) this.#mayAskAt = performance.now() + COOLDOWN_MS;
  }
}
