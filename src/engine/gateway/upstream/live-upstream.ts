import { WaitingRequests } from '../../http1/connection-limit.ts';
import type { UpstreamConnection } from '../../http1/upstream-connection.ts';
import type { Upstream } from '../../settings/upstream-definition.ts';
import { BufferParts, WorkerCounter } from '../../shared-memory/buffer-parts.ts';
import type { SharedMemory } from '../../shared-memory/worker-context.ts';
import { Refusal } from '../response/refusal.ts';
import { type EndpointEvent, type EndpointOwner, LiveEndpoint, type UpstreamContext } from './live-endpoint.ts';
import { type QueueEntry, RequestQueue } from './request-queue.ts';
import { type EndpointMemory, upstreamBuffer, upstreamMemory } from './upstream-memory.ts';

/** A connection to an endpoint that was chosen for a request. */
export interface Assignment {
  readonly endpoint: LiveEndpoint;
  readonly connection: UpstreamConnection;
  /** The result of `CircuitBreaker.beginRequest`. */
  readonly trial: number;
}

/** A request that needs a connection to an endpoint. */
export interface QueuedRequest extends QueueEntry {
  /** True if the request must not use a connection that is already open. */
  readonly needsNewConnection: boolean;
  /** True if the connection may become a tunnel. */
  readonly isHandshake: boolean;
  /** The milliseconds since it was forwarded, while its client still sends the body; otherwise 0. */
  readonly uploadMs: number;
  start(assignment: Assignment): void;
  refuse(refusal: Refusal): void;
  /** Ends the exchange on its connection. */
  stop(refusal: Refusal): void;
}

/** The topic of messages to the other workers. Their value is the key of an upstream, which looks at its memory then. */
export const UPSTREAM_TOPIC = 'upstream';

/**
 * An upstream with its endpoints and the queue of requests that wait for one. All workers together have one limit of connections
 * to each endpoint, and one limit of waiting requests. Each worker has its own connections, its own queue and its own turns.
 */
export class LiveUpstream implements EndpointOwner {
  readonly upstream: Upstream;
  readonly context: UpstreamContext;
  /** The requests that wait in all workers. */
  readonly waiting: WaitingRequests;
  /** The requests whose bodies are streamed to an endpoint, the oldest first. */
  readonly uploads = new Set<QueuedRequest>();
  readonly #endpoints: readonly LiveEndpoint[];
  readonly #queue: RequestQueue<QueuedRequest>;
  readonly #retries: WorkerCounter;
  /** Index of the endpoint whose turn is next. */
  #turn = 0;
  #onProgress: (() => void) | undefined;

  constructor(upstream: Upstream, memory: SharedMemory, context: UpstreamContext) {
    const { worker } = context;
    const { name, bytes } = upstreamBuffer(upstream, worker.count);
    const shared = upstreamMemory(new BufferParts(memory.buffer(name, bytes)), upstream, worker.count);
    const onTimeout = (request: QueuedRequest) => {
      this.#makeRoom(request);
      if (!this.#queue.remove(request.client, request)) return;
      this.#onLeft();
      request.refuse(busy('queue_too_slow'));
    };
    const limits = { size: upstream.queueLimit, timeoutMs: upstream.connectTimeoutMs, onTimeout };
    this.upstream = upstream;
    this.context = context;
    this.waiting = new WaitingRequests(shared.waiting, worker);
    this.#queue = new RequestQueue(limits, this.waiting);
    this.#retries = new WorkerCounter(shared.retries, worker);
    this.#endpoints = upstream.endpoints.map(
      (endpoint, index) => new LiveEndpoint(endpoint, shared.endpoints[index] as EndpointMemory, this),
    );
  }

  start(): this {
    for (const endpoint of this.#endpoints) endpoint.start();
    return this;
  }

  /**
   * Starts the request on an endpoint, puts it into the queue, or refuses it.
   *
   * @param failed the endpoint of the previous attempt, which is chosen only if no other one has room
   */
  acquire(request: QueuedRequest, failed?: LiveEndpoint): void {
    if (failed !== undefined) this.#retries.add(1);
    // Another worker may have closed a connection.
    if (this.#queue.size > 0) this.#startWaiting();
    const assigned = this.#assign(request, failed);
    if (assigned === 'full') this.#enqueue(request);
    else if (assigned === 'unavailable') request.refuse(noEndpoint());
    else request.start(assigned);
  }

  /** Starts waiting requests for as long as the next one has room. Called when a connection or an endpoint is free again. */
  dispatch(): void {
    if (this.#queue.size > 0) this.#startWaiting();
    this.#onProgress?.();
  }

  /** Another worker has changed the state of an endpoint, has room for requests of this one, or needs some. */
  onNews(): void {
    this.#startWaiting();
    for (const { pool } of this.#endpoints) pool.yieldIdle();
    this.#onProgress?.();
  }

  /** Removes a request from the queue. */
  cancel(request: QueuedRequest): void {
    this.#queue.remove(request.client, request);
    this.#onLeft();
  }

  /** Gives back everything that a worker held which ended. */
  forgetWorker(worker: number): void {
    this.waiting.forget(worker);
    for (const endpoint of this.#endpoints) endpoint.forgetWorker(worker);
    this.notifyWorkers();
    this.dispatch();
  }

  /** Has the other workers look at the memory. */
  notifyWorkers(): void {
    this.context.worker.bus.publish(UPSTREAM_TOPIC, this.upstream.key);
  }

  onEvent(endpoint: string, event: EndpointEvent, reason?: string): void {
    const { id } = this.upstream;
    this.context.log.logger.warn({ upstream: id, endpoint, event, reason }, 'upstream endpoint changed');
    this.notifyWorkers();
    this.dispatch();
  }

  get status() {
    const endpoints = this.#endpoints.map(({ status }) => status);
    const available = this.#endpoints.some((endpoint) => mayReceive(endpoint));
    return {
      id: this.upstream.id,
      /** The best health of its endpoints. */
      health:
        HEALTH_PRIORITY.find((state) => endpoints.some(({ health }) => health === state)) ?? ('unhealthy' as const),
      /** True if at least one endpoint may receive requests. */
      available,
      /** True while the default breakers of all healthy endpoints are open. Requests then go to all of these endpoints. */
      panic: !available && this.#mayPanic && this.#endpoints.some((endpoint) => mayReceive(endpoint, true)),
      endpoints,
      /** Requests that wait for a connection. */
      waiting: this.waiting.total,
      /** Requests that were sent once more. */
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

  /**
   * True if requests go to every healthy endpoint while breakers let none through. A default must not take an upstream out of
   * service, so breakers that are on by default do this.
   */
  get #mayPanic(): boolean {
    return this.upstream.breaker?.isDefault === true;
  }

  /** Chooses an endpoint and takes a connection to it. `full`: the request must wait. `unavailable`: no endpoint may receive it. */
  #assign(request: QueuedRequest, failed?: LiveEndpoint): Assignment | 'full' | 'unavailable' {
    const { client, needsNewConnection, isHandshake } = request;
    for (;;) {
      const allowed = this.#choose(client, failed, false);
      const isPanic = allowed === 'unavailable' && this.#mayPanic;
      const endpoint = isPanic ? this.#choose(client, failed, true) : allowed;
      if (typeof endpoint === 'string') return endpoint;
      const { pool, breaker } = endpoint;
      const connection = needsNewConnection ? pool.open(isHandshake) : pool.acquire();
      // Another worker took the room, or the trial, in this moment.
      if (connection === undefined) continue;
      const trial = breaker === undefined ? 0 : breaker.beginRequest(client, isPanic);
      if (trial !== undefined) return { endpoint, connection, trial };
      pool.release(connection);
    }
  }

  /** Returns the next usable endpoint with room, or the one with the fewest requests, by the balance setting. */
  #choose(client: string, failed: LiveEndpoint | undefined, isPanic: boolean): LiveEndpoint | 'full' | 'unavailable' {
    const endpoints = this.#endpoints;
    const isLeastPending = this.upstream.balance === 'least-pending';
    let best: LiveEndpoint | undefined;
    let isAnyUsable = false;
    let leastBusy = 0;
    let turn = this.#turn;
    for (let step = 0; step < endpoints.length; step += 1) {
      const index = (this.#turn + step) % endpoints.length;
      const endpoint = endpoints[index] as LiveEndpoint;
      if (!mayReceive(endpoint, isPanic, client)) continue;
      isAnyUsable = true;
      if (!endpoint.pool.hasRoom) continue;
      const busy = isLeastPending ? endpoint.busy : 0;
      const isLessBusy = endpoint !== failed && busy < leastBusy;
      if (best !== undefined && best !== failed && !isLessBusy) continue;
      best = endpoint;
      leastBusy = busy;
      turn = index + 1;
    }
    this.#turn = turn;
    return best ?? (isAnyUsable ? 'full' : 'unavailable');
  }

  /** Without room the queue does not change, so each request keeps its time limit. */
  #startWaiting(): void {
    for (let { next } = this.#queue; next !== undefined; { next } = this.#queue) {
      const assigned = this.#assign(next);
      if (assigned === 'full') return;
      this.#queue.dequeue();
      this.#onLeft();
      if (assigned === 'unavailable') next.refuse(noEndpoint());
      else next.start(assigned);
    }
  }

  /** A request has left the queue. The room that it waited for may now be that of another worker. */
  #onLeft(): void {
    if (this.#endpoints.some((endpoint) => endpoint.connections.hasRoomElsewhere && mayReceive(endpoint)))
      this.notifyWorkers();
    this.#onProgress?.();
  }

  #enqueue(request: QueuedRequest): void {
    const removed = this.#queue.add(request);
    removed?.refuse(busy(removed === request ? 'queue_full' : 'queue_share'));
    if (removed === request) return;
    // Another worker may have closed a connection before it saw that this request waits.
    this.#startWaiting();
    this.#makeRoom(request);
    // Workers whose connections are all busy see the request when they release one.
    if (this.#queue.size > 0 && this.#endpoints.some(({ connections }) => connections.hasIdleElsewhere))
      this.notifyWorkers();
  }

  /**
   * Gives waiting requests of a client the connections of uploads, if another client has more than half of the connections for those:
   * a few bytes a minute keep them open. Ends the oldest ones, but none that is younger than the longest time that a request waits.
   */
  #makeRoom({ client }: QueuedRequest): void {
    const share = this.#endpoints.reduce((sum, { pool }) => sum + pool.busy, 0) / 2;
    const unfinished = [...this.uploads].filter(({ uploadMs }) => uploadMs > 0);
    for (const [holder, uploads] of Map.groupBy(unfinished, (upload) => upload.client)) {
      if (holder === client || uploads.length <= share) continue;
      for (const upload of uploads.slice(0, Math.floor(uploads.length - share)))
        if (this.#queue.lengthOf(client) > 0 && upload.uploadMs >= this.upstream.connectTimeoutMs)
          upload.stop(busy('connection_share'));
    }
  }
}

/** The best health of the endpoints is that of the upstream. */
const HEALTH_PRIORITY = ['healthy', 'unknown'] as const;

/** True if a request of this client, by default of any client, may be sent now, given a free connection. A panic ignores breakers. */
function mayReceive({ breaker, check }: LiveEndpoint, isPanic = false, client?: string): boolean {
  return check?.state !== 'unhealthy' && (isPanic || breaker === undefined || breaker.isAllowed(client));
}

const RETRY_AFTER = { 'Retry-After': '1' };

function noEndpoint(): Refusal {
  return new Refusal('upstream_unavailable', { reason: 'no_endpoint_available', headers: RETRY_AFTER });
}

function busy(reason: string): Refusal {
  return new Refusal('upstream_busy', { reason, headers: RETRY_AFTER });
}
