import type { Duplex, Readable } from 'node:stream';
import { type DeferredTask, defer } from './event-loop.ts';
import { CONTENT_METHODS } from './http-methods.ts';
import { Http1Error } from './http1-error.ts';
import { FIELD_LINES, type ResponseHead, serializeHeaders } from './message-head.ts';
import type { RawHeaders } from './raw-headers.ts';

/** A request to an upstream. */
export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  /** All headers except `Connection`, `Upgrade` and the framing headers, which the connection writes. */
  readonly headers: RawHeaders;
  /** True for a WebSocket handshake (RFC 6455 section 4.1). */
  readonly isHandshake: boolean;
  /** Bytes of the body; `undefined`: no body; `'chunked'`: a body of unknown length. */
  readonly length: number | 'chunked' | undefined;
  readonly body: Buffer | Readable | null;
  /** True if the connection limits the time until the response begins. */
  readonly hasResponseTimeout: boolean;
}

/** Controls the response that a connection delivers. */
export interface FlowControl {
  /** Ends the exchange with this error, and closes the connection. */
  abort(reason: Error): void;
  /** Suspends reading. */
  pause(): void;
  resume(): void;
  /** Replaces the idle timeout until this response ends. @param ms 0 for no limit */
  limitIdle(ms: number): void;
}

/** Receives the events of one exchange. An error that `onHead` or `onData` throws ends the exchange with that error. */
export interface ResponseSink {
  /** The connection begins to write the request. */
  onRequestStart(): void;
  /** The connection closed before it sent a byte of the request, so the caller can send the request on another connection. */
  onStale(): void;
  /** A head arrived: of the response, or of an informational (1xx) response other than 100 (RFC 9110 section 15.2). */
  onHead(head: ResponseHead, connection: FlowControl): void;
  onData(bytes: Buffer, connection: FlowControl): void;
  /** The sink has received all bytes that were read, and the body continues. */
  onReadComplete(): void;
  /** The response is complete. The connection can carry another exchange if its `isIdle` is true. */
  onEnd(trailers: RawHeaders): void;
  /** The connection became a tunnel. The sink now owns the socket. */
  onUpgrade(head: ResponseHead, socket: Duplex): void;
  /** The exchange failed, and the connection is closed. No other event follows. */
  onError(error: Error): void;
}

/** Matches exactly one head, with nothing after it. */
const HEAD = new RegExp(`^[A-Z]+ [!-~]+ HTTP/1\\.1\\r\\n${FIELD_LINES}\\r\\n$`);
/** The largest body that goes into the same write as the head. */
const SMALL_BYTES = 16_384;

/**
 * Writes a request. Returns the upload of a streamed body; `undefined` if the request is completely written.
 *
 * @throws Http1Error `request_malformed`
 */
export function sendRequest(socket: Duplex, request: UpstreamRequest, listener: UploadListener): Upload | undefined {
  const head = formatRequestHead(request);
  const { body, length = 0 } = request;
  if (body !== null && !Buffer.isBuffer(body)) {
    const upload = new Upload(socket, head, body, length, listener);
    upload.start();
    return upload;
  }
  if (body === null) socket.write(head, 'latin1');
  else if (body.length <= SMALL_BYTES) socket.write(head + body.toString('latin1'), 'latin1');
  else {
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
  }
  return undefined;
}

/**
 * Returns the head of a request as latin-1 (RFC 9112 section 3). It checks the complete head, so no value from a client can add a
 * second request.
 *
 * @throws Http1Error `request_malformed`
 */
function formatRequestHead({ method, path, headers, isHandshake, length }: UpstreamRequest): string {
  let text = `${method} ${path} HTTP/1.1\r\n${serializeHeaders(headers)}`;
  text += isHandshake ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : 'Connection: keep-alive\r\n';
  if (length === 'chunked') text += 'Transfer-Encoding: chunked\r\n';
  // RFC 9110 section 8.6: without a body, such a request has `Content-Length: 0`.
  else if (length !== undefined || CONTENT_METHODS.has(method)) text += `Content-Length: ${length ?? 0}\r\n`;
  text += '\r\n';
  if (!HEAD.test(text)) throw new Http1Error('request_malformed');
  return text;
}

export interface UploadListener {
  /** A chunk of the body, or the end of it, was written. */
  onUploadProgress(isComplete: boolean): void;
  /** The body ended early, or is longer than announced. */
  onUploadError(error: Error): void;
}

/**
 * Streams a request body to the upstream, no faster than the socket accepts it. It sends the head together with the first bytes if
 * these are available, and otherwise alone. It does not wait for a slow client, because an idle upstream connection that closes in
 * the meantime would look like a failure of this request.
 */
export class Upload implements DeferredTask {
  readonly #socket: Duplex;
  readonly #body: Readable;
  readonly #isChunked: boolean;
  readonly #listener: UploadListener;
  /** Empty once the head is written. */
  #head: string;
  /** Bytes still to come; NaN for a chunked body. */
  #remaining: number;
  #isOver = false;

  constructor(socket: Duplex, head: string, body: Readable, length: number | 'chunked', listener: UploadListener) {
    this.#socket = socket;
    this.#body = body;
    this.#isChunked = length === 'chunked';
    this.#listener = listener;
    this.#head = head;
    this.#remaining = length === 'chunked' ? Number.NaN : length;
  }

  start(): void {
    this.#body
      .on('data', (bytes: Buffer) => this.#write(bytes))
      .on('end', () => this.#end())
      // Without a listener, a late error of the destroyed body would end the process.
      .on('error', (error) => this.#fail(error));
    defer(this);
  }

  runDeferred(): void {
    if (!this.#isOver) this.#writeHead();
  }

  /** Ends the upload without an event. */
  stop(): void {
    this.#isOver = true;
    this.#body.destroy();
  }

  #write(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#remaining -= bytes.length;
    if (this.#remaining < 0) {
      this.#fail(new Http1Error('request_malformed'));
      return;
    }
    const socket = this.#socket;
    socket.cork();
    this.#writeHead();
    if (this.#isChunked) socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
    socket.write(bytes);
    if (this.#isChunked) socket.write('\r\n', 'latin1');
    socket.uncork();
    if (socket.writableNeedDrain) {
      this.#body.pause();
      socket.once('drain', () => this.#body.resume());
    }
    this.#listener.onUploadProgress(false);
  }

  #end(): void {
    if (this.#isOver) return;
    if (this.#remaining > 0) {
      this.#fail(new Http1Error('request_malformed'));
      return;
    }
    this.#writeHead();
    if (this.#isChunked) this.#socket.write('0\r\n\r\n', 'latin1');
    this.#isOver = true;
    this.#listener.onUploadProgress(true);
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onUploadError(error);
  }

  #writeHead(): void {
    if (this.#head !== '') this.#socket.write(this.#head, 'latin1');
    this.#head = '';
  }
}
