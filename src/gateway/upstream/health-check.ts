import type { HealthCheckSettings } from '../../plan/settings/upstream-definition.ts';
import { failureSourceOf } from './failure-sources.ts';
import type { HealthState } from './health-state.ts';
import { toRefusal } from './upstream-error.ts';

/** Probes an endpoint at an interval. The state changes after enough consecutive results agree. */
export class HealthCheck {
  readonly #settings: HealthCheckSettings;
  readonly #probe: () => Promise<string | undefined>;
  readonly #onChange: () => void;
  #state: HealthState = 'unknown';
  #reason: string | undefined;
  /** Consecutive results that contradict the state. */
  #contradictions = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param probe returns the reason if the endpoint is not healthy; rejects without a response */
  constructor(settings: HealthCheckSettings, probe: () => Promise<string | undefined>, onChange: () => void) {
    this.#settings = settings;
    this.#probe = probe;
    this.#onChange = onChange;
  }

  /** Unknown until the first success, or until enough failures. */
  get state(): HealthState {
    return this.#state;
  }

  /** The reason of the latest failure; `undefined` unless the state is unhealthy. */
  get reason(): string | undefined {
    return this.#state === 'unhealthy' ? this.#reason : undefined;
  }

  start(): void {
    void this.#check();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #check(): Promise<void> {
    const result = await this.#probe().then(
      (reason) => ({ reason }),
      (error: Error & { code?: string }) =>
        failureSourceOf(error.code ?? '') === 'gateway' ? undefined : { reason: toRefusal(error).reason },
    );
    if (this.#isStopped) return;
    // A gateway without file descriptors learns nothing about the endpoint.
    if (result !== undefined) this.#record(result.reason);
    this.#timer = setTimeout(() => void this.#check(), this.#settings.intervalMs).unref();
  }

  #record(reason: string | undefined): void {
    const result = reason === undefined ? 'healthy' : 'unhealthy';
    this.#reason = reason;
    if (result === this.#state) {
      this.#contradictions = 0;
      return;
    }
    this.#contradictions += 1;
    if (this.#contradictions < this.#threshold(result)) return;
    this.#contradictions = 0;
    this.#state = result;
    this.#onChange();
  }

  #threshold(result: HealthState): number {
    const { healthyThreshold, unhealthyThreshold } = this.#settings;
    if (result === 'unhealthy') return unhealthyThreshold;
    // A first success contradicts no earlier result.
    return this.#state === 'unknown' ? 1 : healthyThreshold;
  }
}
