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

/** A change of an endpoint, for the log. */
export type EndpointEvent =
  | 'healthy'
  | 'unhealthy'
  | `breaker_${BreakerState}`
  | `unresolved (${DnsErrorCode})`
  | 'resolved';

export interface EndpointStatus {
  readonly url: string;
  /** The result of the health check; `null` without one. */
  readonly healthy: boolean | null;
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

/** One address of an upstream, with its connections, health and circuit breaker. */
export class LiveEndpoint {
  /** The origin for logs and the admin API, without secrets. */
  readonly url: string;
  /** The `Host` of a request that the client sent without one. */
  readonly host: string;
  readonly pool: ConnectionPool;
  readonly breaker: CircuitBreaker | undefined;
  readonly responseTime = new AverageResponseTime();
  /** Exchanges whose client left while the gateway waited for the response. */
  abandoned = 0;
  readonly #hostName: string;
  readonly #resolver: NameResolver;
  readonly #publish: (event: EndpointEvent) => void;
  readonly #probe: HealthProbe | undefined;
  readonly #healthCheck: HealthCheck | undefined;
  #unsubscribe = () => {};
  #releaseName = () => {};
  #isHealthy = true;

  constructor(
    endpoint: Endpoint,
    upstream: Upstream,
    resolver: NameResolver,
    budget: ConnectionBudget,
    publish: (endpoint: LiveEndpoint, event: EndpointEvent) => void,
  ) {
    const { breaker, health } = upstream;
    this.url = endpoint.label;
    this.host = endpoint.url.host;
    this.pool = new ConnectionPool(createDial(endpoint, upstream, resolver), upstream, budget);
    this.#hostName = hostOf(endpoint.url);
    this.#resolver = resolver;
    this.#publish = (event) => publish(this, event);
    this.breaker = breaker && new CircuitBreaker(breaker, (state) => this.#publish(`breaker_${state}`));
    if (health === undefined) return;
    const probe = new HealthProbe(endpoint, upstream, resolver);
    this.#probe = probe;
    this.#healthCheck = new HealthCheck(
      health,
      () => probe.send(health.path, health.timeoutMs),
      (isHealthy) => {
        this.#isHealthy = isHealthy;
        this.#publish(isHealthy ? 'healthy' : 'unhealthy');
      },
    );
  }

  /** Starts to resolve the host name and to check the health. */
  start(): void {
    this.#releaseName = this.#resolver.retain(this.#hostName);
    this.#unsubscribe = this.#resolver.subscribe((name, reason) => {
      if (name === this.#hostName) this.#publish(reason === undefined ? 'resolved' : `unresolved (${reason})`);
    });
    this.#healthCheck?.start();
  }

  /** False while the health check fails. */
  get isHealthy(): boolean {
    return this.#isHealthy;
  }

  /** True if a request of this client may be sent now, given a free connection. */
  isAvailableTo(client: string): boolean {
    return this.#isHealthy && (this.breaker === undefined || this.breaker.isAllowed(client));
  }

  /** True if any request may be sent now, given a free connection. */
  get isAvailable(): boolean {
    return this.#isHealthy && (this.breaker === undefined || this.breaker.isAnyAllowed);
  }

  get status(): EndpointStatus {
    return {
      url: this.url,
      healthy: this.#healthCheck === undefined ? null : this.#isHealthy,
      breaker: this.breaker?.state ?? null,
      breakerOpenings: this.breaker?.openings ?? 0,
      abandoned: this.abandoned,
      connections: this.pool.size,
      busy: this.pool.busy,
      resolution: this.#resolver.statusOf(this.#hostName),
    };
  }

  /** Closes all connections, including those that carry an exchange. */
  close(): void {
    this.#unsubscribe();
    this.#healthCheck?.stop();
    this.#probe?.close();
    this.pool.close();
    this.#releaseName();
  }
}
