import type { NameResolver } from '../../dns/name-resolver.ts';
import type { ConnectionBudget } from '../../http1/connection-budget.ts';
import type { Upstream } from '../../plan/settings/upstream-definition.ts';
import { Refusal } from '../response/refusal.ts';
import { type EndpointEvent, type EndpointStatus, LiveEndpoint } from './live-endpoint.ts';
import { type QueueEntry, RequestQueue } from './request-queue.ts';

/** What waits for a target with a free connection. */
export interface QueuedRequest extends QueueEntry {
  /**
   * There is room for it at this target.
   *
   * @param trial as `Breaker.begin` returns it
   */
  start(target: LiveEndpoint, trial: number): void;
  refuse(refusal: Refusal): void;
}

export interface UpstreamStatus {
  readonly id: string;
  /** Whether one of the targets may be given requests. */
  readonly healthy: boolean;
  /** True while every healthy endpoint's default breaker is open, so that requests go to all of them. */
  readonly panic: boolean;
  readonly endpoints: readonly EndpointStatus[];
  /** Requests that wait for a connection. */
  readonly waiting: number;
  /** How many requests were sent once more. */
  readonly retries: number;
}

/** An upstream while it is used: gives each request a target and a connection, in turn where there are too few. */
export class LiveUpstream {
  readonly upstream: Upstream;
  readonly #targets: readonly LiveEndpoint[];
  readonly #waiting: RequestQueue<QueuedRequest>;
  #turn = 0;
  #retries = 0;
  #onAdvance: (() => void) | undefined;

  /** @param tell hears of what changes with a target */
  constructor(
    upstream: Upstream,
    resolver: NameResolver,
    budget: ConnectionBudget,
    tell: (upstream: Upstream, target: LiveEndpoint, news: EndpointEvent) => void,
  ) {
    this.upstream = upstream;
    this.#waiting = new RequestQueue(upstream.queueLimit);
    this.#targets = upstream.endpoints.map(
      (target) =>
        new LiveEndpoint(target, upstream, resolver, budget, (live, news) => {
          tell(upstream, live, news);
          this.dispatch();
        }),
    );
  }

  /**
   * Gives it a connection, now or in its turn, or refuses it.
   *
   * @param failed the target that it comes back from; another one is preferred
   */
  acquire(passenger: QueuedRequest, failed?: LiveEndpoint): void {
    if (failed !== undefined) this.#retries += 1;
    const { client } = passenger;
    const isPanic = this.#isPanic(client);
    const target = this.#choose(client, isPanic, failed);
    if (target !== undefined) {
      passenger.start(target, target.breaker?.beginRequest(client) ?? 0);
    } else if (!isPanic && !this.#targets.some((one) => one.isAvailableTo(client))) {
      passenger.refuse(unavailable('no_endpoint_available'));
    } else {
      this.#wait(passenger);
    }
  }

  /** A connection is free again, or an endpoint has changed: requests leave the queue as long as nothing holds the next one. */
  dispatch(): void {
    // If there is no room after all, the queue stays as it is, and with it each request's time limit.
    for (let { next } = this.#waiting; next !== undefined && !this.#isFull(next.client); { next } = this.#waiting) {
      this.#waiting.dequeue();
      this.acquire(next);
    }
    this.#onAdvance?.();
  }

  /** It waits no longer. */
  cancel(passenger: QueuedRequest): void {
    this.#waiting.remove(passenger);
    this.#onAdvance?.();
  }

  get status(): UpstreamStatus {
    return {
      id: this.upstream.id,
      healthy: this.#targets.some(({ isAvailable }) => isAvailable),
      panic: this.#isPanic(),
      endpoints: this.#targets.map(({ status }) => status),
      waiting: this.#waiting.size,
      retries: this.#retries,
    };
  }

  /** Lets all that was admitted come to its end, then closes. */
  async close(): Promise<void> {
    while (this.#waiting.size > 0 || this.#targets.some(({ pool }) => pool.busy > 0)) {
      await new Promise<void>((resolve) => {
        this.#onAdvance = resolve;
      });
    }
    for (const target of this.#targets) target.close();
  }

  /**
   * True while no endpoint admits the client because of breakers that are on by default: requests then go to every
   * healthy endpoint, since a default must not take an upstream out of service.
   */
  #isPanic(client?: string): boolean {
    if (this.upstream.breaker?.isDefault !== true) return false;
    let isAnyHealthy = false;
    for (const target of this.#targets) {
      if (client === undefined ? target.isAvailable : target.isAvailableTo(client)) return false;
      isAnyHealthy ||= target.isHealthy;
    }
    return isAnyHealthy;
  }

  /** True if there are endpoints for this client, and none of them has room. */
  #isFull(client: string): boolean {
    const isPanic = this.#isPanic(client);
    const usable = this.#targets.filter((target) => (isPanic ? target.isHealthy : target.isAvailableTo(client)));
    return usable.length > 0 && !usable.some(({ pool }) => pool.hasRoom);
  }

  /** Of the targets that are up and have room: the next in turn, or the one with the fewest requests. */
  #choose(client: string, isPanic: boolean, failed: LiveEndpoint | undefined): LiveEndpoint | undefined {
    const targets = this.#targets;
    const isLeast = this.upstream.balance === 'least-pending';
    let best: LiveEndpoint | undefined;
    let turn = this.#turn;
    for (let step = 0; step < targets.length; step += 1) {
      const index = (this.#turn + step) % targets.length;
      const target = targets[index] as LiveEndpoint;
      if (!(isPanic ? target.isHealthy : target.isAvailableTo(client)) || !target.pool.hasRoom) continue;
      const isBetter =
        best === undefined || best === failed || (isLeast && target !== failed && target.pool.busy < best.pool.busy);
      if (!isBetter) continue;
      best = target;
      turn = index + 1;
    }
    this.#turn = turn;
    return best;
  }

  #wait(passenger: QueuedRequest): void {
    const late = () => {
      this.cancel(passenger);
      passenger.refuse(busy('queue_too_slow'));
    };
    const refused = this.#waiting.enqueue(passenger, () => setTimeout(late, this.upstream.connectTimeoutMs));
    refused?.refuse(busy(refused === passenger ? 'queue_full' : 'queue_share'));
  }
}

const RETRY_AFTER = { 'Retry-After': '1' };

function unavailable(reason: string): Refusal {
  return new Refusal('upstream_unavailable', { reason, headers: RETRY_AFTER });
}

function busy(reason: string): Refusal {
  return new Refusal('upstream_busy', { reason, headers: RETRY_AFTER });
}
