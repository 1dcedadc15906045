import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { clientKey } from '../fairness/client-key.ts';
import type { Cors, Principal, Route, ServerRules, WaitingClient } from '../plan/plan.ts';
import type { BufferBudget } from './buffer-budget.ts';
import type { Connection } from './connection.ts';
import { withCors } from './cors.ts';
import { ClientGone } from './failure.ts';
import { type Believed, readBelieved } from './forwarded.ts';
import type { EndReason, Lasting } from './lasting.ts';
import type { Head } from './message.ts';
import type { Target } from './path.ts';
import { busy, type Refusal } from './refusal.ts';
import type { Trace, Traces } from './trace.ts';

export interface Handshake {
  readonly socket: Duplex;
  /** What the client sent too early, once; from then on the socket is the tunnel's. */
  readonly takeEarly: () => Buffer;
}

export interface Begun {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly expectsContinue?: boolean;
  readonly handshake?: Handshake;
  readonly cors: Cors | undefined;
  readonly connection: Connection;
  /** Who is believed what he says of the request. */
  readonly trusts: ServerRules['trusts'];
  readonly life: Life;
}

/** What all exchanges of a server share. */
export interface Life {
  /** Answers are the last ones of their connections. */
  readonly isDraining: boolean;
  /** No connections are taken any more, and tunnels end. */
  readonly isClosing: boolean;
  readonly traces: Traces;
  readonly lasting: Lasting;
  readonly buffers: BufferBudget;
}

/** One request and its answer, with what became known of them on the way; the access log reads it at the end. */
export class Exchange {
  /** A trusted proxy's, or one of its own. */
  readonly id: string;
  readonly startedAt = performance.now();
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  /** What the proxy before the gateway says; `undefined`: its peer is not to be believed. */
  readonly believed: Believed | undefined;
  /** The key of the client, for its share of everything that clients share. */
  readonly client: string;
  /** The client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  readonly expectsContinue: boolean;
  /** The client's socket and what came on it after a WebSocket handshake, when the request is one. */
  readonly handshake: Handshake | undefined;
  /** Every answer, refusals too, says what pages of other origins may do. */
  readonly cors: Cors | undefined;
  /** The connection became a tunnel: there is no answer, and the exchange ends with the socket. */
  isTunnel = false;
  head: Head | undefined;
  trace: Trace | undefined;
  target: Target | undefined;
  route: Route | undefined;
  /** The verified caller; at login, whom the token in the answer names. */
  principal: Principal | undefined;
  refusal: Refusal | undefined;
  /** What would have been refused, where the route only reports. */
  reported: Refusal[] | undefined;
  /** Ends what goes on behind the gateway when the client leaves before the answer is whole. */
  onClientGone: (() => void) | undefined;
  /** Of the body, as far as it was read; of a tunnel, what the client sent. */
  receivedBytes = 0;
  /** Of the answer's body; of a tunnel, what the upstream sent. */
  sentBytes = 0;
  /** How often it was sent once more. */
  retries = 0;
  /** Milliseconds after `startedAt`. */
  forwardedAt: number | undefined;
  answeredAt: number | undefined;

  readonly #life: Life;
  #bufferedBytes = 0;
  #isOver = false;

  constructor({ request, response, expectsContinue = false, handshake, cors, connection, trusts, life }: Begun) {
    this.believed =
      trusts !== undefined && connection.isTrusted(trusts) ? readBelieved(request.rawHeaders, trusts) : undefined;
    const client = this.believed?.client;
    this.client = client === undefined ? connection.client : clientKey(client);
    this.id = this.believed?.requestId ?? randomUUID();
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.expectsContinue = expectsContinue;
    this.handshake = handshake;
    this.cors = cors;
    this.#life = life;
  }

  /** The head was read: what is known from it. @param sampledTraces the share of the traces begun here that are marked so */
  begin(head: Head, sampledTraces: number): void {
    this.head = head;
    this.trace = this.#life.traces.begin(this, head.traceparent, sampledTraces);
  }

  /** Writes the head of the answer; the last one on its connection when the gateway goes away. */
  writeHead(status: number, reason: string, headers: readonly string[]): void {
    if (this.#life.isDraining) this.response.shouldKeepAlive = false;
    const { cors, request } = this;
    const all = cors === undefined ? headers : withCors(cors, request.headers.origin, headers);
    this.response.writeHead(status, reason, all as string[]);
    this.connection.trimHead(this.response);
  }

  /**
   * Refuses what does not fit; where the route only reports, it is noted for the log and goes on.
   *
   * @throws Refusal
   */
  refuseInvalid(refusal: Refusal): void {
    if (!this.reports(refusal)) throw refusal;
  }

  /** Notes what does not fit for the log, and answers whether that is all: it is where the route only reports. */
  reports(refusal: Refusal): boolean {
    if (this.route?.validation !== 'report') return false;
    this.reported ??= [];
    this.reported.push(refusal);
    return true;
  }

  /** Asks a waiting client for the body, once everything that could refuse it has passed. */
  askForBody(): void {
    if (this.expectsContinue && this.mayInform) this.response.writeContinue();
  }

  /** True while the client may be sent an informational response. */
  get mayInform(): boolean {
    return !this.response.headersSent && !this.connection.isHalfClosed;
  }

  /** From now on it lasts for as long as both ends stay, unless a reload changes its route. @param end ends it early */
  last(end: (reason: EndReason) => void): void {
    // Within a response without chunks nothing tells that such a client leaves.
    const isUnwatched = this.connection.isHalfClosed && !this.response.chunkedEncoding;
    if (this.#life.isClosing || isUnwatched) end('going_away');
    else this.#life.lasting.add(this, end);
  }

  /** The client, for work that ends when it leaves. */
  waitingClient(): WaitingClient {
    const gone = new AbortController();
    this.onClientGone = () => gone.abort();
    return { key: this.client, gone: gone.signal };
  }

  /**
   * Counts bytes that the gateway holds in memory for this exchange until it ends.
   *
   * @throws Refusal `gateway_busy`; ClientGone
   */
  buffer(bytes: number): void {
    if (this.#isOver) throw new ClientGone();
    const refusal = this.#life.buffers.take(this.client, bytes);
    if (refusal !== undefined) throw busy(refusal);
    this.#bufferedBytes += bytes;
  }

  /** The exchange is over, and with it all that was buffered for it. */
  release(): void {
    this.#isOver = true;
    if (this.#bufferedBytes > 0) this.#life.buffers.release(this.client, this.#bufferedBytes);
    this.#bufferedBytes = 0;
  }

  elapsedMs(): number {
    return performance.now() - this.startedAt;
  }
}
