import type { NameResolver } from '../../dns/name-resolver.ts';
import type { DnsErrorCode } from '../../dns/resolution-status.ts';
import { ConnectionLimit, type WaitingRequests } from '../../http1/connection-limit.ts';
import { type ConnectionBudget, ConnectionPool } from '../../http1/connection-pool.ts';
import { createDial, hostHeaderOf, hostOf } from '../../http1/dial.ts';
import type { Log } from '../../log/log.ts';
import type { Endpoint, Upstream } from '../../settings/upstream-definition.ts';
import { WorkerCounter } from '../../shared-memory/buffer-parts.ts';
import { SharedText } from '../../shared-memory/shared-text.ts';
import type { WorkerContext } from '../../shared-memory/worker-context.ts';
import { type BreakerState, CircuitBreaker } from '../circuit-breaker/circuit-breaker.ts';
import { HealthCheck, type HealthState } from './health-check.ts';
import { ObservedHealth } from './observed-health.ts';
import type { EndpointMemory } from './upstream-memory.ts';

/** A change of an endpoint, for the log. */
export type EndpointEvent = HealthState | `breaker_${BreakerState}` | `unresolved (${DnsErrorCode})` | 'resolved';

/** The parts of a gateway that all of its upstreams use. */
export interface UpstreamContext {
  readonly log: Log;
  readonly resolver: NameResolver;
  readonly budget: ConnectionBudget;
  readonly worker: WorkerContext;
}

/** The upstream of an endpoint. */
export interface EndpointOwner {
  readonly upstream: Upstream;
  readonly context: UpstreamContext;
  readonly waiting: WaitingRequests;
  /** Receives the changes that this worker notices first. */
  onEvent(endpoint: string, event: EndpointEvent, reason?: string): void;
  /** Called when the other workers must look at the memory, because there is room for their requests. */
  notifyWorkers(): void;
}

/** One address of an upstream, with its connections, health and circuit breaker. Other workers share its state. */
export class LiveEndpoint {
  /** The origin for logs and the admin API, without secrets. */
  readonly url: string;
  /** The `Host` of a request that does not have that of the client. */
  readonly host: string;
  readonly pool: ConnectionPool;
  /** The connections of all workers. */
  readonly connections: ConnectionLimit;
  readonly breaker: CircuitBreaker | undefined;
  readonly check: HealthCheck | undefined;
  /** The health by requests. It only reports: a client that provokes failures must not take an endpoint out of service. */
  readonly observed: ObservedHealth;
  /** Exchanges whose client left while the gateway waited for the response. */
  readonly abandoned: WorkerCounter;
  readonly #owner: EndpointOwner;
  readonly #hostName: string;
  /** 1 after the log reported it unhealthy. */
  readonly #isReported: Int32Array;
  /** The latest event of the resolution of its name. */
  readonly #resolution: SharedText;
  #unsubscribe = () => {};
  #releaseName = () => {};

  constructor(endpoint: Endpoint, memory: EndpointMemory, owner: EndpointOwner) {
    const { upstream, context, waiting } = owner;
    const { resolver, budget, worker } = context;
    const { breaker, health } = upstream;
    const dial = createDial(endpoint, upstream, resolver);
    const limit = new ConnectionLimit(upstream.connectionLimit, waiting, memory.connections, worker);
    this.url = endpoint.label;
    this.host = ['client', 'upstream'].includes(upstream.host) ? hostHeaderOf(endpoint.url) : upstream.host;
    this.connections = limit;
    this.pool = new ConnectionPool(dial, upstream, { limit, budget, onRoom: () => owner.notifyWorkers() });
    this.abandoned = new WorkerCounter(memory.abandoned, worker);
    this.#owner = owner;
    this.#hostName = hostOf(endpoint.url);
    this.#isReported = memory.isReported;
    this.#resolution = new SharedText(memory.resolution);
    this.observed = new ObservedHealth({ onChange: () => this.#reportHealth(), memory: memory.observed, worker });
    if (breaker !== undefined && memory.breaker !== undefined) {
      const publish = (state: BreakerState) => owner.onEvent(this.url, `breaker_${state}`);
      this.breaker = new CircuitBreaker(breaker, { publish, memory: memory.breaker, worker: worker.index });
    }
    if (health !== undefined) {
      const { responseHeadLimitBytes } = upstream;
      const server = { host: hostHeaderOf(endpoint.url), dial, responseHeadLimitBytes };
      this.check = new HealthCheck(health, server, () => this.#onCheckChange(), memory.check);
    }
  }

  /** Starts to resolve the host name and, in worker 0, to check the health. */
  start(): void {
    const { resolver, worker } = this.#owner.context;
    this.#releaseName = resolver.retain(this.#hostName);
    this.#unsubscribe = resolver.subscribe((name, reason) => {
      if (name === this.#hostName) this.#reportResolution(reason === undefined ? 'resolved' : `unresolved (${reason})`);
    });
    if (worker.index === 0) this.check?.start();
  }

  /** The connections of all workers that carry an exchange. */
  get busy(): number {
    return this.pool.busy + this.connections.busyElsewhere;
  }

  get status() {
    /** `null` without a breaker. */
    const breaker = this.breaker?.state ?? null;
    return {
      url: this.url,
      /** Unhealthy if one of the circuit breaker, the health check and the requests of the last minute shows it. */
      health: breaker === 'open' ? ('unhealthy' as const) : this.#measuredHealth,
      /** Of the latest failure, as in the access log; `null` unless the health check or requests show it unhealthy. */
      reason: this.#reason ?? null,
      /** `null` without a health check. */
      check: this.check?.state ?? null,
      breaker,
      breakerOpenings: this.breaker?.openings ?? 0,
      abandoned: this.abandoned.total,
      /** Those that are opening included. */
      connections: this.connections.open,
      busy: this.busy,
      /** `null` for an IP address, which needs no lookup. */
      resolution: this.#owner.context.resolver.statusOf(this.#hostName),
    };
  }

  /** Closes all connections, including those that carry an exchange. */
  close(): void {
    this.#unsubscribe();
    this.check?.stop();
    this.observed.close();
    this.pool.close();
    this.#releaseName();
  }

  /** Gives back everything that a worker held which ended. */
  forgetWorker(worker: number): void {
    this.connections.forget(worker);
    this.breaker?.forgetWorker(worker);
    this.observed.forgetWorker();
  }

  get #measuredHealth(): HealthState {
    const states = [this.check?.state, this.observed.state];
    return (['unhealthy', 'healthy'] as const).find((state) => states.includes(state)) ?? 'unknown';
  }

  get #reason(): string | undefined {
    return this.check?.reason ?? this.observed.reason;
  }

  #onCheckChange(): void {
    // The failed requests were before the check succeeded.
    if (this.check?.state === 'healthy') this.observed.reset();
    this.#reportHealth();
  }

  /** Publishes each change to and from unhealthy. The first success of an endpoint is no news. */
  #reportHealth(): void {
    const health = this.#measuredHealth;
    const isUnhealthy = health === 'unhealthy' ? 1 : 0;
    // Several workers may notice the change.
    if (Atomics.exchange(this.#isReported, 0, isUnhealthy) !== isUnhealthy)
      this.#owner.onEvent(this.url, health, this.#reason);
  }

  /** Each worker resolves the name. The first one that notices a change publishes it. */
  #reportResolution(event: EndpointEvent): void {
    if (this.#resolution.set(event)) this.#owner.onEvent(this.url, event);
  }
}
