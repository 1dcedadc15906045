import type { Duplex } from 'node:stream';
import type { BodySink, ClientRequest } from './client-request.ts';
import { type DeferredTask, defer } from './event-loop.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { Http1Error } from './http1-error.ts';
import { type RequestLines, SMALL_BYTES, writeBytes } from './message-head.ts';
import type { RawHeaders } from './raw-headers.ts';

/** A request to an upstream. It receives the events of its exchange. */
export interface UpstreamRequest extends RequestLines, ResponseSink {
  readonly body: Buffer | Upload | null;
  /** True if the connection limits the time until the response begins. */
  readonly hasResponseTimeout: boolean;
}

/** The head of a response (RFC 9112 section 4). Its text is latin-1. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly headers: RawHeaders;
  /** NaN if the head has no `Content-Length`: the body is chunked, or ends with the connection. */
  readonly contentLength: number;
  readonly isChunked: boolean;
  /** All values of `Connection`. */
  readonly connection: string | undefined;
  /** True if the connection may carry another exchange (RFC 9112 section 9.3). */
  readonly isPersistent: boolean;
  /** The value of `Keep-Alive`. */
  readonly keepAlive: string | undefined;
}

/** Receives the events of one exchange. An error that `onHead` or `onData` throws ends the exchange with that error. */
export interface ResponseSink {
  /** The connection begins to write the request. */
  onRequestStart(): void;
  /** The connection closed before it sent a byte of the request, so the caller can send the request on another connection. */
  onStale(): void;
  /** A head arrived: of the response, or of an informational (1xx) response other than 100 (RFC 9110 section 15.2). */
  onHead(head: ResponseHead): void;
  onData(bytes: Buffer): void;
  /** The sink has received all bytes that were read, and the body continues. */
  onReadComplete(): void;
  /** The response is complete. The connection can carry another exchange if its `isIdle` is true. */
  onEnd(trailers: RawHeaders): void;
  /** The connection became a tunnel. The sink now owns the socket. */
  onUpgrade(head: ResponseHead, socket: Duplex): void;
  /** The exchange failed, and the connection is closed. No other event follows. */
  onError(error: unknown): void;
}

const MAX_GATHERED_BYTES = 65_536;

export interface UploadListener {
  /** A part of the request, or the end of it, was written. */
  onUploadProgress(isComplete: boolean): void;
  /** The body ended early, or is longer than announced. */
  abort(error: unknown): void;
}

/**
 * Streams the body of a client's request to the upstream, no faster than the socket accepts it. Small chunks that arrive in one turn of
 * the event loop are joined: otherwise each would cost a write, and reach the upstream as small as the client sent it. The head goes
 * out with them. It does not wait longer for a slow client, because an idle upstream connection that closes in the meantime would look
 * like a failure of this request.
 */
export abstract class Upload implements BodySink, DeferredTask {
  readonly #request: BodySource;
  #socket: Duplex | undefined;
  #listener: UploadListener | undefined;
  /** Empty once the head is written. */
  #head = '';
  #isChunked = false;
  /** Bytes still to come; NaN for a chunked body. */
  #remaining = Number.NaN;
  #smallChunks = new GrowingBuffer(MAX_GATHERED_BYTES);
  #isDeferred = false;
  #isOver = false;

  constructor(request: BodySource) {
    this.#request = request;
  }

  abstract onBodyClose(): void;

  /** Begins to read the body, and sends the request. Called once. */
  start(socket: Duplex, head: string, length: number | 'chunked', listener: UploadListener): void {
    this.#socket = socket;
    this.#listener = listener;
    this.#head = head;
    this.#isChunked = length === 'chunked';
    if (length !== 'chunked') this.#remaining = length;
    // Until this call ends, the parts that are here already are only collected.
    this.#isDeferred = true;
    this.#request.readBody(this);
    if (!this.#isOver) defer(this);
  }

  /** Ends the upload without an event. */
  stop(): void {
    this.#isOver = true;
    // Otherwise a client that is still sending the body would block, and so would its next request.
    this.#request.discardBody();
  }

  runDeferred(): void {
    this.#isDeferred = false;
    if (!this.#isOver) this.#flush();
  }

  onBodyData(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#remaining -= bytes.length;
    if (this.#remaining < 0) {
      this.fail(new Http1Error('request_malformed'));
    } else if (bytes.length < SMALL_BYTES && this.#smallChunks.add(bytes)) {
      this.#flushLater();
    } else {
      this.#flush();
      this.#write(bytes);
    }
  }

  onBodyEnd(): void {
    if (this.#isOver) return;
    if (this.#remaining > 0) {
      this.fail(new Http1Error('request_malformed'));
      return;
    }
    this.#isOver = true;
    this.#flush(this.#isChunked ? '0\r\n\r\n' : '');
    this.#listener?.onUploadProgress(true);
  }

  /** Ends the upload with an error, before the upstream has the complete body. */
  protected fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener?.abort(error);
  }

  #flushLater(): void {
    if (!this.#isDeferred) defer(this);
    this.#isDeferred = true;
  }

  /** Writes all that waits. @param end is written after it */
  #flush(end = ''): void {
    const bytes = this.#smallChunks.bytes();
    if (bytes.length > 0) this.#smallChunks = new GrowingBuffer(MAX_GATHERED_BYTES);
    if (bytes.length > 0 || this.#head !== '' || end !== '') this.#write(bytes, end);
  }

  #write(bytes: Buffer, end = ''): void {
    const socket = this.#socket as Duplex;
    const isChunk = this.#isChunked && bytes.length > 0;
    const size = isChunk ? `${bytes.length.toString(16)}\r\n` : '';
    writeBytes(socket, this.#head + size, bytes, isChunk ? `\r\n${end}` : end);
    this.#head = '';
    if (this.#isOver) return;
    if (socket.writableNeedDrain) {
      this.#request.pause();
      socket.once('drain', () => this.#request.resume());
    }
    this.#listener?.onUploadProgress(false);
  }
}

/** The client's side of a body. */
type BodySource = Pick<ClientRequest, 'readBody' | 'discardBody' | 'pause' | 'resume'>;
