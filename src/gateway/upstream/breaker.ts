import type { BreakerRule } from '../../plan/plan.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

/**
 * A circuit breaker: `failures` in a row open it, and after `pauseMs` one trial decides whether it closes or
 * stays open for another pause. Asked before each request, so it answers at once: nobody waits for a trial.
 */
export class Breaker {
  readonly #rule: BreakerRule;
  readonly #now: () => number;
  readonly #tell: (state: BreakerState) => void;
  #failures = 0;
  #openUntil = 0;
  #isTrying = false;
  /** How often it opened. */
  openings = 0;

  /**
   * @param tell hears of every change between closed and open
   * @param now milliseconds of a clock that never goes back
   */
  constructor(rule: BreakerRule, tell: (state: BreakerState) => void, now: () => number = () => performance.now()) {
    this.#rule = rule;
    this.#tell = tell;
    this.#now = now;
  }

  get state(): BreakerState {
    if (this.#failures < this.#rule.failures) return 'closed';
    return this.#isTrying || this.#now() >= this.#openUntil ? 'half-open' : 'open';
  }

  /** Whether a request may go through: any while closed, and one as the trial while half open. */
  get admits(): boolean {
    return this.#failures < this.#rule.failures || (!this.#isTrying && this.#now() >= this.#openUntil);
  }

  /** A request that was admitted goes through now; true when it is the trial. What it came to is told with that. */
  begin(): boolean {
    this.#isTrying = this.#failures >= this.#rule.failures;
    return this.#isTrying;
  }

  succeeded(): void {
    const wasOpen = this.#failures >= this.#rule.failures;
    this.#failures = 0;
    this.#isTrying = false;
    if (wasOpen) this.#tell('closed');
  }

  failed(isTrial: boolean): void {
    if (isTrial) this.#isTrying = false;
    this.#failures += 1;
    if (this.#failures < this.#rule.failures) return;
    // What began before it opened and fails late does not make the pause longer.
    if (!isTrial && this.#failures > this.#rule.failures) return;
    this.#openUntil = this.#now() + this.#rule.pauseMs;
    this.openings += 1;
    this.#tell('open');
  }

  /** It ended, and nothing was learnt of the target: the client left, say. */
  released(isTrial: boolean): void {
    if (isTrial) this.#isTrying = false;
  }
}
