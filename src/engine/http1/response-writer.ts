import type { Duplex } from 'node:stream';
import type { ClientRequest } from './client-request.ts';
import { serializeHeaders, writeBytes } from './message-head.ts';
import type { RawHeaders } from './raw-headers.ts';

/** The connection of a response. */
export interface ResponseConnection {
  readonly socket: Duplex;
  /** A reload can change its limits during a request. */
  readonly handler: { readonly limits: { readonly keepAliveTimeoutMs: number } };
  readonly isHalfClosed: boolean;
  /** Returns the number of bytes of the status line that were sent in advance to a client that has closed its side. */
  takeSentBytes(): number;
  /** The response is complete and was handed over to the system, or its connection has failed. */
  onResponseEnd(response: ResponseWriter): void;
}

/** Decides about a response. */
export interface ResponseOwner {
  /** Called once, when the response is over. */
  onResponseOver(): void;
}

const NO_BYTES = Buffer.alloc(0);
/** Matches characters that would end a field line early (RFC 9110 section 5.5). */
const LINE_BREAK = /[\0\r\n]/;
const HAS_LINE_BREAK = 'the reason or a header has a line break';

/**
 * Writes the response to one request (RFC 9112). It adds the framing, `Date` and the persistence of the connection. The head waits for the
 * first bytes of the body, so that a small response is one write.
 */
export class ResponseWriter {
  /** False if the connection closes after this response. */
  isPersistent: boolean;
  /** 0 until the response has begun. */
  status = 0;
  /** True if the body is sent in chunks. */
  isChunked = false;
  /** True once the gateway has written the whole response. */
  isEnded = false;
  /** True once the system has the whole response. */
  isFinished = false;
  /** True once the response is finished or its connection closed. */
  isOver = false;
  /** True if the body must be read by its length or its chunks, so that others may follow (HTTP/1.0 has no chunks). */
  readonly mayChunk: boolean;
  owner: ResponseOwner | undefined;
  /** A source that is paused until the client has read what waits. */
  pausedSource: { resume(): void } | undefined;
  readonly #connection: ResponseConnection;
  readonly #isHeadRequest: boolean;
  #hasBody = true;
  #head = '';
  #trailers = '';

  constructor(connection: ResponseConnection, { method, httpVersion }: ClientRequest, isPersistent: boolean) {
    this.#connection = connection;
    this.#isHeadRequest = method === 'HEAD';
    this.mayChunk = httpVersion === '1.1';
    this.isPersistent = isPersistent;
  }

  get hasBegun(): boolean {
    return this.status !== 0;
  }

  /** True once the head was written to the connection. */
  get isHeadWritten(): boolean {
    return this.hasBegun && this.#head === '';
  }

  /** Bytes that the client has not read yet. */
  get waitingBytes(): number {
    return this.#connection.socket.writableLength;
  }

  /**
   * Begins the response. Without `Content-Length` the body is chunked, or ends with the connection.
   *
   * @throws Error if a name or a value has a line break
   */
  writeHead(status: number, reason: string, headers: RawHeaders): void {
    // One test of all texts takes a tenth of the time of one for each.
    if (LINE_BREAK.test(reason + headers.join(''))) throw new Error(HAS_LINE_BREAK);
    const connection = this.#connection;
    let hasLength = false;
    let hasDate = false;
    let hasConnection = false;
    let text = `HTTP/1.1 ${status} ${reason}\r\n`;
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] as string;
      text += `${name}: ${headers[index + 1]}\r\n`;
      const { length } = name;
      if (length === 4) hasDate ||= name.toLowerCase() === 'date';
      else if (length === 14) hasLength ||= name.toLowerCase() === 'content-length';
      else if (length === 10) hasConnection ||= name.toLowerCase() === 'connection';
    }
    this.status = status;
    this.#hasBody = !this.#isHeadRequest && status !== 204 && status !== 304;
    this.isChunked = this.#hasBody && !hasLength && this.mayChunk;
    if (!hasLength && !this.mayChunk) this.isPersistent = false;
    if (!hasDate) text += httpDate();
    if (!hasConnection)
      text += this.isPersistent
        ? keepAliveLines(connection.handler.limits.keepAliveTimeoutMs)
        : 'Connection: close\r\n';
    if (this.isChunked) text += 'Transfer-Encoding: chunked\r\n';
    text += '\r\n';
    this.#head = connection.isHalfClosed ? text.slice(connection.takeSentBytes()) : text;
  }

  /** Sends an informational (1xx) response. @throws Error if a name or a value has a line break */
  writeInformation(status: number, reason: string, headers: RawHeaders): void {
    if (LINE_BREAK.test(reason + headers.join(''))) throw new Error(HAS_LINE_BREAK);
    const text = `HTTP/1.1 ${status} ${reason}\r\n${serializeHeaders(headers)}\r\n`;
    if (!this.isOver) this.#connection.socket.write(text, 'latin1');
  }

  /** Sends the head, if it still waits. */
  flushHead(): void {
    this.#write(NO_BYTES);
  }

  /** @param onWritten called once the system has the bytes, and only then; not for a small piece, which is copied */
  write(bytes: Buffer, onWritten?: (bytes: Buffer) => void): void {
    if (this.#hasBody && bytes.length > 0) this.#write(bytes, '', onWritten);
  }

  /** Sets the trailers of a chunked body. @throws Error if a name or a value has a line break */
  setTrailers(trailers: RawHeaders): void {
    if (LINE_BREAK.test(trailers.join(''))) throw new Error(HAS_LINE_BREAK);
    this.#trailers = serializeHeaders(trailers);
  }

  /** Writes the last bytes of the body and ends the response. */
  end(bytes: Buffer = NO_BYTES, onWritten?: (bytes: Buffer) => void): void {
    if (this.isEnded || this.isOver) return;
    this.isEnded = true;
    const end = this.isChunked ? `0\r\n${this.#trailers}\r\n` : '';
    this.#write(this.#hasBody ? bytes : NO_BYTES, end, onWritten);
    // In most cases the system has accepted everything already.
    const connection = this.#connection;
    if (connection.socket.writableLength === 0) connection.onResponseEnd(this);
    else connection.socket.write('', () => connection.onResponseEnd(this));
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#connection.socket.destroy();
  }

  /** The connection has closed, or the response has ended. */
  setOver(isFinished: boolean): void {
    this.isOver = true;
    this.isFinished = isFinished;
    this.pausedSource = undefined;
    this.owner?.onResponseOver();
  }

  /** The client has read what waited. */
  drain(): void {
    const { pausedSource } = this;
    this.pausedSource = undefined;
    pausedSource?.resume();
  }

  /** Writes a piece of the body, behind the head if that still waits, and with `end` behind it. */
  #write(bytes: Buffer, end = '', onWritten?: (bytes: Buffer) => void): void {
    if (this.isOver) return;
    const isChunk = this.isChunked && bytes.length > 0;
    const before = isChunk ? `${this.#head}${bytes.length.toString(16)}\r\n` : this.#head;
    this.#head = '';
    writeBytes(this.#connection.socket, before, bytes, isChunk ? `\r\n${end}` : end, onWritten);
  }
}

function keepAliveLines(timeoutMs: number): string {
  const seconds = Math.floor(timeoutMs / 1_000);
  return seconds === 0 ? 'Connection: keep-alive\r\n' : `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`;
}

let dateSecond = 0;
let dateLine = '';

/** Returns the `Date` field line (RFC 9110 section 6.6.1). */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateLine = `Date: ${new Date().toUTCString()}\r\n`;
  }
  return dateLine;
}
