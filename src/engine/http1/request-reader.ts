import type { Duplex } from 'node:stream';
import { type BodyConnection, type ClientRequest, checkRequestLine, parseRequest } from './client-request.ts';
import { type DeferredTask, defer, ReadPace } from './event-loop.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { isPersistent, type RequestErrorKind } from './message-head.ts';
import { BodyDecoder, HeadReader, START_BYTES } from './message-reader.ts';
import { type ResponseConnection, ResponseWriter } from './response-writer.ts';

/** The limit on bytes read ahead of the request, by which the gateway detects a disconnect. One read may exceed it. */
const MAX_AHEAD_BYTES = 262_144;
/** The gateway stops reading from a client that sends more than this before a tunnel opens. */
const MAX_EARLY_BYTES = 65_536;
const NO_BYTES = Buffer.alloc(0);

/** The socket of a client: of TCP, of TLS, or in memory. */
export interface ClientSocket extends Duplex {
  readonly remoteAddress?: string | undefined;
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

/**
 * Reads the requests of a client (RFC 9112). It parses each byte once and serves one request at a time. Pipelined requests wait as bytes
 * until the previous response has ended (section 9.3.2), and each one has its own turn of the event loop: thousands of them in one turn
 * would block all other clients.
 */
export abstract class RequestReader implements ResponseConnection, BodyConnection, DeferredTask {
  readonly socket: ClientSocket;
  /** The current request, until its response is over. Then it is dropped, so that an idle connection keeps no token in memory. */
  request: ClientRequest | undefined;
  response: ResponseWriter | undefined;
  /** True once the connection accepts no further request. */
  isClosing = false;
  /** True once the client has closed its side. */
  isHalfClosed = false;
  /** The bytes that were read ahead of the current request. */
  ahead: GrowingBuffer | undefined;
  /** All bytes so far. */
  protected readBytes = 0;
  /** When the current request began to arrive, or the idle time began. */
  protected sinceMs = performance.now();
  protected readonly heads = new HeadReader(checkRequestLine);
  protected readonly body = new BodyDecoder();
  /** True once the input belongs to a tunnel that may open. */
  protected isHandshake = false;
  /** The bytes that are parsed now, and the index of the next one. */
  #bytes: Buffer = NO_BYTES;
  #at = 0;
  #requests = 0;
  #isAdvancing = false;
  protected isPaused = false;
  /** Suspends reading while much of a body arrives, or very small chunks. */
  readonly #pace = new ReadPace(this);

  constructor(socket: ClientSocket) {
    this.socket = socket;
    socket.on('data', this.onData);
  }

  abstract readonly handler: RequestHandler<this>;
  abstract takeSentBytes(): number;
  abstract onResponseEnd(response: ResponseWriter): void;
  /** The client closed its side, and all bytes before that were read. */
  protected abstract onEnd(): void;
  /** A request was read whose client has closed its side. */
  protected abstract onHalfClosedRequest(): void;

  /** True if the client expects a response without a body: it sends a HEAD request, complete or not. */
  get isHeadRequest(): boolean {
    return this.request === undefined ? /^\s*HEAD\s/.test(this.heads.start) : this.request.method === 'HEAD';
  }

  /** Buffers what the client sends before a tunnel opens. The connection reads no further request. */
  holdEarlyData(): void {
    this.isHandshake = true;
  }

  /** Reads no further request and discards all input. */
  discardInput(): void {
    if (this.isClosing) return;
    this.isClosing = true;
    this.ahead = undefined;
    this.socket.resume();
  }

  /** Reads on, or pauses. */
  updateReads(): void {
    if (this.isClosing) return;
    const isFull =
      this.ahead !== undefined && this.ahead.size >= (this.isHandshake ? MAX_EARLY_BYTES : MAX_AHEAD_BYTES);
    const isBodyHeld = !this.body.isComplete && this.request?.mayRead === false;
    const isPaused = isFull || isBodyHeld || this.#pace.isSuspended;
    if (isPaused === this.isPaused) return;
    this.isPaused = isPaused;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }

  /** Parses the bytes that were read ahead. */
  runDeferred(): void {
    this.#isAdvancing = false;
    if (this.ahead === undefined || this.isClosing) return;
    const bytes = this.ahead.bytes();
    const end = this.#parse(bytes);
    if (this.isClosing) return;
    this.ahead = undefined;
    if (end < bytes.length) {
      this.#readLater(bytes.subarray(end));
      return;
    }
    this.updateReads();
    if (this.isHalfClosed && !(this.response !== undefined && this.isBetweenRequests)) this.onEnd();
  }

  /** True if no request has begun or the current one is complete. */
  protected get isBetweenRequests(): boolean {
    return this.body.isComplete && (this.heads.start === '' || this.heads.start === '\r\n');
  }

  /** Parses the bytes that were read ahead in the next turn of the event loop. */
  protected advanceLater(): void {
    if (!this.#isAdvancing) defer(this);
    this.#isAdvancing = true;
  }

  protected readonly onData = (bytes: Buffer): void => {
    if (this.isClosing) return;
    this.readBytes += bytes.length;
    if (this.ahead !== undefined || this.isHandshake) {
      this.#enqueue(bytes);
      return;
    }
    const end = this.#parse(bytes);
    if (end < bytes.length && !this.isClosing) this.#readLater(bytes.subarray(end));
  };

  /** Parses the bytes of the current request, or of the next one. Returns the index after them. */
  #parse(bytes: Buffer): number {
    let hasBegun = false;
    this.#bytes = bytes;
    this.#at = 0;
    while (this.#at < bytes.length && !this.isClosing && !this.isHandshake) {
      if (!this.body.isComplete) this.parseBody();
      else if (this.response !== undefined || hasBegun) break;
      else {
        this.#parseHead(bytes, this.#at);
        hasBegun = this.heads.start === '';
      }
    }
    this.#bytes = NO_BYTES;
    if (this.isPaused || !this.body.isComplete) this.updateReads();
    return this.#at;
  }

  #parseHead(bytes: Buffer, start: number): void {
    const { handler, heads } = this;
    const { limits } = handler;
    if (this.isBetweenRequests) this.sinceMs = performance.now();
    const text = heads.read(bytes, start, limits.headerLimitBytes);
    this.#at = text === '' ? bytes.length : heads.end;
    if (text === '') {
      if (heads.error !== undefined) handler.onRequestError(this, heads.error);
      return;
    }
    const { end } = heads;
    const request = parseRequest(text, this);
    if (typeof request === 'string') {
      // Behind empty lines, the method is in the next bytes.
      heads.start = text + bytes.toString('latin1', end, end + START_BYTES);
      handler.onRequestError(this, request);
      return;
    }
    this.#requests += 1;
    const { connection, upgrade } = request.known;
    const isHttp10 = request.httpVersion !== '1.1';
    // A client that asks for another protocol may already send it.
    const isLast =
      upgrade !== undefined ||
      this.#requests >= limits.maxRequestsPerConnection ||
      (this.isHalfClosed && end === bytes.length) ||
      (connection === undefined ? isHttp10 : !isPersistent(isHttp10, connection));
    const response = new ResponseWriter(this, request, !isLast);
    this.request = request;
    this.response = response;
    const { framing } = request;
    if (framing === 'chunked' || typeof framing === 'number') this.body.begin(framing);
    else if (framing !== undefined) this.body.begin(Number.POSITIVE_INFINITY);
    if (this.isHalfClosed) this.onHalfClosedRequest();
    handler.onRequest(this, request, response);
  }

  parseBody(): void {
    const { body, request } = this;
    const start = this.#at;
    if (body.isComplete || start >= this.#bytes.length || this.isClosing || this.isHandshake) return;
    const data = body.decode(this.#bytes, start);
    this.#at = body.end;
    if (body.error !== undefined) {
      this.#at = this.#bytes.length;
      this.handler.onRequestError(this, body.error);
      return;
    }
    if (data.length > 0) request?.receive(data);
    this.#pace.add(body.chunkCount, body.end - start);
    if (body.isComplete) {
      // Drops the trailers, which the gateway does not forward: an idle connection would keep them in memory.
      body.begin(0);
      request?.complete();
    }
  }

  #enqueue(bytes: Buffer): void {
    // Otherwise discard the bytes and keep reading, so that the gateway still detects a disconnect.
    if (this.isHandshake || this.response?.isPersistent !== false || !this.body.isComplete) {
      this.ahead ??= new GrowingBuffer(Number.POSITIVE_INFINITY);
      this.ahead.add(bytes);
    }
    this.updateReads();
  }

  #readLater(bytes: Buffer): void {
    this.#enqueue(bytes);
    if (this.response === undefined) this.advanceLater();
  }
}
