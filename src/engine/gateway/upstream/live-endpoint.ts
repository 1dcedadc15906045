import type { NameResolver } from '../../dns/name-resolver.ts';
import type { DnsErrorCode } from '../../dns/resolution-status.ts';
import { ConnectionLimit, type WaitingRequests } from '../../http1/connection-limit.ts';
import { type ConnectionBudget, ConnectionPool } from '../../http1/connection-pool.ts';
import { createDial, hostHeaderOf, hostOf } from '../../http1/dial.ts';
import type { Endpoint, Upstream } from '../../settings/upstream-definition.ts';
import { SharedText } from '../../shared-memory/shared-text.ts';
import { sharedNow, type WorkerPlace } from '../../shared-memory/worker-context.ts';
import { WorkerCounter } from '../../shared-memory/worker-counter.ts';
import { type BreakerState, CircuitBreaker } from '../circuit-breaker/circuit-breaker.ts';
import { HealthCheck } from './health-check.ts';
import { HealthProbe } from './health-probe.ts';
import { ObservedHealth } from './observed-health.ts';
import type { EndpointMemory } from './upstream-memory.ts';
import type { EndpointStatus, HealthState } from './upstream-status.ts';

/** A change of an endpoint, for the log. */
export type EndpointEvent = HealthState | `breaker_${BreakerState}` | `unresolved (${DnsErrorCode})` | 'resolved';

/** The parts that all endpoints of an upstream use. */
interface EndpointContext {
  readonly upstream: Upstream;
  readonly resolver: NameResolver;
  readonly budget: ConnectionBudget;
  readonly worker: WorkerPlace;
  readonly waiting: WaitingRequests;
  /** Receives the changes that this worker notices first. */
  readonly publish: (endpoint: LiveEndpoint, event: EndpointEvent, reason?: string) => void;
  /** Called when the other workers must look at the memory, because this one granted them connections. */
  readonly notifyWorkers: () => void;
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
  readonly responseTime = new AverageResponseTime();
  /** The health by requests. It only reports: a client that provokes failures must not take an endpoint out of service. */
  readonly observed: ObservedHealth;
  /** Exchanges whose client left while the gateway waited for the response. */
  readonly abandoned: WorkerCounter;
  readonly #hostName: string;
  readonly #resolver: NameResolver;
  readonly #worker: WorkerPlace;
  readonly #publish: (event: EndpointEvent, reason?: string) => void;
  readonly #probe: HealthProbe | undefined;
  readonly #healthCheck: HealthCheck | undefined;
  #unsubscribe = () => {};
  #releaseName = () => {};
  /** 1 after the log reported it unhealthy. */
  readonly #isReported: Int32Array;
  readonly #resolution: SharedText;

  constructor(endpoint: Endpoint, memory: EndpointMemory, context: EndpointContext) {
    const { upstream, resolver, budget, worker, waiting, notifyWorkers } = context;
    const { breaker, health } = upstream;
    this.url = endpoint.label;
    this.host = ['client', 'upstream'].includes(upstream.host) ? hostHeaderOf(endpoint.url) : upstream.host;
    this.connections = new ConnectionLimit(upstream.connectionLimit, waiting, memory.connections, worker);
    this.pool = new ConnectionPool(createDial(endpoint, upstream, resolver), upstream, {
      limit: this.connections,
      budget,
      onGranted: notifyWorkers,
    });
    this.abandoned = new WorkerCounter(memory.abandoned, worker);
    this.#hostName = hostOf(endpoint.url);
    this.#resolver = resolver;
    this.#worker = worker;
    this.#isReported = memory.isReported;
    this.#resolution = new SharedText(memory.resolution);
    this.#publish = (event, reason) => context.publish(this, event, reason);
    if (breaker !== undefined)
      this.breaker = new CircuitBreaker(breaker, {
        publish: (state) => this.#publish(`breaker_${state}`),
        now: sharedNow,
        ...(memory.breaker && { memory: memory.breaker }),
        worker: worker.index,
      });
    this.observed = new ObservedHealth({
      onChange: () => this.#reportHealth(),
      now: sharedNow,
      memory: memory.observed,
      worker,
    });
    if (health === undefined) return;
    const probe = new HealthProbe(endpoint, upstream, health, resolver);
    this.#probe = probe;
    this.#healthCheck = new HealthCheck(
      health,
      () => probe.send(),
      () => this.#onCheckChange(),
      memory.check,
    );
  }

  /** Starts to resolve the host name and, in worker 0, to check the health. */
  start(): void {
    this.#releaseName = this.#resolver.retain(this.#hostName);
    this.#unsubscribe = this.#resolver.subscribe((name, reason) => {
      if (name === this.#hostName) this.#reportResolution(reason === undefined ? 'resolved' : `unresolved (${reason})`);
    });
    if (this.#worker.index === 0) this.#healthCheck?.start();
  }

  /** False while the health check fails. */
  get isHealthy(): boolean {
    return this.#healthCheck?.state !== 'unhealthy';
  }

  /** True if a request of this client may be sent now, given a free connection. */
  isAvailableTo(client: string): boolean {
    return this.isHealthy && (this.breaker === undefined || this.breaker.isAllowed(client));
  }

  /** True if any request may be sent now, given a free connection. */
  get isAvailable(): boolean {
    return this.isHealthy && (this.breaker === undefined || this.breaker.isAnyAllowed);
  }

  /** Unhealthy if one of the health check, the circuit breaker and the requests of the last minute shows it. */
  get health(): HealthState {
    return this.breaker?.state === 'open' ? 'unhealthy' : this.#measuredHealth;
  }

  get status(): EndpointStatus {
    return {
      url: this.url,
      health: this.health,
      reason: this.#reason ?? null,
      check: this.#healthCheck?.state ?? null,
      breaker: this.breaker?.state ?? null,
      breakerOpenings: this.breaker?.openings ?? 0,
      abandoned: this.abandoned.total,
      connections: this.connections.open,
      busy: this.connections.busy,
      resolution: this.#resolver.statusOf(this.#hostName),
    };
  }

  /** Closes all connections, including those that carry an exchange. */
  close(): void {
    this.#unsubscribe();
    this.#healthCheck?.stop();
    this.observed.close();
    this.#probe?.close();
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
    const states = [this.#healthCheck?.state, this.observed.state];
    if (states.includes('unhealthy')) return 'unhealthy';
    return states.includes('healthy') ? 'healthy' : 'unknown';
  }

  get #reason(): string | undefined {
    return this.#healthCheck?.reason ?? this.observed.reason;
  }

  #onCheckChange(): void {
    // The failed requests were before the check succeeded.
    if (this.#healthCheck?.state === 'healthy') this.observed.reset();
    this.#reportHealth();
  }

  /** Publishes each change to and from unhealthy. The first success of an endpoint is no news. */
  #reportHealth(): void {
    const health = this.#measuredHealth;
    const isUnhealthy = health === 'unhealthy' ? 1 : 0;
    // Several workers may notice the change.
    if (Atomics.exchange(this.#isReported, 0, isUnhealthy) !== isUnhealthy) this.#publish(health, this.#reason);
  }

  /** Each worker resolves the name. The first one that notices a change publishes it. */
  #reportResolution(event: EndpointEvent): void {
    if (this.#resolution.set(event)) this.#publish(event);
  }
}

/** A wait up to this long is never slow. */
const MIN_SLOW_MS = 1_000;
const FACTOR = 4;
/** Weight of the latest response in the average. */
const WEIGHT = 0.1;

/** The moving average of the time from a request to the beginning of its response, for one endpoint. */
export class AverageResponseTime {
  #averageMs: number | undefined;

  add(ms: number): void {
    this.#averageMs = this.#averageMs === undefined ? ms : this.#averageMs + (ms - this.#averageMs) * WEIGHT;
  }

  isSlow(ms: number): boolean {
    return ms > Math.max(MIN_SLOW_MS, (this.#averageMs ?? 0) * FACTOR);
  }
}
