import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerSettings } from '../../settings/server.ts';
import { clientKey, plainAddress } from '../fairness/client-key.ts';
import { Refusal } from '../response/refusal.ts';
import { ClientProgress } from './client-progress.ts';
import { HalfCloseProbe } from './half-close-probe.ts';
import { RequestFeed, type RequestFeedHandler } from './request-feed.ts';

/** How long a client may continue to send after its request was refused. */
export const LINGER_MS = 1_000;

/** Refuses bytes that are not a valid request, and closes the connection. */
export type RefusalHandler = (socket: Socket, refusal: Refusal) => void;

/** Returns the address of the peer; `undefined` once the socket is closed. */
export function peerAddress({ remoteAddress }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : plainAddress(remoteAddress);
}

/** The connection of a client. It serves one request at a time. */
export class ClientConnection implements RequestFeedHandler {
  readonly protocol: 'http' | 'https';
  readonly peer: string | undefined;
  /** The fairness key of the peer. */
  readonly client: string;
  /** True if the gateway closed the connection because the client stalled. */
  isStalled = false;
  readonly #socket: Socket;
  readonly #progress: ClientProgress;
  readonly #feed: RequestFeed;
  readonly #refuse: RefusalHandler;
  #requests = 0;
  /** True once the connection accepts no further request. */
  #isClosing = false;
  /** The response to the current request. */
  #response: ServerResponse | undefined;
  /** True until that response has ended. */
  #isBusy = false;
  #halfClose: HalfCloseProbe | undefined;
  #trustCheck: ServerSettings['trustedProxies'];
  #isTrusted = false;

  constructor(socket: Socket, refuse: RefusalHandler) {
    this.#socket = socket;
    this.#progress = new ClientProgress(socket);
    this.#refuse = refuse;
    this.protocol = 'encrypted' in socket ? 'https' : 'http';
    this.peer = peerAddress(socket);
    this.client = clientKey(this.peer ?? '');
    const close = () => this.closeGracefully();
    // Node calls this after the last response.
    socket.destroySoon = close;
    this.#feed = new RequestFeed(socket, this);
  }

  /**
   * Begins a request that the parser has read.
   *
   * @param limit the number of requests after which the connection closes. Node's own limit would still serve pipelined
   *   requests beyond it
   * @returns false, and resets the connection, if the previous response has not ended: then the parser and the scanner disagree
   *   about the end of the previous request, and one of the two readings smuggles a request
   */
  beginRequest(response: ServerResponse, limit: number): boolean {
    if (this.#isBusy || this.#isClosing) {
      this.reset();
      return false;
    }
    this.#isBusy = true;
    this.#response = response;
    this.#requests += 1;
    // Node drops the bytes that it reads together with an upgrade request, so later bytes may be the rest of its body.
    const isLast = this.#requests >= limit || response.req.headers.upgrade !== undefined || this.#feed.isAtEnd;
    if (isLast) response.shouldKeepAlive = false;
    if (this.isHalfClosed) this.#halfCloseProbe().scheduleProbe();
    return true;
  }

  /**
   * Ends the current request: its response has ended, or the client has disconnected. Drops the request, so that an idle
   * connection does not keep a token in memory.
   */
  completeRequest(): void {
    this.#isBusy = false;
    this.#response = undefined;
    this.#halfClose?.stop();
    if (this.#feed.isInBody && !this.#isClosing) this.#closeIfBodyContinues();
    this.#feed.feedNext();
  }

  /** Closes the connection if the client still sends the body of a finished request after `LINGER_MS`. */
  #closeIfBodyContinues(): void {
    const requests = this.#requests;
    const check = () => {
      if (this.#requests === requests && this.#feed.isInBody && !this.#isClosing && !this.#socket.destroyed)
        this.closeGracefully();
    };
    setTimeout(check, LINGER_MS).unref();
  }

  /** Detaches the socket for a tunnel. Returns the bytes that followed the handshake. */
  detach(): Buffer {
    this.#isClosing = true;
    return this.#feed.detach();
  }

  /** Reads no further request and discards all input. */
  discardInput(): void {
    this.#isClosing = true;
    this.#feed.discardInput();
  }

  /**
   * Closes the connection after the pending writes. For `LINGER_MS` the gateway reads and discards input: closing with unread
   * bytes would reset the connection, and the client could lose the end of the response (RFC 9112 section 9.6).
   */
  closeGracefully(): void {
    this.discardInput();
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), LINGER_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  /** True between two requests. A new connection is not idle, because the client may be about to send its first request. */
  get isIdle(): boolean {
    return (
      !this.#isBusy && !this.#isClosing && !this.isUnused && this.#feed.isBetweenRequests && !this.#feed.hasWaitingBytes
    );
  }

  /** True if the client expects a response without a body: it sends a HEAD request, complete or not. */
  get isHeadRequest(): boolean {
    return this.request === undefined ? this.#feed.isInHeadRequest : this.request.method === 'HEAD';
  }

  /** True for a connection that no request uses. */
  get isReplaceable(): boolean {
    return !this.#isClosing && (this.isUnused || this.isIdle);
  }

  /** True once the connection accepts no further request. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** True until the response to the current request has ended. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  get isLastExchange(): boolean {
    return this.#response?.shouldKeepAlive === false;
  }

  /** The current request. */
  get request(): IncomingMessage | undefined {
    return this.#response?.req;
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
    const response = this.#response;
    if (response?.headersSent === true) this.#watch(response);
    else if (response !== undefined) {
      if (!this.#feed.hasWaitingBytes) response.shouldKeepAlive = false;
      this.#halfCloseProbe().probe();
    }
  }

  onEnd(): void {
    this.closeGracefully();
  }

  /** Removes the bytes from a response head that the half-close probe has already sent. */
  trimSentBytes(response: ServerResponse & { _header?: string | undefined }): void {
    const sent = this.#halfClose?.takeSentBytes() ?? 0;
    if (sent > 0) response._header = response._header?.slice(sent);
    if (this.isHalfClosed && response.chunkedEncoding) this.#watch(response);
  }

  /** True if the peer is a trusted proxy. The result is cached for each plan. */
  isTrustedProxy(isTrusted: NonNullable<ServerSettings['trustedProxies']>): boolean {
    if (isTrusted !== this.#trustCheck) {
      this.#trustCheck = isTrusted;
      this.#isTrusted = this.peer !== undefined && isTrusted(this.peer);
    }
    return this.#isTrusted;
  }

  /** True until the first byte arrives: browsers open connections in advance. */
  get isUnused(): boolean {
    return this.#socket.bytesRead === 0;
  }

  /** True while the response has begun and the request has not ended. */
  get isResponding(): boolean {
    return this.#progress.isResponding;
  }

  /** Returns the number of consecutive checks without progress of the client. */
  checkProgress(): number {
    return this.#progress.check(this.request);
  }

  /** Closes the connection at once, to make room for another one. A response in flight must not look complete. */
  evict(onClose: () => void): void {
    this.#isClosing = true;
    this.#socket.once('close', onClose);
    if (this.#isBusy) this.reset();
    else this.#socket.destroy();
  }

  reset(): void {
    this.#progress.reset();
  }

  #watch(response: ServerResponse): void {
    this.#halfCloseProbe().watch(response, () => this.#progress.bytesFlushed);
  }

  #halfCloseProbe(): HalfCloseProbe {
    this.#halfClose ??= new HalfCloseProbe(this.#socket);
    return this.#halfClose;
  }
}
