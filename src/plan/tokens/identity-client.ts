import { SharedPlaces } from '../../fairness/shared-places.ts';
import { Turns } from '../../fairness/turns.ts';
import { Breaker } from './breaker.ts';
import type { Endpoint } from './endpoint.ts';
import type { IdentityConnections } from './identity-connections.ts';
import { LONGEST_MS, NoAnswer, type Question, type Reply } from './question.ts';

/** Connections in use. One client has half of them at most. */
const MAX_CONNECTIONS = 64;
/** Questions in flight or waiting for a connection; beyond that there is no response in time anyway. */
const MAX_QUESTIONS = 2_000;
/** Statuses by which a proxy in front of an identity service reports that the service does not respond. 429 is not one of them: one client's flood may cause it. */
const ABSENT = [502, 503, 504];

/** The party that a question is asked for. */
export interface Asking {
  /** The client's key; `undefined`: the gateway itself asks. */
  readonly client: string | undefined;
  /** Aborted when nobody waits for the response. */
  readonly gone: AbortSignal;
}

/**
 * A client of one endpoint: a few kept connections, a time limit over the whole question, a breaker. Clients share connections
 * and places fairly, and nothing that a client causes counts against the identity service.
 */
export class IdentityClient {
  readonly #endpoint: Endpoint;
  readonly #timeoutMs: number;
  readonly #breaker = new Breaker();
  readonly #places = new SharedPlaces(MAX_QUESTIONS);
  readonly #inUse = new SharedPlaces(MAX_CONNECTIONS);
  readonly #queue = new Turns<string | undefined, () => void>();
  #connections: Promise<IdentityConnections> | undefined;
  #turn = 0;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.#timeoutMs = Math.min(endpoint.timeoutMs, LONGEST_MS);
  }

  /** @throws NoAnswer */
  async ask(headers: Question['headers'], form: string | undefined, asking: Asking): Promise<Reply> {
    const { client } = asking;
    if (!this.#places.take(client)) throw new NoAnswer('too_many_questions');
    try {
      if (!this.#breaker.mayAsk()) throw new NoAnswer('circuit_open');
      return await this.#askWithin(headers, form, asking);
    } finally {
      this.#places.release(client);
    }
  }

  async #askWithin(headers: Question['headers'], form: string | undefined, { client, gone }: Asking): Promise<Reply> {
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(new NoAnswer('timeout')), this.#timeoutMs);
    const leave = () => end.abort(new NoAnswer('client_gone'));
    // A trial goes on without its client: clients that leave would otherwise keep the breaker open.
    if (!this.#breaker.isOpen) gone.addEventListener('abort', leave);
    try {
      const hasWaited = await this.#waitForConnection(client, end.signal);
      return await this.#askNow(headers, form, client, end.signal, hasWaited);
    } finally {
      clearTimeout(timer);
      gone.removeEventListener('abort', leave);
    }
  }

  /** Returns true when the connection was not free at once. */
  #waitForConnection(client: string | undefined, signal: AbortSignal): boolean | Promise<boolean> {
    if (this.#inUse.take(client)) return false;
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', stop);
        resolve(true);
      };
      const stop = () => {
        this.#queue.delete(client, go);
        reject(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#queue.add(client, go);
    });
  }

  async #askNow(
    headers: Question['headers'],
    form: string | undefined,
    client: string | undefined,
    signal: AbortSignal,
    hasWaited: boolean,
  ): Promise<Reply> {
    const { targets } = this.#endpoint;
    const index = this.#turn % targets.length;
    try {
      const url = (targets[index] as Endpoint['targets'][number]).url;
      this.#connections ??= this.#load();
      const reply = await (await this.#connections).ask(index, { url, headers, form }, signal);
      // An error that one odd token causes must not shut out all others.
      if (ABSENT.includes(reply.status)) this.#breaker.failed();
      else this.#breaker.succeeded();
      return reply;
    } catch (error) {
      // After a wait the service had only the rest of the time.
      const isClients = signal.aborted && (hasWaited || (signal.reason as Error).message === 'client_gone');
      if (!isClients) {
        this.#breaker.failed();
        this.#turn += 1;
      }
      throw error;
    } finally {
      this.#inUse.release(client);
      for (let go = this.#next(); go !== undefined; go = this.#next()) go();
    }
  }

  #next(): (() => void) | undefined {
    return this.#queue.take((client) => this.#inUse.take(client));
  }

  /** With the first question: a check of a manifest reads nothing of TLS. */
  async #load(): Promise<IdentityConnections> {
    const { IdentityConnections } = await import('./identity-connections.ts');
    return new IdentityConnections(this.#endpoint, MAX_CONNECTIONS);
  }
}
