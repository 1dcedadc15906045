import { Http1Error, type Http1ErrorCode } from './http1-error.ts';
import { parseTrailers } from './message-head.ts';
import type { RawHeaders } from './raw-headers.ts';

/** The size line of a chunk. Its extensions are not forwarded (RFC 9112 section 7.1.1). */
const SIZE =
  /^([0-9A-Fa-f]{1,12})(?:;[!#$%&'*+.^_`|~\w-]+(?:=(?:[!#$%&'*+.^_`|~\w-]+|"(?:[\t !#-[\]-~]|\\[\t -~])*"))?)*\r\n$/;
const MAX_SIZE_LINE = 1_024;
const MAX_TRAILER_BYTES = 16_384;
const LF = 0x0a;

/** Decodes a chunked body (RFC 9112 section 7.1), one read at a time. */
export class ChunkedDecoder {
  readonly #onData: (bytes: Buffer) => void;
  readonly #errorCode: Http1ErrorCode;
  #state: 'size' | 'data' | 'end of data' | 'trailers' | 'complete' = 'size';
  /** Bytes of this chunk still to come. */
  #remaining = 0;
  /** An incomplete size line; in the trailers, all their lines so far. */
  #line = '';
  #trailers: RawHeaders = [];
  #chunkCount = 0;
  #areTrailersTooLong = false;

  /** Calls `onData` once for each call of `decode` with data. `errorCode` is the error of a malformed body. */
  constructor(onData: (bytes: Buffer) => void, errorCode: Http1ErrorCode) {
    this.#onData = onData;
    this.#errorCode = errorCode;
  }

  get isComplete(): boolean {
    return this.#state === 'complete';
  }

  /** The trailers of a complete body. */
  get trailers(): RawHeaders {
    return this.#trailers;
  }

  /** True if that was the error. */
  get areTrailersTooLong(): boolean {
    return this.#areTrailersTooLong;
  }

  /** The chunks with data in the latest read, incomplete ones included. */
  get chunkCount(): number {
    return this.#chunkCount;
  }

  /**
   * Decodes bytes from `start` to the end of the body. Returns the index after the last byte that it read.
   *
   * @throws Http1Error
   */
  decode(bytes: Buffer, start: number): number {
    const chunks: Buffer[] = [];
    let at = start;
    while (at < bytes.length && this.#state !== 'complete') {
      if (this.#state === 'data') {
        const chunk = this.#readData(bytes, at);
        chunks.push(chunk);
        at += chunk.length;
      } else {
        at = this.#readLine(bytes, at);
      }
    }
    this.#chunkCount = chunks.length;
    // Joins small chunks: a write for each would cost more than this copy, and take more memory while the client is slow.
    if (chunks.length > 0) this.#onData(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    return at;
  }

  #readData(bytes: Buffer, at: number): Buffer {
    const end = Math.min(bytes.length, at + this.#remaining);
    this.#remaining -= end - at;
    if (this.#remaining === 0) this.#state = 'end of data';
    return bytes.subarray(at, end);
  }

  #readLine(bytes: Buffer, at: number): number {
    const lf = bytes.indexOf(LF, at);
    const end = lf === -1 ? bytes.length : lf + 1;
    const isTrailers = this.#state === 'trailers';
    const isTooLong = this.#line.length + end - at > (isTrailers ? MAX_TRAILER_BYTES : MAX_SIZE_LINE);
    this.#areTrailersTooLong = isTooLong && isTrailers;
    if (isTooLong) throw this.#malformed();
    this.#line += bytes.toString('latin1', at, end);
    if (lf === -1) return end;
    if (isTrailers) {
      if (this.#line === '\r\n' || this.#line.endsWith('\n\r\n')) this.#finish();
    } else {
      this.#parseLine(this.#line);
      this.#line = '';
    }
    return end;
  }

  #parseLine(line: string): void {
    if (this.#state === 'end of data') {
      if (line !== '\r\n') throw this.#malformed();
      this.#state = 'size';
      return;
    }
    const size = SIZE.exec(line)?.[1];
    if (size === undefined) throw this.#malformed();
    this.#remaining = Number.parseInt(size, 16);
    this.#state = this.#remaining === 0 ? 'trailers' : 'data';
  }

  #finish(): void {
    const trailers = parseTrailers(this.#line.slice(0, -2));
    if (trailers === undefined) throw this.#malformed();
    this.#trailers = trailers;
    this.#state = 'complete';
  }

  #malformed(): Http1Error {
    return new Http1Error(this.#errorCode);
  }
}
