import type { HealthCheckSettings } from '../../plan/settings/upstream-definition.ts';

/** Probes an endpoint at an interval. Publishes a change after enough consecutive results agree. */
export class HealthCheck {
  readonly #settings: HealthCheckSettings;
  readonly #probe: () => Promise<number>;
  readonly #publish: (isHealthy: boolean) => void;
  #isHealthy = true;
  /** Consecutive results that contradict the published state. */
  #contradictions = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /**
   * @param probe returns the status of the endpoint's response; rejects if there is none
   * @param publish receives each change; an endpoint is healthy at first
   */
  constructor(settings: HealthCheckSettings, probe: () => Promise<number>, publish: (isHealthy: boolean) => void) {
    this.#settings = settings;
    this.#probe = probe;
    this.#publish = publish;
  }

  start(): void {
    void this.#check();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #check(): Promise<void> {
    const status = await this.#probe().catch(() => 0);
    if (this.#isStopped) return;
    this.#record(status >= 200 && status < 300);
    this.#timer = setTimeout(() => void this.#check(), this.#settings.intervalMs).unref();
  }

  #record(isHealthy: boolean): void {
    if (isHealthy === this.#isHealthy) {
      this.#contradictions = 0;
      return;
    }
    const { healthyThreshold, unhealthyThreshold } = this.#settings;
    this.#contradictions += 1;
    if (this.#contradictions < (isHealthy ? healthyThreshold : unhealthyThreshold)) return;
    this.#contradictions = 0;
    this.#isHealthy = isHealthy;
    this.#publish(isHealthy);
  }
}
