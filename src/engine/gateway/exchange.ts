import { randomUUID } from 'node:crypto';
import type { BodyTap, ClientRequest } from '../http1/client-request.ts';
import type { RawHeaders } from '../http1/raw-headers.ts';
import type { ResponseOwner, ResponseWriter } from '../http1/response-writer.ts';
import type { LogSettings } from '../log/log-settings.ts';
import type { Plan } from '../plan/plan.ts';
import type { ForwardingRoute, Route } from '../plan/route-definition.ts';
import { isReleased, type RateLimitStage, type RouteRateLimits } from '../rate-limits/rate-limit.ts';
import type { RateLimiter } from '../rate-limits/rate-limiter.ts';
import type { Violation } from '../schema/value-validator.ts';
import type { Auth, Principal, VerificationClient } from '../tokens/verifier.ts';
import { awaitValidation, type CancellableWork } from './request/await-validation.ts';
import { PlannedRequest } from './request/planned-request.ts';
import { readBody } from './request/read-body.ts';
import type { RequestHead, RequestTarget } from './request/request-head.ts';
import { withPlanHeaders } from './response/plan-headers.ts';
import { gatewayBusy, Refusal } from './response/refusal.ts';
import type { BufferBudget } from './server/buffer-budget.ts';
import type { GatewayConnection } from './server/gateway-connection.ts';
import type { EndReason, LongLivedExchanges } from './server/long-lived-exchanges.ts';
import type { RequestTrace, RequestTracer } from './telemetry/request-record.ts';
import { beginTrace } from './telemetry/trace.ts';
import { ClientDisconnected } from './upstream/upstream-error.ts';

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
  /** `undefined`: traces are only passed on. */
  readonly tracer: RequestTracer | undefined;
  /** Records exchanges that end: log line, metrics, trace and request event. */
  readonly recorder: { record(exchange: Exchange, settings: LogSettings): void };
  readonly longLived: LongLivedExchanges;
  readonly bufferBudget: BufferBudget;
  readonly rateLimiter: RateLimiter;
  /** Follows the exchanges; `undefined` without a candidate. */
  readonly observer: ExchangeObserver | undefined;
}

/** The upstream's part of an exchange, as log and metrics need it. Times are those of `performance.now()`. */
export interface ForwardingFacts {
  readonly forwardedAt: number;
  readonly respondedAt: number | undefined;
  /** True once a byte of the request was sent. */
  readonly wasSent: boolean;
  readonly retries: number;
  /** That of the last attempt. Its URL has no secrets. */
  readonly endpoint: { readonly url: string } | undefined;
}

/**
 * One request and its response, end to end, with everything that its log line and metrics need. The steps of its decision are its
 * methods: a further object for each request would cost throughput.
 */
export class Exchange extends PlannedRequest implements ResponseOwner {
  /** The request id of a trusted proxy, or a new one. */
  readonly id: string;
  /** When the request head was read, by `performance.now()`. */
  readonly startedAt = performance.now();
  readonly pseudonym: string;
  readonly response: ResponseWriter;
  trace: RequestTrace | undefined;
  /** The observer's copy of the body, once the gateway reads or discards the body. */
  bodyCopy: BodyCopy | undefined;
  refusal: Refusal | undefined;
  /** Refusals that a route or a rate limit only reports. */
  reportedRefusals: Refusal[] | undefined;
  /** True once the connection is a tunnel. The exchange then ends with its socket, and has no response. */
  isTunnel = false;
  /** True for an event stream or a tunnel, once it began. */
  isLongLived = false;
  /** The current work. It is cancelled if the client disconnects before the response is complete. */
  work: CancellableWork | undefined;
  /** True if the gateway has ended the response, and the upstream continues it. */
  endsWork = false;
  /** Bytes of the request body read so far; of a tunnel, bytes that the client sent. */
  receivedBytes = 0;
  /** Bytes of the response body; of a tunnel, bytes that the upstream sent. */
  sentBytes = 0;
  /** `undefined` until the request is forwarded. */
  forwarding: ForwardingFacts | undefined;

  readonly #server: ExchangeServer;
  #bufferedBytes = 0;
  #hasContinued = false;
  /** The number of `appliedLimits` that are settled. */
  #settledLimits = 0;

  constructor(server: ExchangeServer, connection: GatewayConnection, request: ClientRequest, response: ResponseWriter) {
    super(server.plan, request, connection, !connection.isHalfClosed);
    this.id = this.forwardedInfo?.requestId ?? randomUUID();
    this.pseudonym = server.plan.server.via ?? server.pseudonym;
    this.response = response;
    this.#server = server;
  }

  protected beginTrace(): void {
    this.trace = beginTrace(this, this.#server.tracer);
  }

  applyRateLimits(stage: RateLimitStage, limits: RouteRateLimits): void | Promise<void> {
    return this.#server.rateLimiter.apply(limits[stage], this as RoutedExchange);
  }

  authenticate(auth: Auth): Principal | Promise<Principal> {
    const token = this.readToken(auth);
    return auth.verifier.cached(token, auth.issuers) ?? this.#verify(auth, token);
  }

  async #verify(auth: Auth, token: string): Promise<Principal> {
    const client = this.waitingClient();
    const result = await auth.verifier.verify(token, client, auth.issuers);
    if (client.signal.aborted) throw new ClientDisconnected();
    return this.principalOf(auth, result);
  }

  validateParameters({ parameters }: Route): void | Promise<void> {
    const { target, request, client } = this as RoutedExchange;
    const result = parameters?.validateWithinBudget(target.path, target.query, request.rawHeaders, client) ?? [];
    if (!(result instanceof Promise)) return this.#refuseInvalidParameters(result);
    return awaitValidation(this, result).then(({ violations }) => this.#refuseInvalidParameters(violations));
  }

  #refuseInvalidParameters(errors: readonly Violation[]): void {
    if (errors.length > 0) this.refuseOrReport(new Refusal('parameter_invalid', { errors }));
  }

  readBody({ body: rule }: Route): void | Promise<void> {
    const body = rule && readBody(this, (this as RoutedExchange).head, rule);
    if (!(body instanceof Promise)) this.body = body;
    else
      return body.then((bytes) => {
        this.body = bytes;
      });
  }

  /**
   * Writes the head of the response. Closes the connection after the response while the server drains, and after an error that
   * arrives before the end of the upload: the gateway does not wait for the rest. A client that got no `100 Continue` may still send
   * its body.
   */
  writeHead(status: number, reason: string, headers: RawHeaders): void {
    const isEarly = status >= 300 && this.head?.body !== undefined && !this.request.isComplete;
    const mayBeSent = this.expectation === 'continue' && !this.#hasContinued;
    if (isEarly || mayBeSent || this.#server.isDraining) this.response.isPersistent = false;
    if (this.appliedLimits !== undefined) this.settleRateLimits(status);
    const all = this.plan.addsHeaders ? withPlanHeaders(this.plan, headers, this) : headers;
    this.response.writeHead(status, reason, all);
  }

  refuseOrReport(refusal: Refusal): void {
    if (!this.tryReport(refusal)) throw refusal;
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
    const unsettled = this.appliedLimits?.slice(this.#settledLimits) ?? [];
    if (unsettled.length === 0) return;
    this.#settledLimits += unsettled.length;
    const end = { wasSent: this.forwarding?.wasSent === true, status, refusal: this.refusal?.code };
    this.#server.rateLimiter.settle(unsettled, (limit) => isReleased(limit, end));
  }

  /** Called when only the body can still cause a refusal. Sends `100 Continue` to a client that waits for it. */
  beginBody(): void {
    this.copyBody();
    if (this.expectation !== 'continue' || !this.maySendInformational) return;
    this.#hasContinued = true;
    this.response.writeInformation(100, 'Continue', []);
  }

  /** True while the client may receive an informational response. */
  get maySendInformational(): boolean {
    return !this.response.hasBegun && !this.response.isOver && !this.connection.isHalfClosed;
  }

  /** Marks the exchange as long-lived: a reload that changes its route ends it. @param end ends it early */
  trackLongLived(end: (reason: EndReason) => void): void {
    // Only a write can show that a half-closed client has left, and only a chunked response allows such writes.
    const isUnobservable = this.connection.isHalfClosed && !this.response.isChunked;
    if (this.#server.isClosing || isUnobservable) {
      end('going_away');
      return;
    }
    this.isLongLived = true;
    this.#observe();
    this.#server.longLived.add(this, end);
    // A reload during the request could not end it.
    if (this.#server.plan !== this.plan) this.#server.longLived.revalidate(this.#server.plan);
  }

  /** Begins the observer's copy of the body, once. */
  copyBody(): void {
    if (this.bodyCopy !== undefined || this.receivedBytes > 0 || this.head?.body === undefined) return;
    this.bodyCopy = this.#server.observer?.copyBody(this);
    if (this.bodyCopy !== undefined) this.request.tapBody(this.bodyCopy);
  }

  /** Shows the exchange to the observer. */
  #observe(): void {
    if (this.#server.observer === undefined) this.bodyCopy?.release();
    else this.#server.observer.observe(this);
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
    if (this.response.isOver) throw new ClientDisconnected();
    const refusal = this.#server.bufferBudget.acquire(this.client, bytes);
    if (refusal !== undefined) throw gatewayBusy(refusal);
    this.#bufferedBytes += bytes;
  }

  /** Ends the exchange: cancels the work of an incomplete response, releases everything that it holds, and records it. */
  onResponseOver(): void {
    const { connection } = this;
    const server = this.#server;
    if (!this.response.isFinished || this.endsWork) this.work?.cancel();
    if (this.appliedLimits !== undefined) this.settleRateLimits();
    if (this.#bufferedBytes > 0) server.bufferBudget.release(this.client, this.#bufferedBytes);
    server.recorder.record(this, server.plan.log);
    if (this.isLongLived) server.longLived.delete(this);
    else if (server.observer !== undefined || this.bodyCopy !== undefined) this.#observe();
    // The response may have promised keep-alive before the server began to close.
    if (server.isClosing && connection.isIdle) connection.closeGracefully();
  }
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
