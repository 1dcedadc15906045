import type { Duplex } from 'node:stream';
import type { AnswerHead } from '../../http1/answer-head.ts';
import type { CallUser } from '../../http1/call.ts';
import type { Connection } from '../../http1/connection.ts';
import { Broken, ClientGone, isTimeout, toRefusal } from '../failure.ts';
import type { Outgoing } from '../forward.ts';
import { Refusal } from '../refusal.ts';
import { refuse } from '../refuse.ts';
import { RequestBody } from '../request-body.ts';
import { type FailureSource, sourceOf } from './failure-sources.ts';
import type { LiveTarget } from './live-target.ts';
import type { LiveUpstream, Passenger } from './live-upstream.ts';
import { bodyOf, callOf, headersOf } from './outgoing-call.ts';

/** RFC 9110 section 9.2.2, of the methods that are served. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

/**
 * A request on its way to a target and its answer on the way back, over one connection or, where that is safe, over a
 * second one. What comes of the answer is the receiver's.
 */
export class Transfer implements Passenger, CallUser {
  readonly client: string;
  readonly #outgoing: Outgoing;
  readonly #upstream: LiveUpstream;
  readonly #headers: string[];
  #timer: NodeJS.Timeout | undefined;
  #target: LiveTarget | undefined;
  #connection: Connection | undefined;
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

  constructor(outgoing: Outgoing, upstream: LiveUpstream) {
    this.client = outgoing.exchange.client;
    this.#outgoing = outgoing;
    this.#upstream = upstream;
    this.#headers = headersOf(outgoing);
  }

  /** Sends the request as soon as an endpoint has a connection for it. */
  start(): void {
    const { route, exchange } = this.#outgoing;
    const limitMs = route.timeoutMs ?? this.#upstream.upstream.totalTimeoutMs;
    if (limitMs !== undefined) this.#timer = setTimeout(() => this.#stop(tooLate()), limitMs);
    exchange.onClientGone = () => this.#stop(new ClientGone());
    this.#upstream.admit(this);
  }

  board(target: LiveTarget, trial: number): void {
    this.#target = target;
    this.#trial = trial;
    if (target.breaker !== undefined) this.#sentMs = this.#outgoing.exchange.elapsedMs();
    this.#tries += 1;
    const isFresh = this.#tries > 1 || this.#outgoing.exchange.handshake !== undefined;
    this.#send(isFresh ? this.#open(target) : target.connections.take(), target);
  }

  onBegin(): void {
    this.#isBegun = true;
  }

  onStale(): void {
    const target = this.#target as LiveTarget;
    target.connections.drop(this.#connection as Connection);
    this.#send(this.#open(target), target);
  }

  refuse(refusal: Refusal): void {
    this.#fail(new Broken(refusal));
  }

  onHead(head: AnswerHead): void {
    const target = this.#target as LiveTarget;
    if (target.breaker !== undefined && !this.#isAnswered) {
      target.normalTime.add(this.#outgoing.exchange.elapsedMs() - this.#sentMs);
      target.breaker.responded();
    }
    this.#isAnswered = true;
    this.#outgoing.receiver.onHead(this.#connection as Connection, head);
  }

  onData(bytes: Buffer): void {
    this.#outgoing.receiver.onData(this.#connection as Connection, bytes);
  }

  onWaiting(): void {
    this.#outgoing.receiver.onWaiting?.();
  }

  onEnd(trailers: readonly string[]): void {
    try {
      this.#outgoing.receiver.onEnd(trailers);
    } catch (error) {
      this.onError(error as Error);
      return;
    }
    this.#settle();
    this.#target?.breaker?.succeeded();
    this.#disembark(false);
  }

  onSwitch(head: AnswerHead, socket: Duplex): void {
    try {
      this.#outgoing.receiver.onSwitch?.(head, socket);
    } catch (error) {
      socket.destroy();
      this.onError(error as Error);
      return;
    }
    this.#settle();
    this.#target?.breaker?.responded();
    this.#target?.breaker?.succeeded();
    // Until it ends, the tunnel counts as one of the target's connections.
    socket.once('close', () => this.#disembark(true));
  }

  onError(error: Error): void {
    const target = this.#target;
    const isAgain = this.#mayTryAgain(error);
    this.#count(error);
    this.#disembark(true);
    if (isAgain) {
      this.#outgoing.exchange.retries += 1;
      this.#upstream.admit(this, target);
    } else {
      this.#fail(error);
    }
  }

  #open(target: LiveTarget): Connection {
    return target.connections.open(this.#outgoing.exchange.handshake !== undefined);
  }

  #send(connection: Connection, to: LiveTarget): void {
    this.#connection = connection;
    this.#isBegun = false;
    this.#body = bodyOf(this.#outgoing);
    const call = callOf(this.#outgoing, to.host, this.#headers, this.#body);
    connection.send(call, this);
  }

  /** Counts the failure, for the breaker and the metrics of its endpoint. */
  #count(error: Error): void {
    const target = this.#target;
    if (target === undefined) return;
    const isAbandoned = error instanceof ClientGone && this.#isBegun && !this.#isAnswered && this.#isWhole;
    if (isAbandoned) target.abandoned += 1;
    const waitedMs = this.#outgoing.exchange.elapsedMs() - this.#sentMs;
    // The time of a streamed upload is the client's own.
    const isLong = isAbandoned && !(this.#body instanceof RequestBody) && target.normalTime.isExceededBy(waitedMs);
    if (isLong) target.breaker?.abandoned(this.client);
    else target.breaker?.failed(this.#sourceOf(error), this.client, this.#trial);
  }

  /** True once the client has sent all of its request. */
  get #isWhole(): boolean {
    return !(this.#body instanceof RequestBody) || this.#outgoing.exchange.request.complete;
  }

  #sourceOf(error: Error & { code?: string }): FailureSource {
    if (error instanceof ClientGone) return 'client';
    const isLate = error instanceof Broken && error.refusal.code === 'upstream_timeout';
    if (error instanceof Broken && !isLate) return sourceOf(error.refusal.reason) ?? 'client';
    // The limit of the whole exchange also runs while the response is on its way to a slow client.
    if (isLate && this.#isAnswered) return 'client';
    if (!isLate && !this.#isBegun) return sourceOf(error.code ?? '') === 'gateway' ? 'gateway' : 'endpoint';
    // A client that sends or reads slowly makes upstreams give up. One that reads nothing of an upload is at fault itself.
    const isUnread = error.code === 'response_timeout';
    if ((!this.#isWhole && !isUnread) || this.#connection?.wasPaused === true) return 'client';
    return (isLate ? sourceOf('exchange_too_long') : sourceOf(error.code ?? '')) ?? 'request';
  }

  /** Safe are: nothing was sent; or a kept-alive connection died unanswered, and to do it twice is to do it once. */
  #mayTryAgain(error: Error): boolean {
    const { upstream } = this.#upstream;
    if (!upstream.retry || this.#isOver || error instanceof Broken || error instanceof ClientGone) return false;
    if (!this.#isBegun) return this.#tries < upstream.targets.length;
    const isWhole = !(this.#body instanceof RequestBody) || !this.#body.isBegun;
    const isIdempotent = IDEMPOTENT.has(this.#outgoing.exchange.request.method ?? '');
    const isDead = !this.#isAnswered && !isTimeout(error) && this.#connection?.isUnanswered === true;
    return this.#tries === 1 && isDead && isIdempotent && isWhole;
  }

  /** Ends it early, wherever it is. */
  #stop(reason: Error): void {
    if (this.#isOver) return;
    if (this.#connection === undefined) {
      this.#upstream.leave(this);
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

function tooLate(): Broken {
  return new Broken(new Refusal('upstream_timeout', { reason: 'exchange_too_long' }));
}
