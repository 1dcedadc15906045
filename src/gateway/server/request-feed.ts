import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { getHeader } from '../../raw-headers.ts';
import { GrowingBuffer } from '../request/growing-buffer.ts';
import { type BodyScanner, ChunkedBodyScanner, FixedLengthBodyScanner } from './body-scanner.ts';
import { HeadScanner } from './head-scanner.ts';
import { RequestLineScanner } from './request-line-scanner.ts';
import { useSharedReadBuffer } from './shared-read-buffer.ts';

/**
 * How far the gateway reads ahead of the request that is in flight. One read may go beyond it. While it reads, it notices that
 * the client leaves.
 */
const MAX_AHEAD_BYTES = 262_144;

/** The connection whose bytes are fed. */
export interface RequestFeedHandler {
  /** True while a response is owed: the next request waits. */
  readonly isBusy: boolean;
  /** True when the response that is owed closes the connection: nothing behind it is a request (RFC 9112 section 9.6). */
  readonly isLastExchange: boolean;
  /** The latest request that the parser has made. */
  readonly request: IncomingMessage | undefined;
  /** The next request line is malformed. */
  onMalformed(): void;
  /** The client has closed its side in the middle of a request. */
  onAborted(): void;
  /** The client has closed its side behind a whole request whose response is still owed. */
  onHalfClosed(): void;
  /** The client has closed its side, and every response has been sent. */
  onEnd(): void;
}

/**
 * Stands between a client's socket and Node's parser, and feeds it one request at a time: the next one waits, as bytes, until
 * the response before it has ended (RFC 9112 section 9.3.2). The parser alone would make requests of everything that it reads.
 */
export class RequestFeed {
  readonly #socket: Socket;
  readonly #owner: RequestFeedHandler;
  /** Node's listeners, which this one replaces. */
  readonly #parse: (bytes: Buffer) => void;
  readonly #line = new RequestLineScanner();
  readonly #head = new HeadScanner();
  #body: BodyScanner | undefined;
  /** Bytes that wait, and how many of them have been fed. */
  #ahead: GrowingBuffer | undefined;
  #aheadBytes = 0;
  #fed = 0;
  /** The bytes that are being fed, and the index up to which. */
  #bytes: Buffer = NOTHING;
  #next = 0;
  #isFull = false;
  #hasEnded = false;
  #isOver = false;
  #isReleased = false;

  constructor(socket: Socket, owner: RequestFeedHandler) {
    this.#socket = socket;
    this.#owner = owner;
    this.#parse = socket.listeners('data').at(-1) as (bytes: Buffer) => void;
    // Node would end the connection here, with the responses that are still owed; TLS does so by itself.
    socket.allowHalfOpen = true;
    socket.off('end', socket.listeners('end').at(-1) as () => void);
    socket.off('data', this.#parse);
    socket.on('data', this.#take).on('end', this.#end).on('close', this.#close);
    useSharedReadBuffer(socket, this.#read);
    const resume = socket.resume.bind(socket);
    // The stream of a request resumes its socket by itself.
    socket.resume = () => (this.#isFull ? socket : resume());
  }

  /** True when no part of a request has come, or the request has come whole. */
  get isBetweenRequests(): boolean {
    return this.#body === undefined && this.#line.isAtStart;
  }

  /** True while a body is read. */
  get isInBody(): boolean {
    return this.#body !== undefined;
  }

  /** True once the client has closed its side. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** True when nothing is behind the request that is being parsed, and nothing will come. */
  get isAtEnd(): boolean {
    return this.#hasEnded && this.#next === this.#bytes.length;
  }

  /** True when bytes wait. */
  get hasWaitingBytes(): boolean {
    return this.#ahead !== undefined;
  }

  /** The response has ended: the next request is fed, if it has come. */
  feedNext(): void {
    if (this.#isOver) return;
    // In a turn of its own: thousands of them at once would hold up all other clients.
    if (this.#ahead !== undefined) setImmediate(this.#advance);
    else if (this.#hasEnded) this.#end();
  }

  /** Gives the socket to a tunnel; returns the bytes that came behind the handshake. */
  detach(): Buffer {
    const rest = Buffer.from(this.#bytes.subarray(this.#next));
    this.#isOver = true;
    this.#isReleased = true;
    this.#drop();
    this.#socket.off('data', this.#take).off('end', this.#end);
    return rest;
  }

  /** From now on everything that comes is thrown away. */
  discardInput(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#drop();
    this.#socket.on('data', () => undefined);
    this.#socket.off('data', this.#take);
    this.#socket.resume();
  }

  /** Takes bytes of shared memory. A tunnel reads them from the stream. */
  readonly #read = (bytes: Buffer): boolean => {
    if (this.#isReleased) return this.#socket.push(Buffer.from(bytes));
    this.#take(bytes);
    return true;
  };

  readonly #take = (bytes: Buffer): void => {
    if (this.#ahead !== undefined) {
      this.#hold(bytes);
      return;
    }
    const fed = this.#run(bytes, 0);
    if (fed < bytes.length && !this.#isOver) this.#hold(bytes.subarray(fed));
  };

  readonly #advance = (): void => {
    if (this.#ahead === undefined) return;
    const bytes = this.#ahead.bytes();
    this.#fed = this.#run(bytes, this.#fed);
    if (this.#isOver || this.#fed < bytes.length) return;
    this.#drop();
    this.#socket.resume();
    if (this.#hasEnded && !(this.#owner.isBusy && this.isBetweenRequests)) this.#end();
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    if (this.#isOver) return;
    if (!this.isBetweenRequests) this.#owner.onAborted();
    else if (this.#owner.isBusy) this.#owner.onHalfClosed();
    // Requests that wait are served first.
    else if (this.#ahead === undefined) this.#owner.onEnd();
  };

  readonly #close = (): void => {
    this.#isOver = true;
    this.#drop();
  };

  /** Feeds as much as may be parsed now; returns the index behind it. */
  #run(bytes: Buffer, start: number): number {
    let at = start;
    while (at < bytes.length && !this.#isOver) {
      if (this.#owner.isBusy && this.isBetweenRequests) return at;
      const end = this.#body === undefined ? this.#endOfHead(bytes, at) : this.#body.scan(bytes, at);
      if (end === -1) {
        this.#owner.onMalformed();
        return at;
      }
      this.#bytes = bytes;
      this.#next = end;
      this.#parse(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
      this.#bytes = NOTHING;
      this.#next = 0;
      this.#settle();
      at = end;
    }
    return at;
  }

  #endOfHead(bytes: Buffer, start: number): number {
    const at = this.#line.isComplete ? start : this.#line.scan(bytes, start);
    return this.#line.isComplete ? this.#head.scan(bytes, at) : at;
  }

  #settle(): void {
    if (this.#body?.isComplete === true) this.#body = undefined;
    if (!this.#head.isComplete) return;
    this.#line.reset();
    this.#head.reset();
    const { request } = this.#owner;
    if (request?.complete === false) this.#body = createBodyScanner(request);
  }

  #hold(bytes: Buffer): void {
    // To read and throw away, instead of pausing, also notices that the client leaves.
    if (this.#owner.isBusy && this.#owner.isLastExchange) return;
    this.#ahead ??= new GrowingBuffer(Number.POSITIVE_INFINITY);
    // The memory of a read is not the connection's own.
    this.#ahead.add(Buffer.from(bytes));
    this.#aheadBytes += bytes.length;
    if (this.#aheadBytes < MAX_AHEAD_BYTES) return;
    this.#isFull = true;
    this.#socket.pause();
  }

  #drop(): void {
    this.#ahead = undefined;
    this.#aheadBytes = 0;
    this.#fed = 0;
    this.#isFull = false;
  }
}

const NOTHING = Buffer.alloc(0);

/** Reads the raw headers: the proxy library changes the others. */
function createBodyScanner({ rawHeaders }: IncomingMessage): BodyScanner {
  if (getHeader(rawHeaders, 'transfer-encoding') !== undefined) return new ChunkedBodyScanner();
  return new FixedLengthBodyScanner(Number(getHeader(rawHeaders, 'content-length') ?? 0));
}
