import type { Duplex } from 'node:stream';
import { RestartableTimeout, standstills } from '../../http1/event-loop.ts';
import { IDEMPOTENT_METHODS } from '../../http1/http-methods.ts';
import { Http1Error } from '../../http1/http1-error.ts';
import type { RawHeaders } from '../../http1/raw-headers.ts';
import type { UpstreamConnection } from '../../http1/upstream-connection.ts';
import type { ResponseHead, UpstreamRequest } from '../../http1/upstream-request.ts';
import { CLOCK_OFFSET_MS } from '../../shared-memory/worker-context.ts';
import type { FailureSource } from '../circuit-breaker/circuit-breaker.ts';
import type { ForwardedExchange, ForwardingFacts } from '../exchange.ts';
import type { CancellableWork } from '../request/await-validation.ts';
import { RequestBody } from '../request/request-body.ts';
import { upstreamTarget } from '../request/request-head.ts';
import { Refusal } from '../response/refusal.ts';
import { fail } from '../response/refuse.ts';
import type { LiveEndpoint } from './live-endpoint.ts';
import type { Assignment, LiveUpstream, QueuedRequest } from './live-upstream.ts';
import { forwardRequestHeaders } from './proxy-headers.ts';
import { ClientDisconnected, codeOf, failureSourceOf, isTimeout, toRefusal } from './upstream-error.ts';

/** The limit of the complete exchange has expired. */
const TOTAL_TIMEOUT = 'exchange_too_long';

/**
 * Forwards one request to an endpoint of its upstream: waits for a connection, retries where that is safe, and reports results to
 * the endpoint. Its subclasses send the response to the client.
 */
export abstract class UpstreamExchange implements QueuedRequest, UpstreamRequest, CancellableWork, ForwardingFacts {
  readonly client: string;
  readonly method: string;
  readonly isHandshake: boolean;
  readonly length: number | 'chunked' | undefined;
  /** A route with a time limit limits the complete exchange instead. */
  readonly hasResponseTimeout: boolean;
  /** A failed attempt may mean that the endpoint closed its other connections too. */
  needsNewConnection: boolean;
  queueTimeout: RestartableTimeout | undefined;
  path = '';
  headers: RawHeaders = [];
  readonly forwardedAt = performance.now();
  respondedAt: number | undefined;
  wasSent = false;
  retries = 0;
  endpoint: LiveEndpoint | undefined;
  readonly body: Buffer | RequestBody | null;
  protected readonly exchange: ForwardedExchange;
  protected connection: UpstreamConnection | undefined;
  readonly #upstream: LiveUpstream;
  /** Without the `Host` of the endpoint. */
  #headers: RawHeaders = [];
  #timeout: RestartableTimeout | undefined;
  /** The result of `CircuitBreaker.beginRequest` for this attempt. */
  #trial = 0;
  #attempts = 0;
  /** The standstills of this thread before this attempt. */
  #standstills = 0;
  #isSent = false;
  /** The status of the latest head, informational (1xx) responses included; 0 before it. */
  #status = 0;
  #isOver = false;

  constructor(exchange: ForwardedExchange, upstream: LiveUpstream) {
    this.client = exchange.client;
    this.method = exchange.request.method;
    this.isHandshake = exchange.isHandshake;
    this.needsNewConnection = exchange.isHandshake;
    this.length = exchange.body?.length ?? exchange.head.body;
    this.hasResponseTimeout = exchange.route.timeoutMs === undefined;
    this.body = exchange.body ?? (exchange.head.body === undefined ? null : new RequestBody(exchange));
    this.exchange = exchange;
    exchange.forwarding = this;
    this.#upstream = upstream;
  }

  abstract onHead(head: ResponseHead): void;
  abstract onData(bytes: Buffer): void;
  abstract onReadComplete(): void;
  abstract onEnd(trailers: RawHeaders): void;

  /** Sends the request as soon as an endpoint has a connection for it. */
  forward(): void {
    const { route, target, trace } = this.exchange;
    const limitMs = route.timeoutMs ?? this.#upstream.upstream.totalTimeoutMs;
    this.#headers = forwardRequestHeaders(this.exchange, trace);
    this.path = upstreamTarget(route, target);
    if (limitMs !== undefined)
      this.#timeout = new RestartableTimeout(limitMs, () =>
        this.stop(new Refusal('upstream_timeout', { reason: TOTAL_TIMEOUT })),
      ).start();
    this.exchange.work = this;
    this.#upstream.acquire(this);
  }

  get uploadMs(): number {
    return this.#isUploading ? performance.now() - this.forwardedAt : 0;
  }

  /** The client has disconnected. */
  cancel(): void {
    this.stop(new ClientDisconnected());
  }

  start({ endpoint, connection, trial }: Assignment): void {
    this.endpoint = endpoint;
    this.#trial = trial;
    this.needsNewConnection = true;
    this.#attempts += 1;
    this.#standstills = standstills.count;
    this.#send(endpoint, connection);
  }

  onRequestStart(): void {
    this.#isSent = true;
    this.wasSent = true;
    if (!(this.body instanceof RequestBody)) return;
    this.#upstream.uploads.add(this);
    this.exchange.beginBody();
  }

  onStale(): void {
    const endpoint = this.endpoint as LiveEndpoint;
    this.#send(endpoint, endpoint.pool.replace(this.connection as UpstreamConnection, this.isHandshake));
  }

  /** Refuses a switch of the protocol. */
  onUpgrade(_head: ResponseHead, socket: Duplex): void {
    socket.destroy();
    this.onError(new Http1Error('upgrade_unexpected'));
  }

  onError(error: unknown): void {
    const isRetried = this.#isRetryable(error);
    // A stale connection is no sign of a failing endpoint. The retry gives the result.
    if (!isRetried || !this.#isSent) this.#recordFailure(error);
    this.#releaseConnection(false);
    if (isRetried) {
      this.retries += 1;
      this.#upstream.acquire(this, this.endpoint);
    } else {
      this.refuse(error);
    }
  }

  /** A head arrived, informational (1xx) responses included. @param now by `performance.now()` */
  protected recordHead(status: number, now = performance.now()): void {
    const { breaker, observed } = this.endpoint as LiveEndpoint;
    if (this.#status === 0) breaker?.recordResponse();
    this.#status = status;
    if (status >= 200 || status === 101) observed.recordResponse(status, this.client, now + CLOCK_OFFSET_MS);
  }

  /** The response is complete, or the connection has become a tunnel. @param tunnel counts as a connection until it closes */
  protected complete(tunnel?: Duplex): void {
    this.#isOver = true;
    this.#timeout?.close();
    this.endpoint?.breaker?.recordSuccess();
    this.endpoint?.observed.recordCompletion(this.#status);
    if (tunnel === undefined) this.#releaseConnection(true);
    else tunnel.once('close', () => this.#releaseConnection(false));
  }

  #send(endpoint: LiveEndpoint, connection: UpstreamConnection): void {
    const { head, route } = this.exchange;
    this.connection = connection;
    this.#isSent = false;
    // A request of HTTP/1.0 may have no Host.
    const hasHost = head.host !== undefined && route.upstream.host === 'client';
    this.headers = hasHost ? this.#headers : ['Host', endpoint.host, ...this.#headers];
    connection.send(this);
  }

  /** True if the request can be sent again: nothing was sent, or an idempotent request met a stale connection. */
  #isRetryable(error: unknown): boolean {
    const { retry, endpoints } = this.#upstream.upstream;
    if (!retry || this.#isOver || error instanceof Refusal || error instanceof ClientDisconnected) return false;
    if (!this.#isSent) return this.#attempts < endpoints.length;
    const wasStale = this.#status === 0 && !isTimeout(error) && this.connection?.mayHaveBeenStale === true;
    // The bytes of a streamed body are gone.
    const isRepeatable = IDEMPOTENT_METHODS.has(this.method) && !(this.body instanceof RequestBody);
    return this.#attempts === 1 && wasStale && isRepeatable;
  }

  /** Reports a failure to the breaker, the health and the metrics of the endpoint. */
  #recordFailure(error: unknown): void {
    const endpoint = this.endpoint;
    if (endpoint === undefined) return;
    const source = this.#sourceOf(error);
    const hasWaited = this.#isSent && this.#status === 0 && !this.#isUploading;
    if (hasWaited && error instanceof ClientDisconnected) endpoint.abandoned.add(1);
    endpoint.breaker?.recordFailure(source, this.client, this.#trial);
    endpoint.observed.recordFailure(source, this.client, toRefusal(error).reason, this.#status);
  }

  /** Returns the party that may have caused a failure. */
  #sourceOf(error: unknown): FailureSource {
    if (error instanceof ClientDisconnected) return 'client';
    if (standstills.hasHappenedSince(this.#standstills)) return 'gateway';
    const code = codeOf(error);
    const hasResponse = this.#status > 0;
    if (error instanceof Refusal) {
      if (code !== TOTAL_TIMEOUT) return failureSourceOf(code) ?? 'client';
      // This limit also runs while a slow client reads the response.
      if (hasResponse) return 'client';
    } else if (!this.#isSent) {
      return failureSourceOf(code) === 'gateway' ? 'gateway' : 'endpoint';
    }
    // An event stream has no other end than the close of its connection, and clients open it again.
    if (this.exchange.isLongLived) return 'client';
    // An upstream that responds early and closes resets the connection, because it has not read the rest of the body.
    if (hasResponse && this.body !== null && code === 'ECONNRESET') return 'client';
    // An upstream may close because the client sends or reads slowly. An upstream that stops reading an upload fails by itself.
    if ((this.#isUploading && code !== 'response_timeout') || this.connection?.wasPaused === true) return 'client';
    return failureSourceOf(code) ?? 'request';
  }

  /** True while the client is still sending the body; false if the body is in memory. */
  get #isUploading(): boolean {
    return this.body instanceof RequestBody && !this.exchange.request.isComplete;
  }

  /** Ends the exchange early, in the queue or on its connection. */
  stop(reason: unknown): void {
    if (this.#isOver) return;
    if (this.connection === undefined) {
      this.#upstream.cancel(this);
      this.refuse(reason);
    } else {
      this.connection.abort(reason);
    }
  }

  /** Ends the exchange with an error, for which the client receives a refusal. */
  refuse(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timeout?.close();
    fail(this.exchange, error instanceof ClientDisconnected ? error : toRefusal(error));
  }

  #releaseConnection(isReusable: boolean): void {
    const connection = this.connection;
    if (connection === undefined) return;
    this.connection = undefined;
    if (this.body instanceof RequestBody) this.#upstream.uploads.delete(this);
    if (isReusable) this.endpoint?.pool.release(connection);
    else this.endpoint?.pool.discard(connection);
    this.#upstream.dispatch();
  }
}
