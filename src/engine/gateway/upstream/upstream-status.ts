import type { ResolutionStatus } from '../../dns/resolution-status.ts';
import type { BreakerState } from '../circuit-breaker/circuit-breaker.ts';

/** `unknown`: no check and no request has shown yet, or recently, if requests to the endpoint succeed. */
export const HEALTH_STATES = ['unknown', 'healthy', 'unhealthy'] as const;

export type HealthState = (typeof HEALTH_STATES)[number];

export interface EndpointStatus {
  readonly url: string;
  /** By the health check, the circuit breaker and the requests of the last minute. */
  readonly health: HealthState;
  /** The reason of the latest failure, as in the access log; `null` unless the health check or requests show it unhealthy. */
  readonly reason: string | null;
  /** The result of the health check; `null` without one. */
  readonly check: HealthState | null;
  /** `null` without a breaker. */
  readonly breaker: BreakerState | null;
  /** How often the breaker opened. */
  readonly breakerOpenings: number;
  /** Exchanges whose client left while the gateway waited for the response. */
  readonly abandoned: number;
  /** Connections, including those that are opening. */
  readonly connections: number;
  /** Connections that carry an exchange. */
  readonly busy: number;
  /** The host name's addresses; `null` for an IP address, which needs no lookup. */
  readonly resolution: ResolutionStatus | null;
}

export interface UpstreamStatus {
  readonly id: string;
  /** The best health of its endpoints. */
  readonly health: HealthState;
  /** True if at least one endpoint may receive requests. */
  readonly available: boolean;
  /** True while the default breakers of all healthy endpoints are open. Requests then go to all of these endpoints. */
  readonly panic: boolean;
  readonly endpoints: readonly EndpointStatus[];
  /** Requests that wait for a connection. */
  readonly waiting: number;
  /** Requests that were sent once more. */
  readonly retries: number;
}
