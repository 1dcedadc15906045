import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientKey } from '../../fairness/client-key.ts';
import type { ServerSettings } from '../../plan/settings/server.ts';
import { Refusal } from '../response/refusal.ts';
import { LINGER_MS } from '../response/refuse.ts';
import { ClientProgress } from './client-progress.ts';
import { HalfCloseProbe } from './half-close-probe.ts';
import { RequestFeed, type RequestFeedHandler } from './request-feed.ts';

/** Refuses bytes that are no request, and ends the connection. */
export type RefusalHandler = (socket: Socket, refusal: Refusal) => void;

/** A client's connection, and what is known of it for as long as it stands. */
export class ClientConnection implements RequestFeedHandler {
  readonly protocol: 'http' | 'https';
  readonly peer: string | undefined;
  /** The key of the peer. */
  readonly client: string;
  /** Its client kept the gateway waiting, and it was cut off. */
  isStalled = false;
  readonly #socket: Socket;
  readonly #progress: ClientProgress;
  readonly #feed: RequestFeed;
  readonly #refuse: RefusalHandler;
  #requests = 0;
  #isOver = false;
  /** The response to the latest request, and whether it is still owed. */
  #latest: ServerResponse | undefined;
  #isBusy = false;
  #halfClose: HalfCloseProbe | undefined;
  #trusts: ServerSettings['trustedProxies'];
  #isTrusted = false;

  constructor(socket: Socket, refuse: RefusalHandler) {
    this.#socket = socket;
    this.#progress = new ClientProgress(socket);
    this.#refuse = refuse;
    this.protocol = 'encrypted' in socket ? 'https' : 'http';
    this.peer = socket.remoteAddress;
    this.client = clientKey(this.peer ?? '');
    // Node calls this behind the last response.
    socket.destroySoon = () => this.closeGracefully();
    this.#feed = new RequestFeed(socket, this);
  }

  /**
   * Takes a request that the parser has made.
   *
   * @param limit the response to so many requests closes the connection: Node's own limit does not, and serves the requests behind it
   * @returns false, and the connection is reset, when a response is still owed: the parser does not agree where the request
   *   before it ended, and one of the two readings smuggles a request
   */
  beginRequest(response: ServerResponse, limit: number): boolean {
    if (this.#isBusy || this.#isOver) {
      this.reset();
      return false;
    }
    this.#isBusy = true;
    this.#latest = response;
    this.#requests += 1;
    // Node drops what it read together with a request that asks for an upgrade: what comes next may be its body.
    const isLast = this.#requests >= limit || response.req.headers.upgrade !== undefined || this.#feed.isAtEnd;
    if (isLast) response.shouldKeepAlive = false;
    if (this.isHalfClosed) this.#halfCloseOf().scheduleProbe();
    return true;
  }

  /**
   * The response has ended, or the client has left: the next request may come. The request, with the token in its headers, is not
   * kept while the connection is idle.
   */
  completeRequest(): void {
    this.#isBusy = false;
    this.#latest = undefined;
    this.#halfClose?.stop();
    if (this.#feed.isInBody && !this.#isOver) this.#endLate();
    this.#feed.feedNext();
  }

  /** Ends it when the body of a request whose response has ended goes on for longer than a moment. */
  #endLate(): void {
    const requests = this.#requests;
    const end = () => {
      if (this.#requests === requests && this.#feed.isInBody && !this.#isOver && !this.#socket.destroyed)
        this.closeGracefully();
    };
    setTimeout(end, LINGER_MS).unref();
  }

  /** Gives the socket to a tunnel; returns the bytes that came behind the handshake. */
  detach(): Buffer {
    this.#isOver = true;
    return this.#feed.detach();
  }

  /** Reads no further request; everything that comes is thrown away. */
  discardInput(): void {
    this.#isOver = true;
    this.#feed.discardInput();
  }

  /**
   * Ends it behind the bytes that were written. For a moment the gateway reads and discards what the client still sends: closing
   * with unread bytes would reset the connection, and the client could lose the end of the response (RFC 9112 section 9.6).
   */
  closeGracefully(): void {
    this.discardInput();
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), LINGER_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  /** True when no request is being read or answered, and one has been: a new connection may be about to send its first. */
  get isIdle(): boolean {
    return (
      !this.#isBusy && !this.#isOver && !this.isUnused && this.#feed.isBetweenRequests && !this.#feed.hasWaitingBytes
    );
  }

  /** True while a response is owed. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  get isLastExchange(): boolean {
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

  onAborted(): void {
    this.#socket.destroy();
  }

  onHalfClosed(): void {
    const response = this.#latest;
    if (response?.headersSent === true) this.#watch(response);
    else if (response !== undefined) {
      if (!this.#feed.hasWaitingBytes) response.shouldKeepAlive = false;
      this.#halfCloseOf().probe();
    }
  }

  onEnd(): void {
    this.closeGracefully();
  }

  /** Takes from the head of a response what was sent of it before it was known. */
  trimSentBytes(response: ServerResponse & { _header?: string | undefined }): void {
    const sent = this.#halfClose?.takeSentBytes() ?? 0;
    if (sent > 0) response._header = response._header?.slice(sent);
    if (this.isHalfClosed && response.chunkedEncoding) this.#watch(response);
  }

  /** True if the peer is a trusted proxy. Looked up once for each plan. */
  isTrustedProxy(trusts: NonNullable<ServerSettings['trustedProxies']>): boolean {
    if (trusts !== this.#trusts) {
      this.#trusts = trusts;
      this.#isTrusted = this.peer !== undefined && trusts(this.peer);
    }
    return this.#isTrusted;
  }

  /** True while no byte has come on it: it was opened in advance. */
  get isUnused(): boolean {
    return this.#socket.bytesRead === 0;
  }

  /** True once the head of a response has been sent while its request is still coming. */
  get isResponding(): boolean {
    return this.#progress.isResponding;
  }

  /** @returns how many looks in a row have found that the client keeps the gateway waiting */
  checkProgress(): number {
    return this.#progress.check(this.request);
  }

  reset(): void {
    this.#progress.reset();
  }

  #watch(response: ServerResponse): void {
    this.#halfCloseOf().watch(response, () => this.#progress.bytesFlushed);
  }

  #halfCloseOf(): HalfCloseProbe {
    this.#halfClose ??= new HalfCloseProbe(this.#socket);
    return this.#halfClose;
  }
}
