import type { UpstreamConnection } from '../../http1/upstream-connection.ts';
import type { Upstream } from '../../settings/upstream-definition.ts';
import type { LiveEndpoint } from './live-endpoint.ts';

/** A request that needs a connection to an endpoint. */
export interface AssignableRequest {
  /** The key of the client. */
  readonly client: string;
  /** True if the request must not use a connection that is already open. */
  readonly needsNewConnection: boolean;
  /** True if the connection may become a tunnel. */
  readonly isHandshake: boolean;
}

/** A connection to an endpoint that was chosen for a request. */
export interface Assignment {
  readonly endpoint: LiveEndpoint;
  readonly connection: UpstreamConnection;
  /** The result of `CircuitBreaker.beginRequest`. */
  readonly trial: number;
}

/** `full`: the request must wait. `unavailable`: no endpoint may receive it. */
type AssignmentResult = Assignment | 'full' | 'unavailable';

/** Chooses the endpoints of requests. Each worker takes turns by itself; the room and the breakers are those of all workers. */
export class LoadBalancer {
  readonly #upstream: Upstream;
  readonly #endpoints: readonly LiveEndpoint[];
  /** Index of the endpoint whose turn is next. */
  #turn = 0;

  constructor(upstream: Upstream, endpoints: readonly LiveEndpoint[]) {
    this.#upstream = upstream;
    this.#endpoints = endpoints;
  }

  /** Chooses an endpoint and takes a connection to it. */
  assign(request: AssignableRequest, failed?: LiveEndpoint): AssignmentResult {
    const { client } = request;
    for (;;) {
      const isPanic = this.isPanic(client);
      const endpoint = this.#choose(client, isPanic, failed);
      if (endpoint === undefined) return isPanic || this.#isAvailableTo(client) ? 'full' : 'unavailable';
      const { pool, breaker } = endpoint;
      const connection = request.needsNewConnection ? pool.open(request.isHandshake) : pool.acquire();
      // Another worker took the room, or the trial, in this moment.
      if (connection === undefined) continue;
      const trial = breaker === undefined ? 0 : breaker[isPanic ? 'beginRequest' : 'tryBeginRequest'](client);
      if (trial !== undefined) return { endpoint, connection, trial };
      pool.release(connection);
    }
  }

  /**
   * True while breakers that are on by default let no request of the client through. Requests then go to every healthy endpoint,
   * because a default must not take an upstream out of service.
   */
  isPanic(client?: string): boolean {
    if (this.#upstream.breaker?.isDefault !== true) return false;
    let isAnyHealthy = false;
    for (const endpoint of this.#endpoints) {
      if (client === undefined ? endpoint.isAvailable : endpoint.isAvailableTo(client)) return false;
      isAnyHealthy ||= endpoint.isHealthy;
    }
    return isAnyHealthy;
  }

  #isAvailableTo(client: string): boolean {
    return this.#endpoints.some((endpoint) => endpoint.isAvailableTo(client));
  }

  /** Returns the next usable endpoint with room, or the one with the fewest requests, by the balance setting. */
  #choose(client: string, isPanic: boolean, failed: LiveEndpoint | undefined): LiveEndpoint | undefined {
    const endpoints = this.#endpoints;
    const isLeastPending = this.#upstream.balance === 'least-pending';
    let best: LiveEndpoint | undefined;
    let leastBusy = 0;
    let turn = this.#turn;
    for (let step = 0; step < endpoints.length; step += 1) {
      const index = (this.#turn + step) % endpoints.length;
      const endpoint = endpoints[index] as LiveEndpoint;
      const isUsable = isPanic ? endpoint.isHealthy : endpoint.isAvailableTo(client);
      if (!isUsable || !endpoint.pool.hasRoom) continue;
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
}
