import { randomUUID } from 'node:crypto';
import type { BodyTap, ClientRequest } from '../http1/client-request.ts';
import { type RawHeaders, withMissing, withoutHeaders } from '../http1/raw-headers.ts';
import type { ResponseWriter } from '../http1/response-writer.ts';
import type { Plan } from '../plan/plan.ts';
import type { ForwardingRoute, Route } from '../plan/route-definition.ts';
import { isReleased } from '../rate-limits/rate-limit.ts';
import { type AppliedLimit, type RateLimiter, rateLimitFields } from '../rate-limits/rate-limiter.ts';
import type { Violation } from '../schema/value-validator.ts';
import type { Principal, VerificationClient } from '../tokens/verifier.ts';
import { clientKey } from './fairness/client-key.ts';
import { type ForwardedInfo, readForwardedInfo } from './request/forwarded-info.ts';
import type { RequestHead } from './request/request-head.ts';
import type { RequestTarget } from './request/request-target.ts';
import { withCorsHeaders } from './response/cors.ts';
import { gatewayBusy, Refusal } from './response/refusal.ts';
import type { BufferBudget } from './server/buffer-budget.ts';
import type { GatewayConnection } from './server/gateway-connection.ts';
import type { EndReason, LongLivedExchanges } from './server/long-lived-exchanges.ts';
import type { RequestRecord } from './telemetry/request-record.ts';
import { ClientDisconnected } from './upstream/upstream-error.ts';

/** `continue`: the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
type Expectation = 'continue' | 'unknown';

/** Work for a client. */
export interface CancellableWork {
  cancel(): void;
}

/** Receives a copy of a request body. */
interface BodyCopy extends BodyTap {
  /** Called once the exchange needs the copy no longer. */
  release(): void;
}

/** Follows exchanges without taking part in them. Its functions never throw. */
export interface ExchangeObserver {
  /** Called when the gateway begins to read or to discard a body. Returns `undefined` if the observer does not need it. */
  copyBody(exchange: Exchange): BodyCopy | undefined;
  /** Called once for each exchange: when it ends, or when it becomes long-lived. The observer releases its copy of the body. */
  observe(exchange: Exchange): void;
}

/** The trace that a request belongs to (W3C Trace Context, level 1). */
export interface RequestTrace {
  /** 32 hex digits. */
  readonly id: string;
  /** True if the client sent the trace id. Only then does the client's `tracestate` belong to the trace. */
  readonly isContinued: boolean;
  /** Returns the `traceparent` for the upstream, with the gateway as the parent. */
  traceparentFor(method: string, upstreamId: string): string;
  /** Ends the trace with the outcome of the request. */
  end(record: RequestRecord): void;
}

/** The trace of a client, from its `traceparent`. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  /** Two hex digits. */
  readonly flags: string;
}

/** Records spans. Without a tracer, the gateway passes traces on. */
export interface RequestTracer {
  /** @param parent `undefined` for a new trace, which is sampled */
  begin(exchange: Exchange, parent: TraceParent | undefined): RequestTrace;
  /** Exports the recorded spans before the process exits. Never rejects. */
  flush(): Promise<void>;
}

/** The parts of a server that its exchanges use. */
export interface ExchangeServer {
  /** The active plan. */
  readonly plan: Plan;
  /** The name of this process in `Via`, for plans that have none. */
  readonly pseudonym: string;
  /** True if each response closes its connection. */
  readonly isDraining: boolean;
  /** True once the server accepts no connections and long-lived exchanges end. */
  readonly isClosing: boolean;
  /** @param traceparent the header of the client; empty if the client sent several */
  readonly beginTrace: (exchange: Exchange, traceparent: string | undefined) => RequestTrace;
  readonly longLived: LongLivedExchanges;
  readonly bufferBudget: BufferBudget;
  readonly rateLimiter: RateLimiter;
  /** Follows the exchanges; `undefined` without a candidate. */
  readonly observer: ExchangeObserver | undefined;
}

/** One request and its response, end to end, with everything that its log line and metrics need. */
export class Exchange {
  /** The request id of a trusted proxy, or a new one. */
  readonly id: string;
  /** The plan that was active when the request began. */
  readonly plan: Plan;
  readonly startedAt = performance.now();
  readonly request: ClientRequest;
  readonly response: ResponseWriter;
  readonly connection: GatewayConnection;
  readonly expectation: Expectation | undefined;
  readonly method: string;
  /** True if the request is a WebSocket handshake. */
  readonly isHandshake: boolean;
  /** The forwarding headers of a trusted proxy; `undefined` if the peer is not trusted. */
  readonly forwardedInfo: ForwardedInfo | undefined;
  /** The key of the client for its share of limited resources. */
  readonly client: string;
  head: RequestHead | undefined;
  trace: RequestTrace | undefined;
  target: RequestTarget | undefined;
  route: Route | undefined;
  /** The verified caller; at login, the user of the token in the response. */
  principal: Principal | undefined;
  /** The validated body; `undefined` if the body is streamed. */
  body: Buffer | undefined;
  /** The observer's copy of the body, once the gateway reads or discards the body. */
  bodyCopy: BodyCopy | undefined;
  refusal: Refusal | undefined;
  /** Refusals that a route or a rate limit only reports. */
  reportedRefusals: Refusal[] | undefined;
  /** The rate limits that have counted the request. */
  appliedLimits: AppliedLimit[] | undefined;
  /** True once a byte of the request was sent to an upstream. */
  wasSent = false;
  /** True once the connection is a tunnel. The exchange then ends with its socket, and has no response. */
  isTunnel = false;
  /** The current work. It is cancelled if the client disconnects before the response is complete. */
  work: CancellableWork | undefined;
  /** True if the gateway has ended the response, and the upstream continues it. */
  endsWork = false;
  /** Bytes of the request body read so far; of a tunnel, bytes that the client sent. */
  receivedBytes = 0;
  /** Bytes of the response body; of a tunnel, bytes that the upstream sent. */
  sentBytes = 0;
  retries = 0;
  /** The endpoint of the last attempt, without secrets. */
  endpoint: string | undefined;
  /** Milliseconds from `startedAt` until the request was forwarded. */
  forwardedAfterMs: number | undefined;
  /** Milliseconds from `startedAt` until the upstream responded. */
  respondedAfterMs: number | undefined;

  protected readonly server: ExchangeServer;
  #bufferedBytes = 0;
  #hasContinued = false;
  #isLongLived = false;
  #isOver = false;
  #isObserved = false;
  /** The number of `appliedLimits` that are settled. */
  #settledLimits = 0;

  constructor(
    server: ExchangeServer,
    connection: GatewayConnection,
    request: ClientRequest,
    response: ResponseWriter,
    isHandshake: boolean,
  ) {
    const { plan } = server;
    const { trustedProxies } = plan.server;
    this.forwardedInfo =
      trustedProxies !== undefined && connection.isTrustedProxy(trustedProxies)
        ? readForwardedInfo(request.rawHeaders, trustedProxies)
        : undefined;
    const client = this.forwardedInfo?.client;
    this.client = client === undefined ? connection.client : clientKey(client);
    this.id = this.forwardedInfo?.requestId ?? randomUUID();
    this.plan = plan;
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.method = request.method;
    this.expectation = request.known.expect === undefined ? undefined : expectationOf(request);
    this.isHandshake = isHandshake;
    this.server = server;
  }

  /** The address of the client, as a trusted proxy reports it; otherwise that of the connection. */
  get clientAddress(): string {
    return this.forwardedInfo?.client ?? this.connection.peer ?? '';
  }

  /** The name of this gateway in `Via`. */
  get pseudonym(): string {
    return this.plan.server.via ?? this.server.pseudonym;
  }

  /**
   * Writes the head of the response. Closes the connection after the response while the server drains, and after an error that
   * arrives before the end of the upload: the gateway does not wait for the rest. A client that got no `100 Continue` may still send
   * its body.
   */
  writeHead(status: number, reason: string, headers: RawHeaders): void {
    const isEarly = status >= 300 && this.head?.body !== undefined && !this.request.isComplete;
    const mayBeSent = this.expectation === 'continue' && !this.#hasContinued;
    if (isEarly || mayBeSent || this.server.isDraining) this.response.isPersistent = false;
    if (this.appliedLimits !== undefined) this.settleRateLimits(status);
    const { cors, server } = this.plan;
    let all = headers;
    if (server.hasRateLimitHeaders) all = [...all, ...this.#rateLimitFields()];
    if (cors !== undefined) all = withCorsHeaders(cors, this.request.known.origin, all);
    if (server.responseHeaders.length > 0) all = withMissing(all, this.#commonHeaders());
    this.response.writeHead(status, reason, all);
  }

  /**
   * Refuses the request. A route with `validation: report` only logs the refusal instead.
   *
   * @throws Refusal
   */
  refuseOrReport(refusal: Refusal): void {
    if (!this.tryReport(refusal)) throw refusal;
  }

  /** Refuses a request whose parameters have violations, or reports them. @throws Refusal `parameter_invalid` */
  refuseInvalidParameters(errors: readonly Violation[]): void {
    if (errors.length > 0) this.refuseOrReport(new Refusal('parameter_invalid', { errors }));
  }

  /** Stores a refusal for the log if the route has `validation: report`. Returns false otherwise. */
  tryReport(refusal: Refusal): boolean {
    if (this.route?.validation !== 'report') return false;
    this.addReport(refusal);
    return true;
  }

  /** Stores a refusal for the log. It is not sent. */
  addReport(refusal: Refusal): void {
    this.reportedRefusals ??= [];
    this.reportedRefusals.push(refusal);
  }

  /** Ends the counting by the rate limits that have counted the request. @param status of the response; `undefined` without one */
  settleRateLimits(status?: number): void {
    const { appliedLimits, wasSent } = this;
    if (appliedLimits === undefined || appliedLimits.length === this.#settledLimits) return;
    const unsettled = appliedLimits.slice(this.#settledLimits);
    this.#settledLimits = appliedLimits.length;
    const end = { wasSent, status, refusal: this.refusal?.code };
    this.server.rateLimiter.settle(unsettled, (limit) => isReleased(limit, end));
  }

  /** A route that removes a header of the upstream does not get it from the server. */
  #commonHeaders(): RawHeaders {
    const { responseHeaders } = this.plan.server;
    const rules = this.refusal === undefined ? this.route?.responseHeaders : undefined;
    return rules === undefined ? responseHeaders : withoutHeaders(responseHeaders, rules.drops);
  }

  #rateLimitFields(): string[] {
    const applied = this.refusal === undefined ? (this.appliedLimits ?? []) : undefined;
    return rateLimitFields(this.plan.server, this.route?.rateLimits, applied);
  }

  /** Sends `100 Continue` to a client that waits for it. Called when only the body can still cause a refusal. */
  sendContinue(): void {
    if (this.expectation !== 'continue' || !this.maySendInformational) return;
    this.#hasContinued = true;
    this.response.writeInformation(100, 'Continue', []);
  }

  /** True while the client may receive an informational response. */
  get maySendInformational(): boolean {
    return !this.response.hasBegun && !this.response.isOver && !this.connection.isHalfClosed;
  }

  /** True for an event stream or a tunnel, once it began. */
  get isLongLived(): boolean {
    return this.#isLongLived;
  }

  /** Marks the exchange as long-lived: a reload that changes its route ends it. @param end ends it early */
  trackLongLived(end: (reason: EndReason) => void): void {
    // Only a write can show that a half-closed client has left, and only a chunked response allows such writes.
    const isUnobservable = this.connection.isHalfClosed && !this.response.isChunked;
    if (this.server.isClosing || isUnobservable) {
      end('going_away');
      return;
    }
    this.#isLongLived = true;
    this.observe();
    this.server.longLived.add(this, end);
  }

  /** Begins the observer's copy of the body, once. */
  copyBody(): void {
    if (this.bodyCopy !== undefined || this.receivedBytes > 0 || this.head?.body === undefined) return;
    this.bodyCopy = this.server.observer?.copyBody(this);
    if (this.bodyCopy !== undefined) this.request.tapBody(this.bodyCopy);
  }

  /** Shows the exchange to the observer, once. */
  observe(): void {
    if (this.#isObserved) return;
    this.#isObserved = true;
    if (this.server.observer === undefined) this.bodyCopy?.release();
    else this.server.observer.observe(this);
  }

  /** Returns the client for work that must stop when the client disconnects. */
  waitingClient(): VerificationClient {
    const controller = new AbortController();
    this.work = { cancel: () => controller.abort() };
    return { key: this.client, signal: controller.signal };
  }

  /**
   * Counts bytes that the gateway buffers for this exchange until it ends.
   *
   * @throws Refusal `gateway_busy`; ClientDisconnected
   */
  reserve(bytes: number): void {
    if (this.#isOver) throw new ClientDisconnected();
    const refusal = this.server.bufferBudget.acquire(this.client, bytes);
    if (refusal !== undefined) throw gatewayBusy(refusal);
    this.#bufferedBytes += bytes;
  }

  /** Ends the exchange: cancels the work of an incomplete response and releases the buffered bytes. */
  end(): void {
    if (!this.response.isFinished || this.endsWork) this.work?.cancel();
    if (this.appliedLimits !== undefined) this.settleRateLimits();
    this.#isOver = true;
    if (this.#bufferedBytes > 0) this.server.bufferBudget.release(this.client, this.#bufferedBytes);
    this.#bufferedBytes = 0;
    if (this.#isLongLived) this.server.longLived.delete(this);
  }

  elapsedMs(): number {
    return performance.now() - this.startedAt;
  }
}

/** HTTP/1.0 has no expectations (RFC 9110 section 10.1.1). */
function expectationOf({ httpVersion, known: { expect } }: ClientRequest): Expectation | undefined {
  if (httpVersion !== '1.1') return undefined;
  return expect?.toLowerCase() === '100-continue' ? 'continue' : 'unknown';
}

/** An exchange whose request was matched to a route. */
export interface RoutedExchange extends Exchange {
  readonly head: RequestHead;
  readonly target: RequestTarget;
  readonly route: Route;
}

/** An exchange whose route has an upstream. */
export interface ForwardedExchange extends RoutedExchange {
  readonly route: ForwardingRoute;
}
