import type { NameResolver } from '../../dns/name-resolver.ts';
import type { ConnectionBudget } from '../../http1/connection-budget.ts';
import type { Upstream } from '../../plan/settings/upstream-definition.ts';
import { Refusal } from '../response/refusal.ts';
import type { HealthState } from './health-state.ts';
import { type EndpointEvent, type EndpointStatus, LiveEndpoint } from './live-endpoint.ts';
import { type QueueEntry, RequestQueue } from './request-queue.ts';

/** A request that waits for an endpoint with a free connection. */
export interface QueuedRequest extends QueueEntry {
  /**
   * Starts the request on an endpoint that has room for it.
   *
   * @param trial the result of `CircuitBreaker.beginRequest`
   */
  start(endpoint: LiveEndpoint, trial: number): void;
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

/** An upstream with its endpoints and the queue of requests that wait for one. */
export class LiveUpstream {
  readonly upstream: Upstream;
  readonly #endpoints: readonly LiveEndpoint[];
  readonly #queue: RequestQueue<QueuedRequest>;
  /** Index of the endpoint whose turn is next. */
  #turn = 0;
  #retries = 0;
  #onProgress: (() => void) | undefined;

  /** @param publish receives the changes of the endpoints */
  constructor(
    upstream: Upstream,
    resolver: NameResolver,
    budget: ConnectionBudget,
    publish: (endpoint: LiveEndpoint, event: EndpointEvent, reason?: string) => void,
  ) {
    this.upstream = upstream;
    this.#queue = new RequestQueue(upstream.queueLimit);
    const onEvent = (endpoint: LiveEndpoint, event: EndpointEvent, reason?: string) => {
      publish(endpoint, event, reason);
      this.dispatch();
    };
    this.#endpoints = upstream.endpoints.map(
      (endpoint) => new LiveEndpoint(endpoint, upstream, resolver, budget, onEvent),
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
    if (failed !== undefined) this.#retries += 1;
    const { client } = request;
    const isPanic = this.#isPanic(client);
    const endpoint = this.#choose(client, isPanic, failed);
    if (endpoint !== undefined) {
      request.start(endpoint, endpoint.breaker?.beginRequest(client) ?? 0);
    } else if (!isPanic && !this.#endpoints.some((candidate) => candidate.isAvailableTo(client))) {
      request.refuse(unavailable('no_endpoint_available'));
    } else {
      this.#enqueue(request);
    }
  }

  /** Starts waiting requests for as long as the next one has room. Called when a connection or an endpoint is free again. */
  dispatch(): void {
    // Without room the queue does not change, so each request keeps its time limit.
    for (let { next } = this.#queue; next !== undefined && !this.#isFull(next.client); { next } = this.#queue) {
      this.#queue.dequeue();
      this.acquire(next);
    }
    this.#onProgress?.();
  }

  /** Removes a request from the queue. */
  cancel(request: QueuedRequest): void {
    this.#queue.remove(request);
    this.#onProgress?.();
  }

  get status(): UpstreamStatus {
    return {
      id: this.upstream.id,
      health: this.#health,
      available: this.#endpoints.some(({ isAvailable }) => isAvailable),
      panic: this.#isPanic(),
      endpoints: this.#endpoints.map(({ status }) => status),
      waiting: this.#queue.size,
      retries: this.#retries,
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

  /** True if endpoints are available to this client, but none of them has room. */
  #isFull(client: string): boolean {
    const isPanic = this.#isPanic(client);
    const usable = this.#endpoints.filter((endpoint) => isUsable(endpoint, client, isPanic));
    return usable.length > 0 && !usable.some(({ pool }) => pool.hasRoom);
  }

  /** Returns the next usable endpoint with room, or the one with the fewest requests, by the balance setting. */
  #choose(client: string, isPanic: boolean, failed: LiveEndpoint | undefined): LiveEndpoint | undefined {
    const endpoints = this.#endpoints;
    const isLeastPending = this.upstream.balance === 'least-pending';
    let best: LiveEndpoint | undefined;
    let turn = this.#turn;
    for (let step = 0; step < endpoints.length; step += 1) {
      const index = (this.#turn + step) % endpoints.length;
      const endpoint = endpoints[index] as LiveEndpoint;
      if (!isUsable(endpoint, client, isPanic) || !endpoint.pool.hasRoom) continue;
      const isLessBusy = isLeastPending && endpoint !== failed && endpoint.pool.busy < (best?.pool.busy ?? 0);
      if (best !== undefined && best !== failed && !isLessBusy) continue;
      best = endpoint;
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
  }
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
