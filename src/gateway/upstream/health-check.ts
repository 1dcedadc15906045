import type { HealthCheckSettings } from '../../plan/settings/upstream-definition.ts';

/** Asks a target at an interval whether it is well, and says so when enough answers in a row agree. */
export class HealthCheck {
  readonly #rule: HealthCheckSettings;
  readonly #ask: () => Promise<number>;
  readonly #tell: (isWell: boolean) => void;
  #isWell = true;
  /** Answers in a row that speak against what is held. */
  #against = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /**
   * @param ask gets the status of the target's answer; rejects when there is none
   * @param tell hears of every change; a target is taken for well at first
   */
  constructor(rule: HealthCheckSettings, ask: () => Promise<number>, tell: (isWell: boolean) => void) {
    this.#rule = rule;
    this.#ask = ask;
    this.#tell = tell;
    void this.#check();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #check(): Promise<void> {
    const status = await this.#ask().catch(() => 0);
    if (this.#isStopped) return;
    this.#learn(status >= 200 && status < 300);
    this.#timer = setTimeout(() => void this.#check(), this.#rule.intervalMs).unref();
  }

  #learn(isGood: boolean): void {
    if (isGood === this.#isWell) {
      this.#against = 0;
      return;
    }
    this.#against += 1;
    if (this.#against < (isGood ? this.#rule.healthyThreshold : this.#rule.unhealthyThreshold)) return;
    this.#against = 0;
    this.#isWell = isGood;
    this.#tell(isGood);
  }
}
