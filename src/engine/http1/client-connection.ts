import type { Duplex } from 'node:stream';
import { bytesSent } from '../node-internals/tcp-handle.ts';
import { ChunkedDecoder } from './chunked-decoder.ts';
import { ClientProgress } from './client-progress.ts';
import { ClientRequest } from './client-request.ts';
import { ChunkCounter, type PacedSource, resumeLater } from './event-loop.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { HalfCloseProbe } from './half-close-probe.ts';
import { isPersistent, parseRequestLines, type RequestErrorKind } from './message-head.ts';
import { HEAD_END, PartialHead } from './partial-head.ts';
import { ResponseWriter } from './response-writer.ts';

/** How long a client may continue to send after the last response. */
export const LINGER_MS = 1_000;
/** The limit on bytes read ahead of the request, by which the gateway detects a disconnect. One read may exceed it. */
const MAX_AHEAD_BYTES = 262_144;
/** A longer head, or one that arrives in pieces, is collected first. */
const SHORT_HEAD_BYTES = 4_096;
/** The gateway stops reading from a client that sends more than this before a tunnel opens. */
const MAX_EARLY_BYTES = 65_536;
/** An idle connection stays open for this much longer than announced, so that a request in transit is not lost. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

/** The socket of a client: of TCP, of TLS, or in memory. */
export interface ClientSocket extends Duplex {
  readonly remoteAddress?: string | undefined;
}

/** The socket below HTTP and TLS. */
export interface CarrierSocket extends ClientSocket {
  resetAndDestroy(): unknown;
}

/** The limits of client connections. */
export interface ClientConnectionLimits {
  /** The size of a request head. */
  readonly headerLimitBytes: number;
  /** The times from the first byte of a request to the end of its head and to its own end; 0: no limit. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** The time for which an idle connection stays open; 0: no limit. */
  readonly keepAliveTimeoutMs: number;
  readonly maxRequestsPerConnection: number;
}

/** Serves the requests of all connections. */
export interface RequestHandler<Connection> {
  readonly limits: ClientConnectionLimits;
  /** Serves a request, whose body may still arrive. */
  onRequest(connection: Connection, request: ClientRequest, response: ResponseWriter): void;
  /** Ends the connection after bytes that are not a valid request. */
  onRequestError(connection: Connection, kind: RequestErrorKind): void;
}

interface OpenBody {
  /** Bytes still to come; NaN for a chunked body. */
  remaining: number;
  readonly decoder: ChunkedDecoder | undefined;
}

/**
 * The connection of a client (RFC 9112). It parses each byte once and serves one request at a time. Pipelined requests wait as bytes
 * until the previous response has ended (section 9.3.2), and each one has its own turn of the event loop: thousands of them in one turn
 * would block all other clients.
 */
export abstract class ClientConnection implements PacedSource {
  readonly socket: ClientSocket;
  /** True if the gateway closed the connection because the client stalled. */
  isStalled = false;
  /** The current request, until its response is over. Then it is dropped, so that an idle connection keeps no token in memory. */
  request: ClientRequest | undefined;
  response: ResponseWriter | undefined;
  readonly #carrier: CarrierSocket;
  /** The first part of a head that is not complete. */
  #head: PartialHead | undefined;
  #body: OpenBody | undefined;
  /** The bytes that were read ahead of the current request. */
  #ahead: GrowingBuffer | undefined;
  #aheadBytes = 0;
  #isAdvancing = false;
  #requests = 0;
  #hasEnded = false;
  /** True once the connection accepts no further request. */
  #isClosing = false;
  /** True once the input belongs to a tunnel that may open. */
  #isHandshake = false;
  #isTunnel = false;
  /** True while reading is suspended because a body arrives in very small chunks. */
  #isSuspended = false;
  #isPaused = false;
  readonly #chunks = new ChunkCounter();
  #halfClose: HalfCloseProbe | undefined;
  /** When the current request began to arrive, or the idle time began. */
  #sinceMs = performance.now();
  #readBytes = 0;
  readonly #progress = new ClientProgress();

  /** @param carrier the socket of TCP below that of TLS */
  constructor(socket: ClientSocket, carrier: CarrierSocket) {
    this.socket = socket;
    this.#carrier = carrier;
    // Otherwise Node would close the connection before pending responses are sent.
    socket.allowHalfOpen = true;
    socket
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('drain', this.#onDrain)
      // The `close` event follows.
      .on('error', () => undefined)
      .on('close', () => this.#onClose());
  }

  protected abstract readonly handler: RequestHandler<this>;

  get keepAliveTimeoutMs(): number {
    return this.handler.limits.keepAliveTimeoutMs;
  }

  /** True between two requests. A new connection is not idle, because the client may be about to send its first request. */
  get isIdle(): boolean {
    return !this.isBusy && !this.#isClosing && !this.isUnused && !this.#isReceiving && this.#ahead === undefined;
  }

  /** True until the response to the current request is over. */
  get isBusy(): boolean {
    return this.response !== undefined;
  }

  /** True for a connection that no request uses. */
  get isReplaceable(): boolean {
    return !this.#isClosing && (this.isUnused || this.isIdle);
  }

  /** True once the connection accepts no further request. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** True until the first byte arrives: browsers open connections in advance. */
  get isUnused(): boolean {
    return this.#readBytes === 0;
  }

  /** True once the client has closed its side. */
  get isHalfClosed(): boolean {
    return this.#hasEnded;
  }

  /** True if the client expects a response without a body: it sends a HEAD request, complete or not. */
  get isHeadRequest(): boolean {
    if (this.request !== undefined) return this.request.method === 'HEAD';
    return /^\s*HEAD\s/.test(this.#head?.start ?? '');
  }

  /** True while the rest of a body is read whose response has ended. */
  get isDiscarding(): boolean {
    return this.#body !== undefined && !this.isBusy;
  }

  /** True while the response has begun and the request has not ended. */
  get isResponding(): boolean {
    return this.response?.hasBegun === true && this.request?.isComplete === false;
  }

  takeSentBytes(): number {
    const sent = this.#halfClose?.takeSentBytes() ?? 0;
    if (this.#hasEnded && this.response?.isChunked === true) this.#watch(this.response);
    return sent;
  }

  onResponseEnd(): void {
    if (this.response?.isPersistent === false) this.closeGracefully();
    this.#endExchange(true);
    if (this.#isClosing || this.socket.destroyed) return;
    this.#sinceMs = performance.now();
    if (this.#isPaused) this.#updateReads();
    if (this.#body !== undefined) this.#closeIfBodyContinues();
    if (this.#ahead !== undefined) this.#advanceLater();
    else if (this.#hasEnded) this.#onEnd();
  }

  /** Buffers what the client sends before a tunnel opens. The connection reads no further request. */
  holdEarlyData(): void {
    this.#isHandshake = true;
  }

  /** Leaves the socket to a tunnel. Returns the bytes that arrived early. */
  detach(): Buffer {
    const early = this.#ahead?.bytes() ?? Buffer.alloc(0);
    this.#isClosing = true;
    this.#isTunnel = true;
    this.#dropAhead();
    this.socket.pause().off('data', this.#onData).off('end', this.#onEnd).off('drain', this.#onDrain);
    return early;
  }

  /** Reads no further request and discards all input. */
  discardInput(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#isPaused = false;
    this.#dropAhead();
    this.socket.resume();
  }

  /**
   * Closes the connection after the pending writes. For `LINGER_MS` the gateway reads and discards input: closing with unread
   * bytes would reset the connection, and the client could lose the end of the response (RFC 9112 section 9.6).
   */
  closeGracefully(lastText = ''): void {
    this.discardInput();
    if (lastText === '') this.socket.end();
    else this.socket.end(lastText, 'latin1');
    const timer = setTimeout(() => this.socket.destroy(), LINGER_MS);
    this.socket.once('close', () => clearTimeout(timer));
  }

  /** Ends the current exchange, sends a last text and closes the connection. */
  refuseInput(lastText: string): void {
    this.#endExchange(false);
    this.closeGracefully(lastText);
  }

  /** Closes the connection at once, to make room for another one. A response in flight must not look complete. */
  evict(onClose: () => void): void {
    this.#isClosing = true;
    this.socket.once('close', onClose);
    if (this.isBusy) this.reset();
    else this.socket.destroy();
  }

  /** Resets the connection: a client could read a normal close as the end of a response (RFC 9112 section 8). */
  reset(): void {
    // A unix socket has no address, and cannot be reset.
    if (this.#carrier.remoteAddress !== undefined) this.#carrier.resetAndDestroy();
    this.socket.destroy();
  }

  /** Checks the time limits of the client. */
  checkTimeouts(nowMs: number): void {
    if (this.#isClosing || this.#isHandshake) return;
    const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs } = this.handler.limits;
    const ms = nowMs - this.#sinceMs;
    const isExpired = (limitMs: number) => limitMs > 0 && ms > limitMs;
    if (this.isIdle) {
      if (isExpired(keepAliveTimeoutMs + KEEP_ALIVE_MARGIN_MS) && keepAliveTimeoutMs > 0) this.closeGracefully();
    } else if (this.#body !== undefined ? isExpired(requestTimeoutMs) : !this.isBusy && isExpired(headersTimeoutMs)) {
      this.handler.onRequestError(this, 'late');
    }
  }

  /** Returns the number of consecutive checks without progress of the client. */
  checkProgress(): number {
    const awaited = this.#awaitedPart();
    return this.#progress.check(awaited, awaited === 'response' ? bytesSent(this.#carrier) : this.#readBytes);
  }

  resumeReads(): void {
    this.#isSuspended = false;
    this.#updateReads();
  }

  get #isReceiving(): boolean {
    return this.#body !== undefined || this.#head !== undefined;
  }

  /** True if no request has begun or the current one is complete. */
  get #isBetweenRequests(): boolean {
    return this.#body === undefined && (this.#head === undefined || this.#head.start === '\r\n');
  }

  /** A client with unread response bytes may send its body later. */
  #awaitedPart(): 'response' | 'body' | undefined {
    if (this.response === undefined || this.#isTunnel) return undefined;
    if (this.socket.writableLength > 0) return 'response';
    return this.request?.isAwaited === true ? 'body' : undefined;
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isClosing) return;
    this.#readBytes += bytes.length;
    if (this.#ahead !== undefined || this.#isHandshake) {
      this.#enqueue(bytes);
      return;
    }
    const end = this.#parse(bytes, 0);
    if (end === bytes.length || this.#isClosing) return;
    this.#enqueue(bytes.subarray(end));
    if (!this.isBusy) this.#advanceLater();
  };

  /** Parses the bytes of the current request, or of the next one. Returns the index after them. */
  #parse(bytes: Buffer, start: number): number {
    let at = start;
    let hasBegun = false;
    while (at < bytes.length && !this.#isClosing && !this.#isHandshake) {
      if (this.#body !== undefined) at = this.#parseBody(this.#body, bytes, at);
      else if (this.isBusy || hasBegun) break;
      else {
        at = this.#parseHead(bytes, at);
        hasBegun = this.#head === undefined;
      }
    }
    this.#updateReads();
    return at;
  }

  #parseHead(bytes: Buffer, start: number): number {
    const { limits } = this.handler;
    const { headerLimitBytes } = limits;
    if (this.#head === undefined) {
      this.#sinceMs = performance.now();
      const text = bytes.toString('latin1', start, start + SHORT_HEAD_BYTES);
      const size = text.indexOf(HEAD_END) + 2;
      if (size > 1 && size <= headerLimitBytes) {
        const end = start + size + 2;
        this.#begin(text.slice(0, size), bytes, end, limits);
        return end;
      }
      this.#head = new PartialHead(headerLimitBytes);
    }
    const head = this.#head;
    const end = head.add(bytes, start);
    if (typeof end === 'string') this.handler.onRequestError(this, end);
    else if (end !== undefined) {
      this.#head = undefined;
      this.#begin(head.text, bytes, end, limits);
      return end;
    }
    return bytes.length;
  }

  /** @param end the index after the head in the bytes of this read */
  #begin(text: string, bytes: Buffer, end: number, limits: ClientConnectionLimits): void {
    const lines = parseRequestLines(text);
    if (typeof lines === 'string') {
      this.#head = new PartialHead(text.length);
      // Behind empty lines, the method is in the next bytes.
      this.#head.add(Buffer.concat([Buffer.from(text, 'latin1'), bytes.subarray(end)]), 0);
      this.handler.onRequestError(this, lines);
      return;
    }
    const request = new ClientRequest(lines, this.#onFlow);
    const { framing } = request;
    this.#requests += 1;
    // A client that asks for another protocol may already send it.
    const isLast =
      request.known.upgrade !== undefined ||
      this.#requests >= limits.maxRequestsPerConnection ||
      (this.#hasEnded && end === bytes.length) ||
      !isPersistent(request.httpVersion !== '1.1', request.known.connection);
    const response = new ResponseWriter(this, request, !isLast);
    this.request = request;
    this.response = response;
    if (framing === 'chunked') {
      const decoder = new ChunkedDecoder((bytes) => request.receive(bytes), 'request_malformed');
      this.#body = { remaining: Number.NaN, decoder };
    } else if (framing !== undefined)
      this.#body = { remaining: typeof framing === 'number' ? framing : Number.POSITIVE_INFINITY, decoder: undefined };
    if (this.#hasEnded) this.#halfCloseProbe().scheduleProbe();
    this.handler.onRequest(this, request, response);
  }

  #parseBody(body: OpenBody, bytes: Buffer, start: number): number {
    const request = this.request;
    if (body.decoder === undefined) {
      const end = Math.min(bytes.length, start + body.remaining);
      body.remaining -= end - start;
      request?.receive(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
      if (body.remaining === 0) this.#endBody();
      return end;
    }
    try {
      const end = body.decoder.decode(bytes, start);
      if (this.#chunks.add(body.decoder.chunkCount, end - start)) this.#suspend();
      if (body.decoder.isComplete) this.#endBody();
      return end;
    } catch {
      this.handler.onRequestError(this, body.decoder.areTrailersTooLong ? 'too_large' : 'body');
      return bytes.length;
    }
  }

  #endBody(): void {
    this.#body = undefined;
    this.request?.complete();
  }

  readonly #onFlow = (): void => this.#updateReads();

  #suspend(): void {
    if (this.#isSuspended) return;
    this.#isSuspended = true;
    resumeLater(this);
  }

  #updateReads(): void {
    if (this.#isClosing) return;
    const isFull = this.#aheadBytes >= (this.#isHandshake ? MAX_EARLY_BYTES : MAX_AHEAD_BYTES);
    const isBodyHeld = this.#body !== undefined && this.request?.mayRead === false;
    const isPaused = isFull || isBodyHeld || this.#isSuspended;
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }

  #enqueue(bytes: Buffer): void {
    // Discard the bytes and keep reading, so that the gateway still detects a disconnect.
    if (!this.#isHandshake && this.response?.isPersistent === false && this.#body === undefined) {
      this.#updateReads();
      return;
    }
    this.#ahead ??= new GrowingBuffer(Number.POSITIVE_INFINITY);
    this.#ahead.add(bytes);
    this.#aheadBytes += bytes.length;
    this.#updateReads();
  }

  #advanceLater(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    setImmediate(this.#advance);
  }

  readonly #advance = (): void => {
    this.#isAdvancing = false;
    if (this.#ahead === undefined || this.#isClosing) return;
    const bytes = this.#ahead.bytes();
    this.#aheadBytes = 0;
    const end = this.#parse(bytes, 0);
    if (this.#isClosing) return;
    this.#dropAhead();
    if (end < bytes.length) {
      this.#enqueue(bytes.subarray(end));
      if (!this.isBusy) this.#advanceLater();
      return;
    }
    this.#updateReads();
    if (this.#hasEnded && !(this.isBusy && this.#isBetweenRequests)) this.#onEnd();
  };

  readonly #onDrain = (): void => this.response?.drain();

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (this.#isClosing) return;
    if (!this.#isBetweenRequests || this.#isHandshake) this.socket.destroy();
    else if (this.isBusy) this.#onHalfClosed();
    // Waiting requests are served first.
    else if (this.#ahead === undefined) this.closeGracefully();
  };

  #onHalfClosed(): void {
    const { response } = this;
    if (response?.hasBegun === true) this.#watch(response);
    else if (response !== undefined) {
      if (this.#ahead === undefined) response.isPersistent = false;
      this.#halfCloseProbe().probe();
    }
  }

  #onClose(): void {
    this.#isClosing = true;
    this.#dropAhead();
    this.#endExchange(false);
  }

  #endExchange(isFinished: boolean): void {
    const { response, request } = this;
    this.response = undefined;
    this.request = undefined;
    this.#halfClose?.stop();
    response?.setOver(isFinished);
    if (!isFinished) request?.close();
  }

  /** Closes the connection if the client still sends the body of a finished request after `LINGER_MS`. */
  #closeIfBodyContinues(): void {
    const requests = this.#requests;
    const check = () => {
      if (this.#requests === requests && this.#body !== undefined && !this.#isClosing) this.closeGracefully();
    };
    setTimeout(check, LINGER_MS).unref();
  }

  #dropAhead(): void {
    this.#ahead = undefined;
    this.#aheadBytes = 0;
  }

  #watch(response: ResponseWriter): void {
    if (!response.isOver && response.hasBegun) this.#halfCloseProbe().watch(response);
  }

  #halfCloseProbe(): HalfCloseProbe {
    this.#halfClose ??= new HalfCloseProbe(this.socket, () => bytesSent(this.#carrier));
    return this.#halfClose;
  }
}
