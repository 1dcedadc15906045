import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import { Broken, ClientGone, isTimeout, toRefusal } from '../failure.ts';
import type { Outgoing } from '../forward.ts';
import { forwardedOf } from '../forwarded.ts';
import { ruledHeaders } from '../header-rules.ts';
import { requestHeaders } from '../headers.ts';
import { InspectedBody } from '../inspected-body.ts';
import type { AnswerControl } from '../receiver.ts';
import { Refusal } from '../refusal.ts';
import { refuse } from '../refuse.ts';
import { RequestBody } from '../request-body.ts';
import type { Connection } from './connection.ts';
import type { LiveTarget } from './live-target.ts';
import type { LiveUpstream, Passenger } from './live-upstream.ts';

/** RFC 9110 section 9.2.2, of the methods that are served. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

/**
 * A request on its way to a target and its answer on the way back, over one connection or, where that is safe, over a
 * second one. The HTTP client calls it as the exchange goes on; what comes of the answer is the receiver's.
 */
export class Transfer implements Passenger, Dispatcher.DispatchHandler {
  readonly #outgoing: Outgoing;
  readonly #upstream: LiveUpstream;
  readonly #headers: string[];
  readonly #timer: NodeJS.Timeout | undefined;
  #target: LiveTarget | undefined;
  #connection: Connection | undefined;
  /** Present as soon as the request is being written. */
  #control: AnswerControl | undefined;
  #body: Buffer | RequestBody | null = null;
  #isTrial = false;
  #tries = 0;
  #informational = 0;
  /** A byte of an answer has come, if only of one before the answer. */
  #isAnswered = false;
  /** The answer is whole, or the client was told that there is none, or left. */
  #isOver = false;

  constructor(outgoing: Outgoing, upstream: LiveUpstream) {
    this.#outgoing = outgoing;
    this.#upstream = upstream;
    this.#headers = headersOf(outgoing);
    const limitMs = outgoing.route.timeoutMs ?? upstream.upstream.totalTimeoutMs;
    if (limitMs !== undefined) this.#timer = setTimeout(() => this.#stop(tooLate()), limitMs);
    outgoing.exchange.onClientGone = () => this.#stop(new ClientGone());
    upstream.admit(this);
  }

  board(target: LiveTarget, connection: Connection, isTrial: boolean): void {
    const { exchange, target: wanted, route } = this.#outgoing;
    this.#target = target;
    this.#isTrial = isTrial;
    this.#connection = connection;
    this.#control = undefined;
    this.#tries += 1;
    this.#body = bodyOf(this.#outgoing);
    const options = {
      path: wanted.path + wanted.query,
      method: exchange.request.method,
      headers: this.#headers,
      body: this.#body,
      servername: connection.serverName,
      // The whole exchange has a limit of its own then.
      headersTimeout: route.timeoutMs === undefined ? null : 0,
      upgrade: exchange.handshake === undefined ? null : 'websocket',
    };
    connection.dispatch(options as unknown as Dispatcher.DispatchOptions, this);
  }

  refuse(refusal: Refusal): void {
    this.#fail(new Broken(refusal));
  }

  onRequestStart(control: AnswerControl): void {
    this.#control = control;
    this.#connection?.begin();
    // The client left, or the time was over, before there was a connection.
    if (this.#isOver) control.abort(new ClientGone());
  }

  onRequestUpgrade(control: AnswerControl, status: number, headers: unknown, socket: Duplex): void {
    // What it throws is the exchange's error: it is over only behind it.
    this.#outgoing.receiver.onRequestUpgrade?.(control, status, headers, socket);
    this.#settle();
    this.#target?.breaker?.succeeded();
    // Until it ends, the tunnel counts as one of the target's connections.
    socket.once('close', () => this.#disembark(true));
  }

  onResponseStart(control: AnswerControl, status: number, headers: unknown, statusMessage?: string): void {
    this.#isAnswered = true;
    if (status < 200) this.#countInformational();
    this.#outgoing.receiver.onResponseStart(control, status, headers, statusMessage);
  }

  onResponseData(control: AnswerControl, chunk: Buffer): void {
    this.#outgoing.receiver.onResponseData(control, chunk);
  }

  onResponseEnd(control: AnswerControl): void {
    this.#outgoing.receiver.onResponseEnd(control);
    this.#settle();
    this.#target?.breaker?.succeeded();
    this.#disembark(false);
  }

  onResponseError(_control: unknown, error: Error): void {
    const target = this.#target;
    const isAgain = this.#mayTryAgain(error);
    if (this.#isUpstreamsFault(error)) target?.breaker?.failed(this.#isTrial);
    else target?.breaker?.released(this.#isTrial);
    // From here on it may have to wait, and there is nothing that could be aborted.
    this.#control = undefined;
    this.#disembark(true);
    if (isAgain) {
      this.#outgoing.exchange.retries += 1;
      this.#upstream.admit(this, target);
    } else {
      this.#fail(error);
    }
  }

  /** Counts an answer before the answer (RFC 9110 section 15.2): each of them gives the upstream its time anew. */
  #countInformational(): void {
    this.#informational += 1;
    if (this.#informational <= MAX_INFORMATIONAL) return;
    throw new Broken(new Refusal('upstream_broken', { reason: 'upstream_informational_too_many' }));
  }

  /** Out of time is the upstream when all that the client had to do is done, and no byte of an answer has come. */
  #isUpstreamsFault(error: Error): boolean {
    if (error instanceof ClientGone) return false;
    if (!(error instanceof Broken)) return true;
    const isLate = error.refusal.code === 'upstream_timeout';
    return isLate && !this.#isAnswered && this.#outgoing.exchange.request.complete;
  }

  /** Safe are: nothing was sent; or a kept-alive connection died unanswered, and to do it twice is to do it once. */
  #mayTryAgain(error: Error): boolean {
    const { upstream } = this.#upstream;
    if (!upstream.retry || this.#isOver || error instanceof Broken || error instanceof ClientGone) return false;
    if (this.#control === undefined) return this.#tries < upstream.targets.length;
    const isWhole = !(this.#body instanceof RequestBody) || !this.#body.isBegun;
    const isIdempotent = IDEMPOTENT.has(this.#outgoing.exchange.request.method ?? '');
    const isDead = !this.#isAnswered && !isTimeout(error) && this.#connection?.isUnanswered === true;
    return this.#tries === 1 && isDead && isIdempotent && isWhole;
  }

  /** Ends it early, wherever it is. */
  #stop(reason: Error): void {
    if (this.#isOver) return;
    if (this.#control === undefined) {
      this.#upstream.leave(this);
      this.#fail(reason);
    } else {
      this.#control.abort(reason);
    }
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#settle();
    const { exchange } = this.#outgoing;
    // Once the answer has begun, a cut connection is the only way to say that it is not whole.
    // An answer that was ended early is whole to the client, whose connection goes on.
    if (error instanceof ClientGone) {
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
    if (isLost) this.#target?.connections.drop(connection);
    else this.#target?.connections.release(connection);
    this.#upstream.advance();
  }
}

const MAX_INFORMATIONAL = 100;

function headersOf({ exchange, head, route }: Outgoing): string[] {
  const written = requestHeaders(exchange.request.rawHeaders, forwardedOf(exchange, head.host));
  const headers = ruledHeaders(written, route.requestHeaders);
  if (typeof head.body === 'number') headers.push('Content-Length', String(head.body));
  return headers;
}

function bodyOf({ exchange, head, body, limitBytes, inspector }: Outgoing): Buffer | RequestBody | null {
  if (body !== undefined || head.body === undefined) return body ?? null;
  return inspector === undefined
    ? new RequestBody(exchange, limitBytes)
    : new InspectedBody(exchange, limitBytes, inspector);
}

function tooLate(): Broken {
  return new Broken(new Refusal('upstream_timeout', { reason: 'exchange_too_long' }));
}
