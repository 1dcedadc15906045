import { type BreakerState, CircuitBreaker } from '../../circuit-breaker/circuit-breaker.ts';
import type { DnsErrorCode } from '../../dns/dns-error.ts';
import type { NameResolver } from '../../dns/name-resolver.ts';
import type { ResolutionStatus } from '../../dns/resolution-status.ts';
import type { ConnectionBudget } from '../../http1/connection-budget.ts';
import { ConnectionPool } from '../../http1/connection-pool.ts';
import { createDial, hostOf } from '../../http1/dial.ts';
import type { Endpoint, Upstream } from '../../plan/settings/upstream-definition.ts';
import { AverageResponseTime } from './average-response-time.ts';
import { HealthCheck } from './health-check.ts';
import { HealthProbe } from './health-probe.ts';

/** What changed with a target, for the log. */
export type EndpointEvent =
  | 'healthy'
  | 'unhealthy'
  | `breaker_${BreakerState}`
  | `unresolved (${DnsErrorCode})`
  | 'resolved';

export interface EndpointStatus {
  readonly url: string;
  /** What the health check holds; `null` when there is none. */
  readonly healthy: boolean | null;
  /** `null` when there is none. */
  readonly breaker: BreakerState | null;
  /** How often the breaker opened. */
  readonly breakerOpenings: number;
  /** Exchanges whose client left while the gateway waited for the response. */
  readonly abandoned: number;
  /** Connections, those that are being opened too. */
  readonly connections: number;
  /** Connections in use. */
  readonly busy: number;
  /** The host name's addresses; `null` for an IP address, which needs no look-up. */
  readonly resolution: ResolutionStatus | null;
}

/** A target while it is used: its connections, and what is known of how it does. */
export class LiveEndpoint {
  /** Its origin as it may be printed. */
  readonly url: string;
  /** As a request names it that came without. */
  readonly host: string;
  readonly pool: ConnectionPool;
  readonly breaker: CircuitBreaker | undefined;
  readonly responseTime = new AverageResponseTime();
  /** Exchanges whose client left while the gateway waited for the response. */
  abandoned = 0;
  readonly #health: HealthCheck | undefined;
  readonly #prober: HealthProbe | undefined;
  readonly #resolution: () => ResolutionStatus | null;
  readonly #stopHearing: () => void;
  readonly #releaseName: () => void;
  #isWell = true;

  constructor(
    target: Endpoint,
    upstream: Upstream,
    resolver: NameResolver,
    budget: ConnectionBudget,
    tell: (target: LiveEndpoint, news: EndpointEvent) => void,
  ) {
    this.url = target.label;
    this.host = target.url.host;
    this.pool = new ConnectionPool(createDial(target, upstream, resolver), upstream, budget);
    const hostName = hostOf(target.url);
    this.#resolution = () => resolver.statusOf(hostName);
    this.#releaseName = resolver.retain(hostName);
    this.#stopHearing = resolver.subscribe((name, reason) => {
      if (name === hostName) tell(this, reason === undefined ? 'resolved' : `unresolved (${reason})`);
    });
    const { breaker, health } = upstream;
    this.breaker = breaker && new CircuitBreaker(breaker, (state) => tell(this, `breaker_${state}`));
    if (health === undefined) return;
    const prober = new HealthProbe(target, upstream, resolver);
    this.#prober = prober;
    this.#health = new HealthCheck(
      health,
      () => prober.send(health.path, health.timeoutMs),
      (isWell) => {
        this.#isWell = isWell;
        tell(this, isWell ? 'healthy' : 'unhealthy');
      },
    );
  }

  /** False while the health check fails. */
  get isHealthy(): boolean {
    return this.#isWell;
  }

  /** True if a request of this client may be sent now, given a free connection. */
  isAvailableTo(client: string): boolean {
    return this.#isWell && (this.breaker === undefined || this.breaker.isAllowed(client));
  }

  /** True if any request may be sent now, given a free connection. */
  get isAvailable(): boolean {
    return this.#isWell && (this.breaker === undefined || this.breaker.isAnyAllowed);
  }

  get status(): EndpointStatus {
    return {
      url: this.url,
      healthy: this.#health === undefined ? null : this.#isWell,
      breaker: this.breaker?.state ?? null,
      breakerOpenings: this.breaker?.openings ?? 0,
      abandoned: this.abandoned,
      connections: this.pool.size,
      busy: this.pool.busy,
      resolution: this.#resolution(),
    };
  }

  /** Closes all connections, with what they carry. */
  close(): void {
    this.#stopHearing();
    this.#health?.stop();
    this.#prober?.close();
    this.pool.close();
    this.#releaseName();
  }
}
