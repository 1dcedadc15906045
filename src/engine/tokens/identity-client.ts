import { CircuitBreaker } from '../gateway/circuit-breaker/circuit-breaker.ts';
import { FairSemaphore } from '../gateway/fairness/fair-semaphore.ts';
import { RoundRobinQueue } from '../gateway/fairness/round-robin-queue.ts';
import { RestartableTimeout, standstills } from '../http1/event-loop.ts';
import type { FetchResponse } from '../http1/fetch-response.ts';
import {
  GATEWAY_CLIENT,
  IDENTITY_BREAKER_RULE,
  type IdentityEndpoint,
  IdentityError,
  type IdentityRequest,
} from './identity-endpoint.ts';
import type { IdentityConnectionPools } from './send-identity-request.ts';
import type { VerificationClient } from './verifier.ts';

/** Connections in use. One client has half of them at most. */
const MAX_CONNECTIONS = 64;
/** Requests in flight or waiting for a connection. Further ones would not have a response in time. */
const MAX_REQUESTS = 2_000;
/** Statuses that a proxy sends when the identity service behind it does not respond. Not 429: one client's flood may cause it. */
const UNAVAILABLE_STATUSES = [502, 503, 504];

/** A request with a token, which any endpoint of the service can receive. */
export type TokenRequest = Omit<IdentityRequest, 'url'>;

/**
 * A client of one identity service: connection pools, a time limit for the complete exchange, a circuit breaker. Clients
 * share connections and the queue fairly, and failures that a client causes do not count against the identity service.
 */
export class IdentityClient {
  readonly #endpoint: IdentityEndpoint;
  readonly #breaker = new CircuitBreaker(IDENTITY_BREAKER_RULE);
  readonly #requests = new FairSemaphore(MAX_REQUESTS);
  readonly #connections = new FairSemaphore(MAX_CONNECTIONS);
  readonly #queue = new RoundRobinQueue<string | undefined, () => void>();
  #pools: Promise<IdentityConnectionPools> | undefined;
  #turn = 0;

  constructor(endpoint: IdentityEndpoint) {
    this.#endpoint = endpoint;
  }

  /** @throws IdentityError */
  async send(request: TokenRequest, client: VerificationClient): Promise<FetchResponse> {
    if (!this.#requests.tryAcquire(client.key)) throw new IdentityError('too_many_requests');
    try {
      const trial = this.#breaker.beginRequest(client.key ?? GATEWAY_CLIENT);
      if (trial === undefined) throw new IdentityError('circuit_open');
      return await this.#sendInTime(request, client);
    } finally {
      this.#requests.release(client.key);
    }
  }

  async #sendInTime(request: TokenRequest, { key, signal }: VerificationClient): Promise<FetchResponse> {
    const abort = new AbortController();
    const onTimeout = () => abort.abort(new IdentityError('timeout'));
    const timeout = new RestartableTimeout(this.#endpoint.timeoutMs, onTimeout).start();
    const onDisconnect = () => abort.abort(new IdentityError('client_disconnected'));
    // A trial continues without its client: clients that disconnect would otherwise keep the breaker open.
    if (this.#breaker.state === 'closed') signal.addEventListener('abort', onDisconnect);
    try {
      const hasWaited = await this.#acquireConnection(key, abort.signal);
      return await this.#sendNow(request, key, abort.signal, hasWaited);
    } finally {
      timeout.close();
      signal.removeEventListener('abort', onDisconnect);
    }
  }

  /** Acquires a connection, or waits for one. Returns true if the request had to wait. */
  #acquireConnection(client: string | undefined, signal: AbortSignal): boolean | Promise<boolean> {
    if (this.#connections.tryAcquire(client)) return false;
    return new Promise((resolve, reject) => {
      const onAcquired = () => {
        signal.removeEventListener('abort', onAbort);
        resolve(true);
      };
      const onAbort = () => {
        this.#queue.remove(client, onAcquired);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.enqueue(client, onAcquired);
    });
  }

  async #sendNow(
    request: TokenRequest,
    client: string | undefined,
    signal: AbortSignal,
    hasWaited: boolean,
  ): Promise<FetchResponse> {
    const { endpoints } = this.#endpoint;
    const index = this.#turn % endpoints.length;
    const { count } = standstills;
    try {
      const url = (endpoints[index] as IdentityEndpoint['endpoints'][number]).url;
      this.#pools ??= this.#loadPools();
      const response = await (await this.#pools).send(index, { url, ...request }, signal);
      // Other errors count as success: one odd token may cause them, and must not block all the others.
      if (UNAVAILABLE_STATUSES.includes(response.status)) this.#recordFailure(client);
      else this.#recordSuccess();
      return response;
    } catch (error) {
      // After a wait in the queue, the service had only the remaining time.
      const isCausedByClient =
        signal.aborted && (hasWaited || (signal.reason as Error).message === 'client_disconnected');
      if (!isCausedByClient && !standstills.hasHappenedSince(count)) {
        this.#recordFailure(client);
        this.#turn += 1;
      }
      throw error;
    } finally {
      this.#connections.release(client);
      for (let next = this.#dequeue(); next !== undefined; next = this.#dequeue()) next();
    }
  }

  #recordSuccess(): void {
    this.#breaker.recordResponse();
    this.#breaker.recordSuccess();
  }

  #recordFailure(client: string | undefined): void {
    this.#breaker.recordFailure('request', client ?? GATEWAY_CLIENT, 0);
  }

  #dequeue(): (() => void) | undefined {
    return this.#queue.dequeue((client) => this.#connections.tryAcquire(client));
  }

  /** Loads the pools with the first request, so that `check` and `lint` do not load the TLS library. */
  async #loadPools(): Promise<IdentityConnectionPools> {
    const { IdentityConnectionPools } = await import('./send-identity-request.ts');
    return new IdentityConnectionPools(this.#endpoint, MAX_CONNECTIONS);
  }
}
