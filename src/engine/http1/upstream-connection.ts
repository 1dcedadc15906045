import type { Duplex } from 'node:stream';
import type { HostAddress } from '../dns/address-list.ts';
import { interceptWriteErrors } from '../node-internals/write-errors.ts';
import type { Dial, SocketHandler } from './dial.ts';
import { type DeferredTask, defer, type PacedSource, ReadPace, RestartableTimeout } from './event-loop.ts';
import { Http1Error } from './http1-error.ts';
import { formatRequestHead, writeBytes } from './message-head.ts';
import { ResponseParser } from './response-parser.ts';
import { Upload, type UploadListener, type UpstreamRequest } from './upstream-request.ts';

/** How long to wait for an early response after a write failed. If there is one, it is in the kernel's buffer already. */
const EARLY_RESPONSE_MS = 1_000;
/** The time for which an idle connection may be reused if the upstream sends no `Keep-Alive`. */
const DEFAULT_REUSE_MS = 4_000;
const MAX_REUSE_MS = 600_000;
/** An idle connection expires this long before the upstream closes it, because a request takes time to arrive. */
const REUSE_MARGIN_MS = 2_000;
const NO_BYTES = Buffer.alloc(0);
const TIMEOUT = /(?:^|[,\t ])timeout=(\d{1,9})/i;

export interface UpstreamConnectionOptions {
  readonly dial: Dial;
  /** The longest time until the response begins; 0: no limit. */
  readonly responseTimeoutMs: number;
  /** The longest time between two reads of a response; 0: no limit. */
  readonly idleTimeoutMs: number;
  /** By default 16 kB. */
  readonly responseHeadLimitBytes?: number | undefined;
  /** True if the connection carries a handshake and may become a tunnel. */
  readonly isForTunnel: boolean;
  /** Called when the connection closes without an exchange. */
  readonly onClosed: (connection: UpstreamConnection) => void;
}

/** `requested`: a request waits for the bytes that arrived before it. `busy`: a request is sent, or its response is received. */
type ConnectionState = 'new' | 'opening' | 'idle' | 'requested' | 'busy' | 'closed';

/** A connection to an upstream: one socket, which carries one HTTP/1.1 exchange at a time. */
export class UpstreamConnection implements PacedSource, SocketHandler, DeferredTask, UploadListener {
  /** True if the response of this exchange was paused: a slow client may be the reason that the upstream closed. */
  wasPaused = false;
  /** True if a reused connection received nothing since the latest request: the upstream may have closed it earlier. */
  mayHaveBeenStale = false;
  readonly #options: UpstreamConnectionOptions;
  /** Limits the time to the response, and then the times between its reads. */
  readonly #timeout: RestartableTimeout;
  readonly #parser: ResponseParser;
  /** Suspends reading while the upstream sends much, or very small chunks. */
  readonly #pace = new ReadPace(this);
  #state: ConnectionState = 'new';
  #socket: Duplex | undefined;
  /** True once failed writes leave the socket open. */
  #survivesWriteErrors = false;
  #address: HostAddress | undefined;
  #request: UpstreamRequest | undefined;
  #upload: Upload | undefined;
  #idleTimeoutMs = 0;
  #hasCompleted = false;
  /** The response began before the request was written, so the upstream may be about to close. */
  #isEarlyResponse = false;
  #isPaused = false;
  /** The end of the time for which the upstream allows reuse. */
  #expiresAt = Number.POSITIVE_INFINITY;
  /** The upstream closed before it had read the complete request. */
  #writeError: Error | undefined;

  constructor(options: UpstreamConnectionOptions) {
    this.#options = options;
    this.#parser = new ResponseParser(options.responseHeadLimitBytes);
    this.#timeout = new RestartableTimeout(options.responseTimeoutMs, () => this.#onTimeout());
  }

  /** True if the connection can carry an exchange now. */
  get isIdle(): boolean {
    return this.#state === 'idle';
  }

  /** True if no exchange may begin: the upstream may be about to close, or the host name no longer has this address. */
  get isStale(): boolean {
    return this.#address?.isRemoved === true || performance.now() > this.#expiresAt;
  }

  /**
   * Sends a request once the socket is open. On a reused connection it first reads the bytes that have already arrived. Otherwise
   * an attacker could plant a response for the next request (GHSA-35p6-xmwp-9g52 describes a client with this flaw).
   */
  send(request: UpstreamRequest): void {
    this.#request = request;
    this.mayHaveBeenStale = this.#hasCompleted;
    if (this.#state === 'new') this.#open();
    if (this.#state === 'opening') return;
    this.#state = 'requested';
    defer(this);
  }

  /** Ends the exchange with this error, and closes the connection. */
  abort(reason: unknown): void {
    if (this.#state === 'requested') this.#state = 'busy';
    this.#close(reason);
  }

  /** Suspends reading. */
  pause(): void {
    this.#isPaused = true;
    this.wasPaused = true;
    this.#timeout.stop();
    this.updateReads();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#parser.state === 'body') this.#timeout.start(this.#idleTimeoutMs);
    this.updateReads();
  }

  /** Replaces the idle timeout until this response ends. @param ms 0 for no limit */
  limitIdle(ms: number): void {
    this.#idleTimeoutMs = ms;
  }

  updateReads(): void {
    if (this.#state === 'closed') return;
    if (this.#isPaused || this.#pace.isSuspended) this.#socket?.pause();
    else this.#socket?.resume();
  }

  /** Closes the connection without an event. */
  destroy(): void {
    this.#release();
    this.#socket?.destroy();
  }

  onOpen(address?: HostAddress): void {
    if (this.#state !== 'opening') return;
    this.#address = address;
    this.#state = 'requested';
    this.runDeferred();
  }

  /** Begins the exchange. */
  runDeferred(): void {
    const request = this.#request;
    const socket = this.#socket;
    if (this.#state !== 'requested' || request === undefined || socket === undefined) return;
    this.#state = 'busy';
    this.wasPaused = false;
    this.#isEarlyResponse = false;
    this.#idleTimeoutMs = this.#options.idleTimeoutMs;
    this.#parser.begin(request.method);
    request.onRequestStart();
    if (this.#state !== 'busy') return;
    try {
      const head = formatRequestHead(request);
      const { body, length = 0 } = request;
      // A request without a body is one write, before which all that had arrived was read: no response waits behind its failure.
      if (body !== null && !this.#survivesWriteErrors) {
        this.#survivesWriteErrors = true;
        interceptWriteErrors(socket, (error) => this.#onWriteError(error));
      }
      if (body instanceof Upload) {
        this.#upload = body;
        body.start(socket, head, length, this);
      } else {
        writeBytes(socket, head, body ?? NO_BYTES);
        if (request.hasResponseTimeout) this.#timeout.start();
      }
    } catch (error) {
      this.#close(error);
    }
  }

  onBytes(bytes: Buffer): void {
    const request = this.#request;
    if (this.#state !== 'busy' || request === undefined) {
      this.#close(new Http1Error('response_unexpected'));
      return;
    }
    const parser = this.#parser;
    const { head: previousHead } = parser;
    this.mayHaveBeenStale = false;
    try {
      parser.parse(bytes, request);
    } catch (error) {
      this.#close(error);
      return;
    }
    const { head, state } = parser;
    if (head !== previousHead) {
      // Each informational (1xx) response restarts the time limit.
      if (state === 'head') this.#limitResponse();
      else this.#isEarlyResponse = this.#upload !== undefined;
    }
    if (state === 'complete') this.#complete();
    else if (state === 'upgraded') this.#upgrade();
    else if (state === 'body') this.#continueBody(bytes.length);
  }

  onUploadProgress(isComplete: boolean): void {
    if (isComplete) this.#upload = undefined;
    if (this.#parser.state !== 'body') this.#limitResponse();
  }

  #open(): void {
    const { dial, isForTunnel } = this.#options;
    this.#state = 'opening';
    const socket = dial(this, isForTunnel);
    this.#socket = socket;
    socket.on('error', (error) => this.#close(error));
    socket.on('end', () => {
      // After a failed write the end may be a reset, which does not complete a response (RFC 9112 section 8).
      if (this.#writeError === undefined && this.#parser.end()) this.#complete();
      else this.#onSocketClose();
    });
    socket.on('close', () => this.#onSocketClose());
  }

  #continueBody(size: number): void {
    this.#pace.add(this.#parser.body.chunkCount, size);
    if (!this.#isPaused) this.#timeout.start(this.#idleTimeoutMs);
    this.#request?.onReadComplete();
  }

  #complete(): void {
    const request = this.#request;
    const { head, body, isReusable } = this.#parser;
    // Unsent bytes would corrupt the next request on this connection.
    const isSent =
      !this.#isEarlyResponse && this.#socket?.writableNeedDrain === false && this.#writeError === undefined;
    // An upstream that refused a handshake may still have switched the protocol.
    const mayContinue = isReusable && isSent && request?.isHandshake === false;
    if (this.#isPaused) this.resume();
    this.#timeout.stop();
    const reuseMs = head?.keepAlive === undefined ? DEFAULT_REUSE_MS : reuseMsOf(head.keepAlive);
    this.#expiresAt = performance.now() + reuseMs;
    this.#request = undefined;
    this.#hasCompleted = true;
    if (mayContinue && reuseMs > 0) this.#state = 'idle';
    else this.destroy();
    request?.onEnd(body.trailers.headers);
  }

  /** Hands the socket over to the request. The listeners of a closed connection do nothing. */
  #upgrade(): void {
    const { head, bytesAfterUpgrade } = this.#parser;
    const request = this.#request;
    const socket = this.#socket;
    if (request?.isHandshake !== true || head === undefined || socket === undefined) {
      this.#close(new Http1Error('upgrade_unexpected'));
      return;
    }
    socket.removeAllListeners('data');
    socket.pause();
    if (bytesAfterUpgrade !== undefined) socket.unshift(bytesAfterUpgrade);
    this.#release();
    request.onUpgrade(head, socket);
  }

  #limitResponse(): void {
    if (this.#writeError === undefined && this.#request?.hasResponseTimeout === true) this.#timeout.start();
  }

  /** While the client is still sending the body, the client causes the delay, unless the upstream has stopped reading. */
  #onTimeout(): void {
    if (this.#parser.state === 'body') this.#close(new Http1Error('idle_timeout'));
    else if (this.#upload !== undefined && this.#socket?.writableNeedDrain === false) this.#timeout.start();
    else this.#close(this.#writeError ?? new Http1Error('response_timeout'));
  }

  /** The upstream has closed and reads no more of the request. It may have responded before, so keep reading for a moment. */
  #onWriteError(error: Error): void {
    if (this.#state !== 'busy') {
      this.#close(error);
      return;
    }
    this.#writeError = error;
    this.#upload?.stop();
    this.#upload = undefined;
    if (this.#parser.state !== 'body') this.#timeout.start(EARLY_RESPONSE_MS);
  }

  #onSocketClose(): void {
    this.#close(this.#writeError ?? new Http1Error('connection_closed'));
  }

  #close(error: unknown): void {
    if (this.#state === 'closed') return;
    const request = this.#request;
    const isStale = this.#state === 'requested';
    this.destroy();
    if (request === undefined) this.#options.onClosed(this);
    else if (isStale) request.onStale();
    else request.onError(error);
  }

  /** Ends the exchange and the time limits, but keeps the socket open. */
  #release(): void {
    this.#state = 'closed';
    this.#request = undefined;
    this.#parser.state = 'idle';
    this.#upload?.stop();
    this.#upload = undefined;
    this.#timeout.close();
  }
}

/** Returns the time for which an idle connection may be reused. @param header the upstream's `Keep-Alive` (RFC 2068 section 19.7.1.1) */
function reuseMsOf(header: string): number {
  const seconds = TIMEOUT.exec(header)?.[1];
  return seconds === undefined ? DEFAULT_REUSE_MS : Math.min(Number(seconds) * 1000 - REUSE_MARGIN_MS, MAX_REUSE_MS);
}
