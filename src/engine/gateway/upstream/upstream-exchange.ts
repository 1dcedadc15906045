import type { Duplex } from 'node:stream';
import { RestartableTimeout, standstills } from '../../http1/event-loop.ts';
import type { ResponseHead } from '../../http1/message-head.ts';
import type { RawHeaders } from '../../http1/raw-headers.ts';
import type { UpstreamConnection } from '../../http1/upstream-connection.ts';
import type { FlowControl, ResponseSink, UpstreamRequest } from '../../http1/upstream-request.ts';
import type { CancellableWork, ForwardedExchange } from '../exchange.ts';
import { RequestBody } from '../request/request-body.ts';
import { upstreamTarget } from '../request/request-target.ts';
import { ValidatedRequestBody } from '../request/validated-request-body.ts';
import { Refusal } from '../response/refusal.ts';
import { type FailedAttempt, isAbandoned, isRetryable, sourceOfFailure } from './failed-attempt.ts';
import type { LiveEndpoint } from './live-endpoint.ts';
import type { LiveUpstream, QueuedRequest } from './live-upstream.ts';
import type { Assignment } from './load-balancer.ts';
import { forwardRequestHeaders, keepsClientHost } from './proxy-headers.ts';
import { ClientDisconnected, toRefusal, UpstreamError } from './upstream-error.ts';

/** Receives the events of an upstream's response and sends it to the client. */
export interface ClientResponse
  extends Pick<ResponseSink, 'onHead' | 'onData' | 'onReadComplete' | 'onEnd' | 'onUpgrade'> {
  /** The response is complete, or the connection has become a tunnel. */
  onForwarded(): void;
  /** The exchange failed. No other event follows. */
  onFailed(error: ClientDisconnected | Refusal): void;
}

/**
 * Forwards one request to an endpoint of its upstream and the response to the client: waits for a connection, retries where
 * that is safe, and reports results to the circuit breaker of the endpoint.
 */
export class UpstreamExchange implements QueuedRequest, UpstreamRequest, ResponseSink, CancellableWork {
  readonly client: string;
  readonly method: string;
  readonly isHandshake: boolean;
  readonly length: number | 'chunked' | undefined;
  /** A route with a time limit limits the complete exchange instead. */
  readonly hasResponseTimeout: boolean;
  /** A failed attempt may mean that the endpoint closed its other connections too. */
  needsNewConnection: boolean;
  path = '';
  headers: RawHeaders = [];
  body: Buffer | RequestBody | null = null;
  readonly #exchange: ForwardedExchange;
  readonly #upstream: LiveUpstream;
  readonly #response: ClientResponse;
  /** Without the `Host` of the endpoint. */
  #headers: RawHeaders = [];
  #timeout: RestartableTimeout | undefined;
  #endpoint: LiveEndpoint | undefined;
  #connection: UpstreamConnection | undefined;
  /** The result of `CircuitBreaker.beginRequest` for this attempt. */
  #trial = 0;
  #attempts = 0;
  /** Milliseconds from the start of the exchange until this attempt began. */
  #sentAfterMs = 0;
  /** The standstills of this thread before this attempt. */
  #standstills = 0;
  #isSent = false;
  #hasResponse = false;
  /** The status of the response; 0 before it begins. */
  #status = 0;
  #isOver = false;

  constructor(exchange: ForwardedExchange, upstream: LiveUpstream, response: ClientResponse) {
    this.client = exchange.client;
    this.method = exchange.request.method;
    this.isHandshake = exchange.isHandshake;
    this.needsNewConnection = exchange.isHandshake;
    this.length = exchange.body?.length ?? exchange.head.body;
    this.hasResponseTimeout = exchange.route.timeoutMs === undefined;
    this.#exchange = exchange;
    this.#upstream = upstream;
    this.#response = response;
  }

  /** Sends the request as soon as an endpoint has a connection for it. */
  forward(): void {
    const { route, target, trace } = this.#exchange;
    const limitMs = route.timeoutMs ?? this.#upstream.upstream.totalTimeoutMs;
    this.#headers = forwardRequestHeaders(this.#exchange, trace);
    this.path = upstreamTarget(route, target);
    if (limitMs !== undefined)
      this.#timeout = new RestartableTimeout(limitMs, () => this.#stop(totalTimeout())).start();
    this.#exchange.work = this;
    this.#upstream.acquire(this);
  }

  /** The client has disconnected. */
  cancel(): void {
    this.#stop(new ClientDisconnected());
  }

  start({ endpoint, connection, trial }: Assignment): void {
    this.#endpoint = endpoint;
    this.#exchange.endpoint = endpoint.url;
    this.#trial = trial;
    if (endpoint.breaker !== undefined) this.#sentAfterMs = this.#exchange.elapsedMs();
    this.needsNewConnection = true;
    this.#attempts += 1;
    this.#standstills = standstills.count;
    this.#send(endpoint, connection);
  }

  refuse(refusal: Refusal): void {
    this.#fail(new UpstreamError(refusal));
  }

  onRequestStart(): void {
    this.#isSent = true;
    this.#exchange.wasSent = true;
  }

  onStale(): void {
    const endpoint = this.#endpoint as LiveEndpoint;
    this.#send(endpoint, endpoint.pool.replace(this.#connection as UpstreamConnection, this.isHandshake));
  }

  onHead(head: ResponseHead, connection: FlowControl): void {
    const { breaker, responseTime, observed } = this.#endpoint as LiveEndpoint;
    if (breaker !== undefined && !this.#hasResponse) {
      responseTime.add(this.#exchange.elapsedMs() - this.#sentAfterMs);
      breaker.recordResponse();
    }
    this.#hasResponse = true;
    if (head.status >= 200) {
      this.#status = head.status;
      observed.recordResponse(head.status, this.client);
    }
    this.#response.onHead(head, connection);
  }

  onData(bytes: Buffer, connection: FlowControl): void {
    this.#response.onData(bytes, connection);
  }

  onReadComplete(): void {
    this.#response.onReadComplete();
  }

  onEnd(trailers: RawHeaders): void {
    try {
      this.#response.onEnd(trailers);
    } catch (error) {
      this.onError(error as Error);
      return;
    }
    this.#settle();
    this.#endpoint?.breaker?.recordSuccess();
    this.#endpoint?.observed.recordCompletion(this.#status);
    this.#releaseConnection(true);
    this.#response.onForwarded();
  }

  onUpgrade(head: ResponseHead, socket: Duplex): void {
    try {
      this.#response.onUpgrade(head, socket);
    } catch (error) {
      socket.destroy();
      this.onError(error as Error);
      return;
    }
    this.#settle();
    this.#endpoint?.breaker?.recordResponse();
    this.#endpoint?.breaker?.recordSuccess();
    this.#endpoint?.observed.recordResponse(head.status, this.client);
    this.#endpoint?.observed.recordCompletion(head.status);
    // The tunnel counts as a connection of the endpoint until it closes.
    socket.once('close', () => this.#releaseConnection(false));
    this.#response.onForwarded();
  }

  onError(error: Error): void {
    const failed = this.#failedAttempt(error);
    const isRetried = this.#upstream.upstream.retry && !this.#isOver && isRetryable(failed);
    // A stale connection is no sign of a failing endpoint. The retry gives the result.
    if (!isRetried || !this.#isSent) this.#recordFailure(failed);
    this.#releaseConnection(false);
    if (isRetried) {
      this.#exchange.retries += 1;
      this.#upstream.acquire(this, this.#endpoint);
    } else {
      this.#fail(error);
    }
  }

  #send(endpoint: LiveEndpoint, connection: UpstreamConnection): void {
    const { body, head, route } = this.#exchange;
    this.#connection = connection;
    this.#isSent = false;
    this.body = body ?? (head.body === undefined ? null : streamBody(this.#exchange));
    // A request of HTTP/1.0 may have no Host.
    const hasHost = head.host !== undefined && keepsClientHost(route);
    this.headers = hasHost ? this.#headers : ['Host', endpoint.host, ...this.#headers];
    connection.send(this, this);
  }

  #failedAttempt(error: Error): FailedAttempt {
    const { request } = this.#exchange;
    const { body } = this;
    const isStreamed = body instanceof RequestBody;
    return {
      error,
      method: this.method,
      attempt: this.#attempts,
      endpoints: this.#upstream.upstream.endpoints.length,
      isSent: this.#isSent,
      hasResponse: this.#hasResponse,
      hasBody: body !== null,
      isBodyRepeatable: !isStreamed || !body.isStarted,
      isRequestComplete: !isStreamed || request.isComplete,
      wasPaused: this.#connection?.wasPaused === true,
      hasStoodStill: standstills.hasHappenedSince(this.#standstills),
      isEventStream: this.#exchange.isLongLived,
      mayHaveBeenStale: this.#connection?.mayHaveBeenStale === true,
    };
  }

  /** Reports a failure to the breaker, the health and the metrics of the endpoint. */
  #recordFailure(failed: FailedAttempt): void {
    const endpoint = this.#endpoint;
    if (endpoint === undefined) return;
    const wasAbandoned = isAbandoned(failed);
    if (wasAbandoned) endpoint.abandoned.add(1);
    const waitedMs = this.#exchange.elapsedMs() - this.#sentAfterMs;
    // The client determines how long a streamed upload takes, and it may have left because of a standstill.
    const isOurDelay = this.body instanceof RequestBody || failed.hasStoodStill;
    const wasSlow = wasAbandoned && !isOurDelay && endpoint.responseTime.isSlow(waitedMs);
    const source = sourceOfFailure(failed);
    if (wasSlow) endpoint.breaker?.recordAbandoned(this.client);
    else endpoint.breaker?.recordFailure(source, this.client, this.#trial);
    endpoint.observed.recordFailure(source, this.client, toRefusal(failed.error).reason, this.#status);
  }

  /** Ends the exchange early, in the queue or on its connection. */
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
    this.#response.onFailed(error instanceof ClientDisconnected ? error : toRefusal(error));
  }

  #settle(): void {
    this.#isOver = true;
    this.#timeout?.close();
  }

  #releaseConnection(isReusable: boolean): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    if (isReusable) this.#endpoint?.pool.release(connection);
    else this.#endpoint?.pool.discard(connection);
    this.#upstream.dispatch();
  }
}

/** Returns a stream of the client's body. Each attempt needs its own. */
function streamBody(exchange: ForwardedExchange): RequestBody {
  const { body: rule } = exchange.route;
  const limitBytes = rule?.limitBytes ?? Number.POSITIVE_INFINITY;
  const validator = rule?.streamValidatorFor?.(exchange.head.contentType ?? '');
  if (validator === undefined) return new RequestBody(exchange, limitBytes);
  return new ValidatedRequestBody(exchange, limitBytes, validator);
}

function totalTimeout(): UpstreamError {
  return new UpstreamError(new Refusal('upstream_timeout', { reason: 'exchange_too_long' }));
}
