import { FairSemaphore } from '../../fairness/fair-semaphore.ts';
import { RoundRobinQueue } from '../../fairness/round-robin-queue.ts';
import { IdentityBreaker } from './identity-breaker.ts';
import type { IdentityConnectionPools } from './identity-connection-pools.ts';
import type { IdentityEndpoint } from './identity-endpoint.ts';
import { IdentityError, type IdentityRequest, type IdentityResponse, MAX_TIMER_MS } from './identity-request.ts';

/** Connections in use. One client has half of them at most. */
const MAX_CONNECTIONS = 64;
/** Questions in flight or waiting for a connection; beyond that there is no response in time anyway. */
const MAX_QUESTIONS = 2_000;
/** Statuses by which a proxy in front of an identity service reports that the service does not respond. 429 is not one of them: one client's flood may cause it. */
const ABSENT = [502, 503, 504];

/** The party that a question is asked for. */
export interface VerificationContext {
  /** The client's key; `undefined`: the gateway itself asks. */
  readonly clientKey: string | undefined;
  /** Aborted when nobody waits for the response. */
  readonly signal: AbortSignal;
}

/**
 * A client of one endpoint: a few kept connections, a time limit over the whole question, a breaker. Clients share connections
 * and places fairly, and nothing that a client causes counts against the identity service.
 */
export class IdentityClient {
  readonly #endpoint: IdentityEndpoint;
  readonly #timeoutMs: number;
  readonly #breaker = new IdentityBreaker();
  readonly #places = new FairSemaphore(MAX_QUESTIONS);
  readonly #inUse = new FairSemaphore(MAX_CONNECTIONS);
  readonly #queue = new RoundRobinQueue<string | undefined, () => void>();
  #connections: Promise<IdentityConnectionPools> | undefined;
  #turn = 0;

  constructor(endpoint: IdentityEndpoint) {
    this.#endpoint = endpoint;
    this.#timeoutMs = Math.min(endpoint.timeoutMs, MAX_TIMER_MS);
  }

  /** @throws NoAnswer */
  async send(
    headers: IdentityRequest['headers'],
    form: string | undefined,
    asking: VerificationContext,
  ): Promise<IdentityResponse> {
    const { clientKey } = asking;
    if (!this.#places.tryAcquire(clientKey)) throw new IdentityError('too_many_requests');
    try {
      if (!this.#breaker.mayRequest(clientKey)) throw new IdentityError('circuit_open');
      return await this.#askWithin(headers, form, asking);
    } finally {
      this.#places.release(clientKey);
    }
  }

  async #askWithin(
    headers: IdentityRequest['headers'],
    form: string | undefined,
    { clientKey, signal }: VerificationContext,
  ): Promise<IdentityResponse> {
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(new IdentityError('timeout')), this.#timeoutMs);
    const leave = () => end.abort(new IdentityError('client_gone'));
    // A trial goes on without its client: clients that leave would otherwise keep the breaker open.
    if (!this.#breaker.isOpen) signal.addEventListener('abort', leave);
    try {
      const hasWaited = await this.#waitForConnection(clientKey, end.signal);
      return await this.#askNow(headers, form, clientKey, end.signal, hasWaited);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  /** Returns true when the connection was not free at once. */
  #waitForConnection(client: string | undefined, signal: AbortSignal): boolean | Promise<boolean> {
    if (this.#inUse.tryAcquire(client)) return false;
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', stop);
        resolve(true);
      };
      const stop = () => {
        this.#queue.remove(client, go);
        reject(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#queue.enqueue(client, go);
    });
  }

  async #askNow(
    headers: IdentityRequest['headers'],
    form: string | undefined,
    client: string | undefined,
    signal: AbortSignal,
    hasWaited: boolean,
  ): Promise<IdentityResponse> {
    const { endpoints } = this.#endpoint;
    const index = this.#turn % endpoints.length;
    try {
      const url = (endpoints[index] as IdentityEndpoint['endpoints'][number]).url;
      this.#connections ??= this.#load();
      const reply = await (await this.#connections).send(index, { url, headers, form }, signal);
      // An error that one odd token causes must not shut out all others.
      if (ABSENT.includes(reply.status)) this.#breaker.recordFailure(client);
      else this.#breaker.recordSuccess();
      return reply;
    } catch (error) {
      // After a wait the service had only the rest of the time.
      const isClients = signal.aborted && (hasWaited || (signal.reason as Error).message === 'client_gone');
      if (!isClients) {
        this.#breaker.recordFailure(client);
        this.#turn += 1;
      }
      throw error;
    } finally {
      this.#inUse.release(client);
      for (let go = this.#next(); go !== undefined; go = this.#next()) go();
    }
  }

  #next(): (() => void) | undefined {
    return this.#queue.dequeue((client) => this.#inUse.tryAcquire(client));
  }

  /** With the first question: a check of a manifest reads nothing of TLS. */
  async #load(): Promise<IdentityConnectionPools> {
    const { IdentityConnectionPools } = await import('./identity-connection-pools.ts');
    return new IdentityConnectionPools(this.#endpoint, MAX_CONNECTIONS);
  }
}
