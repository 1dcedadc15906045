import type { Duplex } from 'node:stream';
import { IDEMPOTENT_METHODS } from '../../http-methods.ts';
import type { ResponseHead } from '../../http1/response-head.ts';
import type { UpstreamConnection } from '../../http1/upstream-connection.ts';
import type { ResponseSink } from '../../http1/upstream-request.ts';
import { RequestBody } from '../request/request-body.ts';
import { Refusal } from '../response/refusal.ts';
import { refuse } from '../response/refuse.ts';
import { buildBody, buildHeaders, buildUpstreamRequest } from './build-request.ts';
import { type FailureSource, failureSourceOf } from './failure-sources.ts';
import type { ForwardRequest } from './forwarder.ts';
import type { LiveEndpoint } from './live-endpoint.ts';
import type { LiveUpstream, QueuedRequest } from './live-upstream.ts';
import { ClientDisconnected, isTimeout, toRefusal, UpstreamError } from './upstream-error.ts';

/**
 * A request on its way to a target and its answer on the way back, over one connection or, where that is safe, over a
 * second one. What comes of the answer is the receiver's.
 */
export class UpstreamExchange implements QueuedRequest, ResponseSink {
  readonly client: string;
  readonly #outgoing: ForwardRequest;
  readonly #upstream: LiveUpstream;
  readonly #headers: string[];
  #timer: NodeJS.Timeout | undefined;
  #target: LiveEndpoint | undefined;
  #connection: UpstreamConnection | undefined;
  /** The request is being written, or was. */
  #isBegun = false;
  #body: Buffer | RequestBody | null = null;
  #trial = 0;
  /** When it was sent, in milliseconds of the exchange. */
  #sentMs = 0;
  #tries = 0;
  /** A byte of an answer has come, if only of one before the answer. */
  #isAnswered = false;
  /** The answer is whole, or the client was told that there is none, or left. */
  #isOver = false;

  constructor(outgoing: ForwardRequest, upstream: LiveUpstream) {
    this.client = outgoing.exchange.client;
    this.#outgoing = outgoing;
    this.#upstream = upstream;
    this.#headers = buildHeaders(outgoing);
  }

  /** Sends the request as soon as an endpoint has a connection for it. */
  forward(): void {
    const { route, exchange } = this.#outgoing;
    const limitMs = route.timeoutMs ?? this.#upstream.upstream.totalTimeoutMs;
    if (limitMs !== undefined) this.#timer = setTimeout(() => this.#stop(exchangeTimeout()), limitMs);
    exchange.onClientDisconnected = () => this.#stop(new ClientDisconnected());
    this.#upstream.acquire(this);
  }

  start(target: LiveEndpoint, trial: number): void {
    this.#target = target;
    this.#trial = trial;
    if (target.breaker !== undefined) this.#sentMs = this.#outgoing.exchange.elapsedMs();
    this.#tries += 1;
    const isFresh = this.#tries > 1 || this.#outgoing.exchange.handshake !== undefined;
    this.#send(isFresh ? this.#open(target) : target.pool.acquire(), target);
  }

  onRequestStart(): void {
    this.#isBegun = true;
  }

  onStale(): void {
    const target = this.#target as LiveEndpoint;
    target.pool.discard(this.#connection as UpstreamConnection);
    this.#send(this.#open(target), target);
  }

  refuse(refusal: Refusal): void {
    this.#fail(new UpstreamError(refusal));
  }

  onHead(head: ResponseHead): void {
    const target = this.#target as LiveEndpoint;
    if (target.breaker !== undefined && !this.#isAnswered) {
      target.responseTime.add(this.#outgoing.exchange.elapsedMs() - this.#sentMs);
      target.breaker.recordResponse();
    }
    this.#isAnswered = true;
    this.#outgoing.clientResponse.onHead(this.#connection as UpstreamConnection, head);
  }

  onData(bytes: Buffer): void {
    this.#outgoing.clientResponse.onData(this.#connection as UpstreamConnection, bytes);
  }

  onReadComplete(): void {
    this.#outgoing.clientResponse.onWaiting?.();
  }

  onEnd(trailers: readonly string[]): void {
    try {
      this.#outgoing.clientResponse.onEnd(trailers);
    } catch (error) {
      this.onError(error as Error);
      return;
    }
    this.#settle();
    this.#target?.breaker?.recordSuccess();
    this.#disembark(false);
  }

  onUpgrade(head: ResponseHead, socket: Duplex): void {
    try {
      this.#outgoing.clientResponse.onSwitch?.(head, socket);
    } catch (error) {
      socket.destroy();
      this.onError(error as Error);
      return;
    }
    this.#settle();
    this.#target?.breaker?.recordResponse();
    this.#target?.breaker?.recordSuccess();
    // Until it ends, the tunnel counts as one of the target's connections.
    socket.once('close', () => this.#disembark(true));
  }

  onError(error: Error): void {
    const target = this.#target;
    const isAgain = this.#mayTryAgain(error);
    // A kept connection that its upstream was about to close says nothing about the endpoint; the next try does.
    if (!isAgain || !this.#isBegun) this.#count(error);
    this.#disembark(true);
    if (isAgain) {
      this.#outgoing.exchange.retries += 1;
      this.#upstream.acquire(this, target);
    } else {
      this.#fail(error);
    }
  }

  #open(target: LiveEndpoint): UpstreamConnection {
    return target.pool.open(this.#outgoing.exchange.handshake !== undefined);
  }

  #send(connection: UpstreamConnection, to: LiveEndpoint): void {
    this.#connection = connection;
    this.#isBegun = false;
    this.#body = buildBody(this.#outgoing);
    const call = buildUpstreamRequest(this.#outgoing, to.host, this.#headers, this.#body);
    connection.send(call, this);
  }

  /** Counts the failure, for the breaker and the metrics of its endpoint. */
  #count(error: Error): void {
    const target = this.#target;
    if (target === undefined) return;
    const isAbandoned = error instanceof ClientDisconnected && this.#isBegun && !this.#isAnswered && this.#isWhole;
    if (isAbandoned) target.abandoned += 1;
    const waitedMs = this.#outgoing.exchange.elapsedMs() - this.#sentMs;
    // The time of a streamed upload is the client's own.
    const isLong = isAbandoned && !(this.#body instanceof RequestBody) && target.responseTime.isSlow(waitedMs);
    if (isLong) target.breaker?.recordAbandoned(this.client);
    else target.breaker?.recordFailure(this.#sourceOf(error), this.client, this.#trial);
  }

  /** True once the client has sent all of its request. */
  get #isWhole(): boolean {
    return !(this.#body instanceof RequestBody) || this.#outgoing.exchange.request.complete;
  }

  #sourceOf(error: Error & { code?: string }): FailureSource {
    if (error instanceof ClientDisconnected) return 'client';
    const isLate = error instanceof UpstreamError && error.refusal.code === 'upstream_timeout';
    if (error instanceof UpstreamError && !isLate) return failureSourceOf(error.refusal.reason) ?? 'client';
    // The limit of the whole exchange also runs while the response is on its way to a slow client.
    if (isLate && this.#isAnswered) return 'client';
    if (!isLate && !this.#isBegun) return failureSourceOf(error.code ?? '') === 'gateway' ? 'gateway' : 'endpoint';
    // A client that sends or reads slowly makes upstreams give up. One that reads nothing of an upload is at fault itself.
    const isUnread = error.code === 'response_timeout';
    // An upstream that responds early and closes resets its own response, since the rest of the body is unread.
    if (this.#isAnswered && this.#body !== null && error.code === 'ECONNRESET') return 'client';
    if ((!this.#isWhole && !isUnread) || this.#connection?.wasPaused === true) return 'client';
    return (isLate ? failureSourceOf('exchange_too_long') : failureSourceOf(error.code ?? '')) ?? 'request';
  }

  /** Safe are: nothing was sent; or a kept-alive connection died unanswered, and to do it twice is to do it once. */
  #mayTryAgain(error: Error): boolean {
    const { upstream } = this.#upstream;
    if (!upstream.retry || this.#isOver || error instanceof UpstreamError || error instanceof ClientDisconnected)
      return false;
    if (!this.#isBegun) return this.#tries < upstream.endpoints.length;
    const isWhole = !(this.#body instanceof RequestBody) || !this.#body.isStarted;
    const isIdempotent = IDEMPOTENT_METHODS.has(this.#outgoing.exchange.request.method ?? '');
    const isDead = !this.#isAnswered && !isTimeout(error) && this.#connection?.mayHaveBeenStale === true;
    return this.#tries === 1 && isDead && isIdempotent && isWhole;
  }

  /** Ends it early, wherever it is. */
  #stop(reason: Error): void {
    if (this.#isOver) return;
    if (this.#connection === undefined) {
      this.#upstream.cancel(this);
      this.#fail(reason);
    } else {
      this.#connection.abort(reason);
    }
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#settle();
    const { exchange } = this.#outgoing;
    // Once the answer has begun, a cut connection is the only way to say that it is not whole.
    // An answer that was ended early is whole to the client, whose connection goes on.
    if (error instanceof ClientDisconnected) {
      if (!exchange.response.writableFinished) exchange.response.destroy();
    } else refuse(exchange, toRefusal(error));
  }

  #settle(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #disembark(isLost: boolean): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    if (isLost) this.#target?.pool.discard(connection);
    else this.#target?.pool.release(connection);
    this.#upstream.dispatch();
  }
}

function exchangeTimeout(): UpstreamError {
  return new UpstreamError(new Refusal('upstream_timeout', { reason: 'exchange_too_long' }));
}
