import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { clientKey } from '../fairness/client-key.ts';
import type { Route } from '../plan/route-definition.ts';
import type { Cors } from '../plan/settings/cors.ts';
import type { ServerSettings } from '../plan/settings/server.ts';
import type { Principal } from '../plan/tokens/verification-result.ts';
import type { VerificationClient } from '../plan/tokens/verifier.ts';
import { type ForwardedInfo, readForwardedInfo } from './request/forwarded-info.ts';
import type { RequestHead } from './request/request-head.ts';
import type { RequestTarget } from './request/request-target.ts';
import { withCorsHeaders } from './response/cors.ts';
import { gatewayBusy, type Refusal } from './response/refusal.ts';
import type { BufferBudget } from './server/buffer-budget.ts';
import type { ClientConnection } from './server/client-connection.ts';
import type { EndReason, LongLivedExchanges } from './server/long-lived-exchanges.ts';
import type { RequestTrace, RequestTracer } from './telemetry/trace.ts';
import { ClientDisconnected } from './upstream/upstream-error.ts';

export interface WebSocketHandshake {
  readonly socket: Duplex;
  /** What the client sent too early, once; from then on the socket is the tunnel's. */
  readonly takeEarlyData: () => Buffer;
}

export interface ExchangeOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly expectsContinue?: boolean;
  readonly handshake?: WebSocketHandshake;
  readonly cors: Cors | undefined;
  readonly connection: ClientConnection;
  /** Who is believed what he says of the request. */
  readonly trustedProxies: ServerSettings['trustedProxies'];
  readonly serverState: ServerState;
}

/** What all exchanges of a server share. */
export interface ServerState {
  /** Answers are the last ones of their connections. */
  readonly isDraining: boolean;
  /** No connections are taken any more, and tunnels end. */
  readonly isClosing: boolean;
  readonly tracer: RequestTracer;
  readonly longLived: LongLivedExchanges;
  readonly bufferBudget: BufferBudget;
}

/** One request and its answer, with what became known of them on the way; the access log reads it at the end. */
export class Exchange {
  /** A trusted proxy's, or one of its own. */
  readonly id: string;
  readonly startedAt = performance.now();
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: ClientConnection;
  /** What the proxy before the gateway says; `undefined`: its peer is not to be believed. */
  readonly forwardedInfo: ForwardedInfo | undefined;
  /** The key of the client, for its share of everything that clients share. */
  readonly client: string;
  /** The client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  readonly expectsContinue: boolean;
  /** The client's socket and what came on it after a WebSocket handshake, when the request is one. */
  readonly handshake: WebSocketHandshake | undefined;
  /** Every answer, refusals too, says what pages of other origins may do. */
  readonly cors: Cors | undefined;
  /** The connection became a tunnel: there is no answer, and the exchange ends with the socket. */
  isTunnel = false;
  head: RequestHead | undefined;
  trace: RequestTrace | undefined;
  target: RequestTarget | undefined;
  route: Route | undefined;
  /** The verified caller; at login, whom the token in the answer names. */
  principal: Principal | undefined;
  refusal: Refusal | undefined;
  /** What would have been refused, where the route only reports. */
  reportedRefusals: Refusal[] | undefined;
  /** Ends what goes on behind the gateway when the client leaves before the answer is whole. */
  onClientDisconnected: (() => void) | undefined;
  /** Of the body, as far as it was read; of a tunnel, what the client sent. */
  receivedBytes = 0;
  /** Of the answer's body; of a tunnel, what the upstream sent. */
  sentBytes = 0;
  /** How often it was sent once more. */
  retries = 0;
  /** Milliseconds after `startedAt`. */
  forwardedAfterMs: number | undefined;
  respondedAfterMs: number | undefined;

  readonly #life: ServerState;
  #bufferedBytes = 0;
  #isOver = false;

  constructor({
    request,
    response,
    expectsContinue = false,
    handshake,
    cors,
    connection,
    trustedProxies,
    serverState,
  }: ExchangeOptions) {
    this.forwardedInfo =
      trustedProxies !== undefined && connection.isTrustedProxy(trustedProxies)
        ? readForwardedInfo(request.rawHeaders, trustedProxies)
        : undefined;
    const client = this.forwardedInfo?.client;
    this.client = client === undefined ? connection.client : clientKey(client);
    this.id = this.forwardedInfo?.requestId ?? randomUUID();
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.expectsContinue = expectsContinue;
    this.handshake = handshake;
    this.cors = cors;
    this.#life = serverState;
  }

  /** The head was read: what is known from it. @param sampledTraces the share of the traces begun here that are marked so */
  setHead(head: RequestHead, sampledTraces: number): void {
    this.head = head;
    this.trace = this.#life.tracer.begin(this, head.traceparent, sampledTraces);
  }

  /** Writes the head of the answer; the last one on its connection when the gateway goes away. */
  writeHead(status: number, reason: string, headers: readonly string[]): void {
    if (this.#life.isDraining) this.response.shouldKeepAlive = false;
    const { cors, request } = this;
    const all = cors === undefined ? headers : withCorsHeaders(cors, request.headers.origin, headers);
    this.response.writeHead(status, reason, all as string[]);
    this.connection.trimSentBytes(this.response);
  }

  /**
   * Refuses what does not fit; where the route only reports, it is noted for the log and goes on.
   *
   * @throws Refusal
   */
  refuseOrReport(refusal: Refusal): void {
    if (!this.tryReport(refusal)) throw refusal;
  }

  /** Notes what does not fit for the log, and answers whether that is all: it is where the route only reports. */
  tryReport(refusal: Refusal): boolean {
    if (this.route?.validation !== 'report') return false;
    this.reportedRefusals ??= [];
    this.reportedRefusals.push(refusal);
    return true;
  }

  /** Asks a waiting client for the body, once everything that could refuse it has passed. */
  sendContinue(): void {
    if (this.expectsContinue && this.maySendInformational) this.response.writeContinue();
  }

  /** True while the client may be sent an informational response. */
  get maySendInformational(): boolean {
    return !this.response.headersSent && !this.connection.isHalfClosed;
  }

  /** From now on it lasts for as long as both ends stay, unless a reload changes its route. @param end ends it early */
  trackLongLived(end: (reason: EndReason) => void): void {
    // Within a response without chunks nothing tells that such a client leaves.
    const isUnwatched = this.connection.isHalfClosed && !this.response.chunkedEncoding;
    if (this.#life.isClosing || isUnwatched) end('going_away');
    else this.#life.longLived.add(this, end);
  }

  /** The client, for work that ends when it leaves. */
  waitingClient(): VerificationClient {
    const gone = new AbortController();
    this.onClientDisconnected = () => gone.abort();
    return { key: this.client, signal: gone.signal };
  }

  /**
   * Counts bytes that the gateway holds in memory for this exchange until it ends.
   *
   * @throws Refusal `gateway_busy`; ClientGone
   */
  reserve(bytes: number): void {
    if (this.#isOver) throw new ClientDisconnected();
    const refusal = this.#life.bufferBudget.acquire(this.client, bytes);
    if (refusal !== undefined) throw gatewayBusy(refusal);
    this.#bufferedBytes += bytes;
  }

  /** The exchange is over, and with it all that was buffered for it. */
  release(): void {
    this.#isOver = true;
    if (this.#bufferedBytes > 0) this.#life.bufferBudget.release(this.client, this.#bufferedBytes);
    this.#bufferedBytes = 0;
  }

  elapsedMs(): number {
    return performance.now() - this.startedAt;
  }
}
