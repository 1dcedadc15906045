import type { NameResolver } from '../../dns/name-resolver.ts';
import { WaitingRequests } from '../../http1/connection-limit.ts';
import type { ConnectionBudget } from '../../http1/connection-pool.ts';
import { RestartableTimeout } from '../../http1/event-loop.ts';
import type { Upstream } from '../../settings/upstream-definition.ts';
import { BufferParts } from '../../shared-memory/buffer-parts.ts';
import type { SharedMemory, WorkerPlace } from '../../shared-memory/worker-context.ts';
import { WorkerCounter } from '../../shared-memory/worker-counter.ts';
import { Refusal } from '../response/refusal.ts';
import { type EndpointEvent, LiveEndpoint } from './live-endpoint.ts';
import { type AssignableRequest, type Assignment, LoadBalancer } from './load-balancer.ts';
import { type QueueEntry, RequestQueue } from './request-queue.ts';
import { type EndpointMemory, upstreamBuffer, upstreamMemory } from './upstream-memory.ts';
import type { HealthState, UpstreamStatus } from './upstream-status.ts';

/** A request that waits for an endpoint with a free connection. */
export interface QueuedRequest extends QueueEntry, AssignableRequest {
  start(assignment: Assignment): void;
  refuse(refusal: Refusal): void;
}

interface LiveUpstreamOptions {
  readonly resolver: NameResolver;
  readonly budget: ConnectionBudget;
  readonly memory: SharedMemory;
  readonly worker: WorkerPlace;
  /** Receives the changes of the endpoints that this worker notices first. */
  readonly publish: (endpoint: LiveEndpoint, event: EndpointEvent, reason?: string) => void;
  /** Has the other workers call `onNews`. */
  readonly notifyWorkers: () => void;
}

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
  readonly #balancer: LoadBalancer;
  readonly #notifyWorkers: () => void;
  /** True if other workers use the same endpoints. */
  readonly #isShared: boolean;
  #onProgress: (() => void) | undefined;

  constructor(upstream: Upstream, { resolver, budget, memory, worker, publish, notifyWorkers }: LiveUpstreamOptions) {
    const { name, bytes } = upstreamBuffer(upstream, worker.count);
    const shared = upstreamMemory(new BufferParts(memory.buffer(name, bytes)), upstream, worker.count);
    this.upstream = upstream;
    this.#waiting = new WaitingRequests(shared.waiting, worker);
    this.#queue = new RequestQueue(upstream.queueLimit, this.#waiting);
    this.#retries = new WorkerCounter(shared.retries, worker);
    this.#notifyWorkers = notifyWorkers;
    this.#isShared = worker.count > 1;
    const onEvent = (endpoint: LiveEndpoint, event: EndpointEvent, reason?: string) => {
      publish(endpoint, event, reason);
      notifyWorkers();
      this.dispatch();
    };
    const context = { upstream, resolver, budget, worker, waiting: this.#waiting, publish: onEvent, notifyWorkers };
    this.#endpoints = upstream.endpoints.map(
      (endpoint, index) => new LiveEndpoint(endpoint, shared.endpoints[index] as EndpointMemory, context),
    );
    this.#balancer = new LoadBalancer(upstream, this.#endpoints);
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
    const assigned = this.#balancer.assign(request, failed);
    if (assigned === 'full') this.#enqueue(request);
    else begin(request, assigned);
  }

  /** Starts waiting requests for as long as the next one has room. Called when a connection or an endpoint is free again. */
  dispatch(): void {
    if (this.#queue.size > 0) this.#startWaiting();
    if (this.#isShared) this.#offerRoom();
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
      panic: this.#balancer.isPanic(),
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

  /** Without room the queue does not change, so each request keeps its time limit. */
  #startWaiting(): void {
    for (let { next } = this.#queue; next !== undefined; { next } = this.#queue) {
      const assigned = this.#balancer.assign(next);
      if (assigned === 'full') return;
      this.#queue.dequeue();
      begin(next, assigned);
    }
  }

  /** Lets other workers know of room that this one does not use. */
  #offerRoom(): void {
    let isUnclaimed = false;
    for (const { connections } of this.#endpoints) isUnclaimed = connections.checkUnclaimed() || isUnclaimed;
    if (!this.#returnGrants() && isUnclaimed) this.#notifyWorkers();
  }

  /** Returns room that other workers granted to this one and that it does not use. */
  #returnGrants(): boolean {
    let hasReturned = false;
    for (const { connections } of this.#endpoints) hasReturned = connections.returnGrants() || hasReturned;
    if (hasReturned) this.#notifyWorkers();
    return hasReturned;
  }

  #enqueue(request: QueuedRequest): void {
    const { connectTimeoutMs } = this.upstream;
    const onTimeout = () => {
      this.cancel(request);
      request.refuse(busy('queue_too_slow'));
    };
    const removed = this.#queue.enqueue(request, () => new RestartableTimeout(connectTimeoutMs, onTimeout).start());
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
  if (assigned === 'unavailable')
    request.refuse(new Refusal('upstream_unavailable', { reason: 'no_endpoint_available', headers: RETRY_AFTER }));
  else request.start(assigned);
}

const RETRY_AFTER = { 'Retry-After': '1' };

function busy(reason: string): Refusal {
  return new Refusal('upstream_busy', { reason, headers: RETRY_AFTER });
}
