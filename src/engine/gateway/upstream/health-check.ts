import { standstills } from '../../http1/event-loop.ts';
import type { HealthCheckSettings } from '../../settings/upstream-definition.ts';
import { type BufferParts, privateParts } from '../../shared-memory/buffer-parts.ts';
import { SharedText, textMemory } from '../../shared-memory/shared-text.ts';
import type { HealthProbe } from './health-probe.ts';
import { failureSourceOf, toRefusal } from './upstream-error.ts';
import { HEALTH_STATES, type HealthState } from './upstream-status.ts';

export function healthCheckMemory(parts: BufferParts) {
  // The index of the state, and the reason of the latest failure.
  return { state: parts.int32(1), reason: textMemory(parts) };
}

/** The result of a check, which one worker writes and all workers read. */
type HealthCheckMemory = ReturnType<typeof healthCheckMemory>;

type Probe = Pick<HealthProbe, 'send' | 'close'>;

/**
 * Probes an endpoint at an interval. The state changes after enough consecutive results agree. Only one worker starts the check;
 * the others read its state.
 */
export class HealthCheck {
  readonly #settings: HealthCheckSettings;
  readonly #probe: Probe;
  readonly #onChange: () => void;
  readonly #state: Int32Array;
  readonly #reason: SharedText;
  /** Consecutive results that contradict the state. */
  #contradictions = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(
    settings: HealthCheckSettings,
    probe: Probe,
    onChange: () => void,
    { state, reason }: HealthCheckMemory = privateParts(healthCheckMemory),
  ) {
    this.#settings = settings;
    this.#probe = probe;
    this.#onChange = onChange;
    this.#state = state;
    this.#reason = new SharedText(reason);
  }

  /** Unknown until the first success, or until enough failures. */
  get state(): HealthState {
    return HEALTH_STATES[this.#state[0] as number] as HealthState;
  }

  /** The reason of the latest failure; `undefined` unless the state is unhealthy. */
  get reason(): string | undefined {
    return this.state === 'unhealthy' ? this.#reason.value : undefined;
  }

  start(): void {
    void this.#check();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#probe.close();
  }

  async #check(): Promise<void> {
    const { count } = standstills;
    const result = await this.#probe.send().then(
      (reason) => ({ reason }),
      (error: Error & { code?: string }) =>
        failureSourceOf(error.code ?? '') === 'gateway' ? undefined : { reason: toRefusal(error).reason },
    );
    if (this.#isStopped) return;
    const isUnknown = result?.reason !== undefined && standstills.hasHappenedSince(count);
    // A gateway without file descriptors, or one that stood still, learns nothing about the endpoint.
    if (result !== undefined && !isUnknown) this.#record(result.reason);
    this.#timer = setTimeout(() => void this.#check(), this.#settings.intervalMs).unref();
  }

  #record(reason: string | undefined): void {
    const result = reason === undefined ? 'healthy' : 'unhealthy';
    if (reason !== undefined) this.#reason.set(reason);
    if (result === this.state) {
      this.#contradictions = 0;
      return;
    }
    this.#contradictions += 1;
    if (this.#contradictions < this.#threshold(result)) return;
    this.#contradictions = 0;
    Atomics.store(this.#state, 0, HEALTH_STATES.indexOf(result));
    this.#onChange();
  }

  #threshold(result: HealthState): number {
    const { healthyThreshold, unhealthyThreshold } = this.#settings;
    if (result === 'unhealthy') return unhealthyThreshold;
    // A first success contradicts no earlier result.
    return this.state === 'unknown' ? 1 : healthyThreshold;
  }
}
