import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { getHeader } from '../../http1/raw-headers.ts';
import { GrowingBuffer } from '../request/growing-buffer.ts';
import { type BodyScanner, ChunkedBodyScanner, FixedLengthBodyScanner } from './body-scanner.ts';
import { HeadScanner } from './head-scanner.ts';
import { RequestLineScanner } from './request-line-scanner.ts';
import { useSharedReadBuffer } from './shared-read-buffer.ts';

/**
 * The limit on bytes read ahead of the current request; one read may exceed it. Reading ahead lets the gateway detect that
 * the client disconnects.
 */
const MAX_AHEAD_BYTES = 262_144;

/** The length of an empty line and `HEAD `. */
const START_LENGTH = 7;

/** The events of a request feed. */
export interface RequestFeedHandler {
  /** True until the response to the current request has ended. The next request waits. */
  readonly isBusy: boolean;
  /** True if the current response closes the connection: later bytes are not a request (RFC 9112 section 9.6). */
  readonly isLastExchange: boolean;
  /** The current request. */
  readonly request: IncomingMessage | undefined;
  /** The next request line is malformed. */
  onMalformed(): void;
  /** The client closed its side during a request. */
  onAborted(): void;
  /** The client closed its side after a complete request, before the response has ended. */
  onHalfClosed(): void;
  /** The client closed its side after all responses have ended. */
  onEnd(): void;
}

/**
 * Feeds Node's parser with the bytes of one request at a time. Pipelined requests wait as bytes until the previous
 * response has ended (RFC 9112 section 9.3.2). Without the feed, the parser would turn all bytes into requests at once.
 */
export class RequestFeed {
  readonly #socket: Socket;
  readonly #handler: RequestFeedHandler;
  /** The `data` listener of Node, which the feed calls. */
  readonly #parse: (bytes: Buffer) => void;
  readonly #line = new RequestLineScanner();
  readonly #head = new HeadScanner();
  #body: BodyScanner | undefined;
  /** The first characters of a head that is not complete. */
  #start = '';
  /** The bytes that were read ahead of the current request. */
  #ahead: GrowingBuffer | undefined;
  #aheadBytes = 0;
  /** The number of these bytes that the parser has received. */
  #fedBytes = 0;
  /** The bytes of the current read, and the index after those that the parser receives now. */
  #bytes: Buffer = NO_BYTES;
  #next = 0;
  #isFull = false;
  #hasEnded = false;
  #isClosed = false;
  /** True once a tunnel owns the socket. */
  #isDetached = false;

  constructor(socket: Socket, handler: RequestFeedHandler) {
    this.#socket = socket;
    this.#handler = handler;
    this.#parse = socket.listeners('data').at(-1) as (bytes: Buffer) => void;
    // Otherwise Node would close the connection before pending responses are sent.
    socket.allowHalfOpen = true;
    socket.off('end', socket.listeners('end').at(-1) as () => void);
    socket.off('data', this.#parse);
    socket.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose);
    useSharedReadBuffer(socket, this.#onRead);
    const resume = socket.resume.bind(socket);
    const resumeUnlessFull = () => (this.#isFull ? socket : resume());
    // The request stream resumes its socket by itself.
    socket.resume = resumeUnlessFull;
  }

  /** True if no request has begun or the current one is complete. */
  get isBetweenRequests(): boolean {
    return this.#body === undefined && this.#line.isAtStart;
  }

  /** True while the head of a HEAD request is being read. A response to it has no body. */
  get isInHeadRequest(): boolean {
    return /^(?:\r\n)?HEAD /.test(this.#start);
  }

  /** True while a body is being read. */
  get isInBody(): boolean {
    return this.#body !== undefined;
  }

  /** True once the client has closed its side. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** True if no bytes follow the request that is being parsed, and none can follow. */
  get isAtEnd(): boolean {
    return this.#hasEnded && this.#next === this.#bytes.length;
  }

  /** True if bytes of further requests wait. */
  get hasWaitingBytes(): boolean {
    return this.#ahead !== undefined;
  }

  /** Feeds the next request after a response has ended. */
  feedNext(): void {
    if (this.#isClosed) return;
    // Each request has its own turn of the event loop. Thousands of pipelined ones in one turn would block all other clients.
    if (this.#ahead !== undefined) setImmediate(this.#advance);
    else if (this.#hasEnded) this.#onEnd();
  }

  /** Detaches the socket for a tunnel. Returns the bytes that followed the handshake. */
  detach(): Buffer {
    const rest = Buffer.from(this.#bytes.subarray(this.#next));
    this.#isClosed = true;
    this.#isDetached = true;
    this.#dropWaitingBytes();
    this.#socket.off('data', this.#onData).off('end', this.#onEnd);
    return rest;
  }

  /** Discards all further input. */
  discardInput(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#dropWaitingBytes();
    this.#socket.on('data', () => undefined);
    this.#socket.off('data', this.#onData);
    this.#socket.resume();
  }

  /** Receives bytes in shared memory. A tunnel reads them from the stream. */
  readonly #onRead = (bytes: Buffer): boolean => {
    if (this.#isDetached) return this.#socket.push(Buffer.from(bytes));
    this.#onData(bytes);
    return true;
  };

  readonly #onData = (bytes: Buffer): void => {
    if (this.#ahead !== undefined) {
      this.#enqueue(bytes);
      return;
    }
    const end = this.#feed(bytes, 0);
    if (end < bytes.length && !this.#isClosed) this.#enqueue(bytes.subarray(end));
  };

  readonly #advance = (): void => {
    if (this.#ahead === undefined) return;
    const bytes = this.#ahead.bytes();
    this.#fedBytes = this.#feed(bytes, this.#fedBytes);
    if (this.#isClosed || this.#fedBytes < bytes.length) return;
    this.#dropWaitingBytes();
    this.#socket.resume();
    if (this.#hasEnded && !(this.#handler.isBusy && this.isBetweenRequests)) this.#onEnd();
  };

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (this.#isClosed) return;
    if (!this.isBetweenRequests) this.#handler.onAborted();
    else if (this.#handler.isBusy) this.#handler.onHalfClosed();
    // Waiting requests are served first.
    else if (this.#ahead === undefined) this.#handler.onEnd();
  };

  readonly #onClose = (): void => {
    this.#isClosed = true;
    this.#dropWaitingBytes();
  };

  /** Feeds the bytes that may be parsed now. Returns the index after them. */
  #feed(bytes: Buffer, start: number): number {
    let at = start;
    while (at < bytes.length && !this.#isClosed) {
      if (this.#handler.isBusy && this.isBetweenRequests) return at;
      const end = this.#body === undefined ? this.#endOfHead(bytes, at) : this.#body.scan(bytes, at);
      if (end === -1) {
        this.#handler.onMalformed();
        return at;
      }
      this.#bytes = bytes;
      this.#next = end;
      this.#parse(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
      this.#bytes = NO_BYTES;
      this.#next = 0;
      this.#afterParse();
      at = end;
    }
    return at;
  }

  #endOfHead(bytes: Buffer, start: number): number {
    if (this.#start.length < START_LENGTH)
      this.#start += bytes.toString('latin1', start, start + START_LENGTH - this.#start.length);
    const at = this.#line.isComplete ? start : this.#line.scan(bytes, start);
    return this.#line.isComplete ? this.#head.scan(bytes, at) : at;
  }

  #afterParse(): void {
    if (this.#body?.isComplete === true) this.#body = undefined;
    if (!this.#head.isComplete) return;
    this.#line.reset();
    this.#head.reset();
    this.#start = '';
    const { request } = this.#handler;
    if (request?.complete === false) this.#body = createBodyScanner(request);
  }

  #enqueue(bytes: Buffer): void {
    // Discard the bytes and keep reading, so that the gateway still detects a disconnect.
    if (this.#handler.isBusy && this.#handler.isLastExchange) return;
    this.#ahead ??= new GrowingBuffer(Number.POSITIVE_INFINITY);
    // Copy the bytes, because other connections will overwrite the shared memory of this read.
    this.#ahead.add(Buffer.from(bytes));
    this.#aheadBytes += bytes.length;
    if (this.#aheadBytes < MAX_AHEAD_BYTES) return;
    this.#isFull = true;
    this.#socket.pause();
  }

  #dropWaitingBytes(): void {
    this.#ahead = undefined;
    this.#aheadBytes = 0;
    this.#fedBytes = 0;
    this.#isFull = false;
  }
}

const NO_BYTES = Buffer.alloc(0);

/** Uses the raw headers, because the proxy library modifies `headers`. */
function createBodyScanner({ rawHeaders }: IncomingMessage): BodyScanner {
  if (getHeader(rawHeaders, 'transfer-encoding') !== undefined) return new ChunkedBodyScanner();
  return new FixedLengthBodyScanner(Number(getHeader(rawHeaders, 'content-length') ?? 0));
}
