import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerRules } from '../plan/plan.ts';
import { HalfClose } from './half-close.ts';
import { Refusal } from './refusal.ts';
import { LINGER_MS } from './refuse.ts';
import { type FeedOwner, RequestFeed } from './request-feed.ts';

/** Properties of Node's own that it does not document. */
interface Inner extends Socket {
  /** The response that is being written. */
  readonly _httpMessage?: ServerResponse | null;
  /** Below TLS: the socket that carries it. */
  readonly _parent?: Inner | null;
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
}

/** Refuses bytes that are no request, and ends the connection. */
export type Refuse = (socket: Socket, refusal: Refusal) => void;

/** A client's connection, and what is known of it for as long as it stands. */
export class Connection implements FeedOwner {
  readonly protocol: 'http' | 'https';
  readonly peer: string | undefined;
  /** Its client kept the gateway waiting, and it was cut off. */
  isStalled = false;
  /** The response lasts for as long as the client stays. */
  isLongLived = false;
  readonly #socket: Inner;
  readonly #carrier: Inner;
  readonly #feed: RequestFeed;
  readonly #refuse: Refuse;
  #requests = 0;
  #isOver = false;
  /** The response to the latest request, and whether it is still owed. */
  #latest: ServerResponse | undefined;
  #isBusy = false;
  #halfClose: HalfClose | undefined;
  #trusts: ServerRules['trusts'];
  #isTrusted = false;
  #awaited: 'answer' | 'body' | undefined;
  #moved = 0;
  #stillLooks = 0;

  constructor(socket: Socket, refuse: Refuse) {
    this.#socket = socket;
    this.#carrier = this.#socket._parent ?? socket;
    this.#refuse = refuse;
    this.protocol = 'encrypted' in socket ? 'https' : 'http';
    this.peer = socket.remoteAddress;
    // Node calls this behind the last response.
    socket.destroySoon = () => this.finish();
    this.#feed = new RequestFeed(socket, this);
  }

  /**
   * Takes a request that the parser has made.
   *
   * @param limit the response to so many requests closes the connection: Node's own limit does not, and answers what comes after
   * @returns false, and the connection is reset, when a response is still owed: the parser does not agree where the request
   *   before it ended, and one of the two readings smuggles a request
   */
  begin(response: ServerResponse, limit: number): boolean {
    if (this.#isBusy || this.#isOver) {
      this.reset();
      return false;
    }
    this.#isBusy = true;
    this.#latest = response;
    this.isLongLived = false;
    this.#requests += 1;
    // Node drops what it read together with a request that asks for an upgrade: what comes next may be its body.
    const isLast = this.#requests >= limit || response.req.headers.upgrade !== undefined || this.#feed.isAtEnd;
    if (isLast) response.shouldKeepAlive = false;
    if (this.isHalfClosed) this.#halfCloseOf().probeLater();
    return true;
  }

  /**
   * The response has ended, or the client has left: the next request may come. The request, with the token in its headers, is not
   * kept while the connection is idle.
   */
  proceed(): void {
    this.#isBusy = false;
    this.#latest = undefined;
    this.#halfClose?.stop();
    this.#feed.proceed();
  }

  /** Gives the socket to a tunnel; returns the bytes that came behind the handshake. */
  release(): Buffer {
    this.#isOver = true;
    return this.#feed.release();
  }

  /** Reads no further request; everything that comes is thrown away. */
  ignoreRest(): void {
    this.#isOver = true;
    this.#feed.stop();
  }

  /**
   * Ends it behind the bytes that were written. What the client still sends is read for a moment and thrown away: to close with
   * bytes unread is a reset, and would take the end of the response along (RFC 9112 section 9.6).
   */
  finish(): void {
    this.ignoreRest();
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), LINGER_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  /** True when no request is being read or answered, and one has been: a new connection may be about to send its first. */
  get isIdle(): boolean {
    return !this.#isBusy && !this.#isOver && !this.isUnused && this.#feed.isBetween && !this.#feed.isAhead;
  }

  /** True while a response is owed. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  get isLast(): boolean {
    return this.#latest?.shouldKeepAlive === false;
  }

  /** The latest request. */
  get request(): IncomingMessage | undefined {
    return this.#latest?.req;
  }

  /** True once the client has closed its side. */
  get isHalfClosed(): boolean {
    return this.#feed.hasEnded;
  }

  onMalformed(): void {
    this.#refuse(this.#socket, new Refusal('message_malformed', { reason: 'request_line' }));
  }

  onLeft(): void {
    this.#socket.destroy();
  }

  onHalfClosed(): void {
    const response = this.#latest;
    if (response?.headersSent === true) this.#halfCloseOf().watch(response, () => this.#bytesTaken());
    else if (response !== undefined) {
      if (!this.#feed.isAhead) response.shouldKeepAlive = false;
      this.#halfCloseOf().probe();
    }
  }

  onDone(): void {
    this.finish();
  }

  /** Takes from the head of a response what was sent of it before it was known. */
  trimHead(response: ServerResponse & { _header?: string | undefined }): void {
    const sent = this.#halfClose?.takeSent() ?? 0;
    if (sent > 0) response._header = response._header?.slice(sent);
    if (this.isHalfClosed && response.chunkedEncoding) this.#halfCloseOf().watch(response, () => this.#bytesTaken());
  }

  /** Whether the peer is a trusted proxy. Looked up once, and anew when another plan says who is trusted. */
  isTrusted(trusts: NonNullable<ServerRules['trusts']>): boolean {
    if (trusts !== this.#trusts) {
      this.#trusts = trusts;
      this.#isTrusted = this.peer !== undefined && trusts(this.peer);
    }
    return this.#isTrusted;
  }

  /** Not a byte came on it: it was opened in advance. */
  get isUnused(): boolean {
    return this.#socket.bytesRead === 0;
  }

  /** The beginning of an answer has left, and the request is still coming. */
  get isAnswering(): boolean {
    const answer = this.#socket._httpMessage;
    return answer?.headersSent === true && !answer.req.complete;
  }

  /**
   * Looks whether the client keeps the gateway waiting: it takes nothing of an answer, or sends nothing of a body.
   *
   * @returns how many looks in a row have found nothing moved
   */
  look(): number {
    const awaited = this.#whatIsAwaited();
    const moved = awaited === 'answer' ? this.#bytesTaken() : this.#socket.bytesRead;
    const isStill = awaited !== undefined && awaited === this.#awaited && moved === this.#moved;
    this.#stillLooks = isStill ? this.#stillLooks + 1 : 0;
    this.#awaited = awaited;
    this.#moved = moved;
    return this.#stillLooks;
  }

  /** Ends it by a reset: a close could be taken for the end of an answer (RFC 9112 section 8). */
  reset(): void {
    this.#carrier.resetAndDestroy();
  }

  #halfCloseOf(): HalfClose {
    this.#halfClose ??= new HalfClose(this.#socket);
    return this.#halfClose;
  }

  #whatIsAwaited(): 'answer' | 'body' | undefined {
    // A client that has an answer to read may leave its body for later. A tunnel has no answer.
    if (this.#socket.writableLength > 0) return this.#socket._httpMessage ? 'answer' : undefined;
    const request = this.#latest?.req;
    return request?.complete === false && request.readableFlowing === true ? 'body' : undefined;
  }

  /** What the kernel has taken; a write of 64 kB counts byte by byte. */
  #bytesTaken(): number {
    const handle = this.#carrier._handle;
    return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
  }
}
