import type { NameResolver } from '../../dns/name-resolver.ts';
import type { ConnectionBudget } from '../../http1/connection-budget.ts';
import type { UpstreamConnection } from '../../http1/upstream-connection.ts';
import { WaitingRequests } from '../../http1/waiting-requests.ts';
import type { Upstream } from '../../plan/settings/upstream-definition.ts';
import { BufferParts } from '../../shared-memory/buffer-parts.ts';
import type { SharedMemory } from '../../shared-memory/shared-memory.ts';
import type { WorkerPlace } from '../../shared-memory/worker-context.ts';
import { WorkerCounter } from '../../shared-memory/worker-counter.ts';
import { Refusal } from '../response/refusal.ts';
import type { HealthState } from './health-state.ts';
import { type EndpointEvent, type EndpointStatus, LiveEndpoint } from './live-endpoint.ts';
import { type QueueEntry, RequestQueue } from './request-queue.ts';
import { type EndpointMemory, upstreamBuffer, upstreamMemory } from './upstream-memory.ts';

/** A connection to an endpoint that was chosen for a request. */
export interface Assignment {
  readonly endpoint: LiveEndpoint;
  readonly connection: UpstreamConnection;
  /** The result of `CircuitBreaker.beginRequest`. */
  readonly trial: number;
}

/** A request that waits for an endpoint with a free connection. */
export interface QueuedRequest extends QueueEntry {
  /** True if the request must not use a connection that is already open. */
  readonly needsNewConnection: boolean;
  /** True if the connection may become a tunnel. */
  readonly isHandshake: boolean;
  start(assignment: Assignment): void;
  refuse(refusal: Refusal): void;
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

export interface LiveUpstreamOptions {
  readonly resolver: NameResolver;
  readonly budget: ConnectionBudget;
  readonly memory: SharedMemory;
  readonly worker: WorkerPlace;
  /** Receives the changes of the endpoints that this worker notices first. */
  readonly publish: (endpoint: LiveEndpoint, event: EndpointEvent, reason?: string) => void;
  /** Has the other workers call `onNews`. */
  readonly notifyWorkers: () => void;
}

/** `full`: the request must wait. `unavailable`: no endpoint may receive it. */
type Assigned = Assignment | 'full' | 'unavailable';

/**
 * An upstream with its endpoints and the queue of requests that wait for one. All workers together have one limit of connections
 * to each endpoint, and one limit of waiting requests. Each worker has its own connections and its own queue.
 */
export class LiveUpstream {
  readonly upstream: Upstream;
  readonly #endpoints: readonly LiveEndpoint[];
  readonly #queue: RequestQueue<QueuedRequest>;
  /** The requests that wait in all workers. */
  readonly #waiting: WaitingRequests;
  readonly #retries: WorkerCounter;
  readonly #notifyWorkers: () => void;
  /** Index of the endpoint whose turn is next. */
  #turn = 0;
  #onProgress: (() => void) | undefined;

  constructor(upstream: Upstream, { resolver, budget, memory, worker, publish, notifyWorkers }: LiveUpstreamOptions) {
    const { name, bytes } = upstreamBuffer(upstream, worker.count);
    const shared = upstreamMemory(new BufferParts(memory.buffer(name, bytes)), upstream, worker.count);
    this.upstream = upstream;
    this.#waiting = new WaitingRequests(shared.waiting, worker);
    this.#queue = new RequestQueue(upstream.queueLimit, this.#waiting);
    this.#retries = new WorkerCounter(shared.retries, worker);
    this.#notifyWorkers = notifyWorkers;
    const onEvent = (endpoint: LiveEndpoint, event: EndpointEvent, reason?: string) => {
      publish(endpoint, event, reason);
      notifyWorkers();
      this.dispatch();
    };
    const context = { upstream, resolver, budget, worker, waiting: this.#waiting, publish: onEvent, notifyWorkers };
    this.#endpoints = upstream.endpoints.map(
      (endpoint, index) => new LiveEndpoint(endpoint, shared.endpoints[index] as EndpointMemory, context),
    );
  }

  start(): void {
    for (const endpoint of this.#endpoints) endpoint.start();
  }

  /**
   * Starts the request on an endpoint, puts it into the queue, or refuses it.
   *
   * @param failed the endpoint of the previous attempt, which is chosen only if no other one has room
   */
  acquire(request: QueuedRequest, failed?: LiveEndpoint): void {
    if (failed !== undefined) this.#retries.add(1);
    // Another worker may have granted connections to the requests that wait.
    if (this.#queue.size > 0) this.#startWaiting();
    const assigned = this.#assign(request, failed);
    if (assigned === 'full') this.#enqueue(request);
    else begin(request, assigned);
  }

  /** Starts waiting requests for as long as the next one has room. Called when a connection or an endpoint is free again. */
  dispatch(): void {
    this.#startWaiting();
    this.#offerRoom();
    this.#onProgress?.();
  }

  /** Another worker has changed the state of an endpoint, granted connections to this one, or needs some. */
  onNews(): void {
    this.#startWaiting();
    this.#returnGrants();
    for (const { pool } of this.#endpoints) pool.yieldIdle();
    this.#onProgress?.();
  }

  /** Removes a request from the queue. */
  cancel(request: QueuedRequest): void {
    this.#queue.remove(request);
    if (this.#queue.size === 0) this.#returnGrants();
    this.#onProgress?.();
  }

  /** Gives back everything that a worker held which ended. */
  forgetWorker(worker: number): void {
    this.#waiting.forget(worker);
    for (const endpoint of this.#endpoints) endpoint.forgetWorker(worker);
    this.#notifyWorkers();
    this.dispatch();
  }

  get status(): UpstreamStatus {
    return {
      id: this.upstream.id,
      health: this.#health,
      available: this.#endpoints.some(({ isAvailable }) => isAvailable),
      panic: this.#isPanic(),
      endpoints: this.#endpoints.map(({ status }) => status),
      waiting: this.#waiting.total,
      retries: this.#retries.total,
    };
  }

  /** Closes the upstream once all its requests have ended. */
  async close(): Promise<void> {
    while (this.#queue.size > 0 || this.#endpoints.some(({ pool }) => pool.busy > 0)) {
      await new Promise<void>((resolve) => {
        this.#onProgress = resolve;
      });
    }
    for (const endpoint of this.#endpoints) endpoint.close();
  }

  get #health(): HealthState {
    const states = this.#endpoints.map(({ health }) => health);
    return (['healthy', 'unknown'] as const).find((state) => states.includes(state)) ?? 'unhealthy';
  }

  /**
   * True while breakers that are on by default let no request of the client through. Requests then go to every healthy endpoint,
   * because a default must not take an upstream out of service.
   */
  #isPanic(client?: string): boolean {
    if (this.upstream.breaker?.isDefault !== true) return false;
    let isAnyHealthy = false;
    for (const endpoint of this.#endpoints) {
      if (client === undefined ? endpoint.isAvailable : endpoint.isAvailableTo(client)) return false;
      isAnyHealthy ||= endpoint.isHealthy;
    }
    return isAnyHealthy;
  }

  /** Without room the queue does not change, so each request keeps its time limit. */
  #startWaiting(): void {
    for (let { next } = this.#queue; next !== undefined; { next } = this.#queue) {
      const assigned = this.#assign(next);
      if (assigned === 'full') return;
      this.#queue.dequeue();
      begin(next, assigned);
    }
  }

  /** Chooses an endpoint and takes a connection to it. */
  #assign(request: QueuedRequest, failed?: LiveEndpoint): Assigned {
    const { client } = request;
    for (;;) {
      const isPanic = this.#isPanic(client);
      const endpoint = this.#choose(client, isPanic, failed);
      if (endpoint === undefined) return isPanic || this.#isAvailableTo(client) ? 'full' : 'unavailable';
      const { pool, breaker } = endpoint;
      const connection = request.needsNewConnection ? pool.open(request.isHandshake) : pool.acquire();
      // Another worker took the room, or the trial, in this moment.
      if (connection === undefined) continue;
      const trial = isPanic
        ? breaker?.beginRequest(client)
        : breaker === undefined
          ? 0
          : breaker.tryBeginRequest(client);
      if (trial !== undefined) return { endpoint, connection, trial };
      pool.release(connection);
    }
  }

  #isAvailableTo(client: string): boolean {
    return this.#endpoints.some((endpoint) => endpoint.isAvailableTo(client));
  }

  /** Lets other workers know of room that this one does not use. */
  #offerRoom(): void {
    const hasReturned = this.#returnGrants();
    if (!hasReturned && this.#endpoints.some(({ connections }) => connections.isUnclaimed)) this.#notifyWorkers();
  }

  /** Returns room that other workers granted to this one and that it does not use. */
  #returnGrants(): boolean {
    let hasReturned = false;
    for (const { connections } of this.#endpoints) hasReturned = connections.returnGrants() || hasReturned;
    if (hasReturned) this.#notifyWorkers();
    return hasReturned;
  }

  /** Returns the next usable endpoint with room, or the one with the fewest requests, by the balance setting. */
  #choose(client: string, isPanic: boolean, failed: LiveEndpoint | undefined): LiveEndpoint | undefined {
    const endpoints = this.#endpoints;
    const isLeastPending = this.upstream.balance === 'least-pending';
    let best: LiveEndpoint | undefined;
    let leastBusy = 0;
    let turn = this.#turn;
    for (let step = 0; step < endpoints.length; step += 1) {
      const index = (this.#turn + step) % endpoints.length;
      const endpoint = endpoints[index] as LiveEndpoint;
      if (!isUsable(endpoint, client, isPanic) || !endpoint.pool.hasRoom) continue;
      const busy = isLeastPending ? endpoint.connections.busy : 0;
      const isLessBusy = endpoint !== failed && busy < leastBusy;
      if (best !== undefined && best !== failed && !isLessBusy) continue;
      best = endpoint;
      leastBusy = busy;
      turn = index + 1;
    }
    this.#turn = turn;
    return best;
  }

  #enqueue(request: QueuedRequest): void {
    const onTimeout = () => {
      this.cancel(request);
      request.refuse(busy('queue_too_slow'));
    };
    const removed = this.#queue.enqueue(request, () => setTimeout(onTimeout, this.upstream.connectTimeoutMs));
    removed?.refuse(busy(removed === request ? 'queue_full' : 'queue_share'));
    if (removed === request) return;
    // Another worker may have closed a connection before it saw that this request waits.
    this.#startWaiting();
    // Workers whose connections are all busy see the request when they release one.
    if (this.#queue.size > 0 && this.#endpoints.some(({ connections }) => connections.hasIdleElsewhere))
      this.#notifyWorkers();
  }
}

function begin(request: QueuedRequest, assigned: Assignment | 'unavailable'): void {
  if (assigned === 'unavailable') request.refuse(unavailable('no_endpoint_available'));
  else request.start(assigned);
}

function isUsable(endpoint: LiveEndpoint, client: string, isPanic: boolean): boolean {
  return isPanic ? endpoint.isHealthy : endpoint.isAvailableTo(client);
}

const RETRY_AFTER = { 'Retry-After': '1' };

function unavailable(reason: string): Refusal {
  return new Refusal('upstream_unavailable', { reason, headers: RETRY_AFTER });
}

function busy(reason: string): Refusal {
  return new Refusal('upstream_busy', { reason, headers: RETRY_AFTER });
}
