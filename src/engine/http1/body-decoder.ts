import { type HeaderFields, parseFields, parseTrailers } from './message-head.ts';

/** The size line of a chunk. Its extensions are not forwarded (RFC 9112 section 7.1.1). */
const SIZE =
  /^([0-9A-Fa-f]{1,12})(?:;[!#$%&'*+.^_`|~\w-]+(?:=(?:[!#$%&'*+.^_`|~\w-]+|"(?:[\t !#-[\]-~]|\\[\t -~])*"))?)*\r\n$/;
const MAX_SIZE_LINE = 1_024;
const MAX_TRAILER_BYTES = 16_384;
const LF = 0x0a;
const NO_BYTES = Buffer.alloc(0);
const NO_TRAILERS = parseFields('', 0);

/** Decodes the bodies of the messages on a connection (RFC 9112 section 6), one after the other, one read at a time. */
export class BodyDecoder {
  /** False from the begin of a body to its end. */
  isComplete = true;
  /** The index after the last byte that `decode` read. */
  end = 0;
  /** `body`: a chunk or a trailer is malformed; `too_large`: the trailers are too long. No more bytes can be decoded. */
  error: 'body' | 'too_large' | undefined;
  /** The trailers of a complete body. */
  trailers: HeaderFields = NO_TRAILERS;
  /** The chunks with data in the latest read, incomplete ones included; 0 if the body is not chunked. */
  chunkCount = 0;
  /** The part of a chunked body that comes next. */
  #next: 'size' | 'data' | 'end of data' | 'trailers' | undefined;
  /** Bytes of this chunk, or of a body without chunks, still to come. */
  #remaining = 0;
  /** An incomplete size line; in the trailers, all their lines so far. */
  #line = '';

  /** Begins a body. @param length in bytes; `Infinity` if the body ends with the connection */
  begin(length: number | 'chunked'): void {
    this.isComplete = length === 0;
    this.trailers = NO_TRAILERS;
    this.chunkCount = 0;
    this.#next = length === 'chunked' ? 'size' : undefined;
    this.#remaining = length === 'chunked' ? 0 : length;
  }

  /** True if only the end of the connection completes the body. */
  get isUntilClose(): boolean {
    return this.#remaining === Number.POSITIVE_INFINITY;
  }

  /** Decodes bytes from `start` to the end of the body. Returns their data. */
  decode(bytes: Buffer, start: number): Buffer {
    if (this.#next !== undefined) return this.#decodeChunks(bytes, start);
    const end = Math.min(bytes.length, start + this.#remaining);
    this.#remaining -= end - start;
    this.isComplete = this.#remaining === 0;
    this.end = end;
    if (end === start) return NO_BYTES;
    return end - start === bytes.length ? bytes : bytes.subarray(start, end);
  }

  #decodeChunks(bytes: Buffer, start: number): Buffer {
    const chunks: Buffer[] = [];
    let at = start;
    while (at < bytes.length && !this.isComplete && this.error === undefined) {
      if (this.#next === 'data') {
        const chunk = this.#readData(bytes, at);
        chunks.push(chunk);
        at += chunk.length;
      } else {
        at = this.#readLine(bytes, at);
      }
    }
    this.end = at;
    this.chunkCount = chunks.length;
    if (chunks.length === 0 || this.error !== undefined) return NO_BYTES;
    // Joins small chunks: a write for each would cost more than this copy, and take more memory while the client is slow.
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  }

  #readData(bytes: Buffer, at: number): Buffer {
    const end = Math.min(bytes.length, at + this.#remaining);
    this.#remaining -= end - at;
    if (this.#remaining === 0) this.#next = 'end of data';
    return bytes.subarray(at, end);
  }

  #readLine(bytes: Buffer, at: number): number {
    const lf = bytes.indexOf(LF, at);
    const end = lf === -1 ? bytes.length : lf + 1;
    const isTrailers = this.#next === 'trailers';
    if (this.#line.length + end - at > (isTrailers ? MAX_TRAILER_BYTES : MAX_SIZE_LINE)) {
      this.error = isTrailers ? 'too_large' : 'body';
      return end;
    }
    this.#line += bytes.toString('latin1', at, end);
    if (lf === -1) return end;
    if (isTrailers && this.#line !== '\r\n' && !this.#line.endsWith('\n\r\n')) return end;
    this.#parseLine(this.#line);
    this.#line = '';
    return end;
  }

  /** @param line all trailers, or another complete line */
  #parseLine(line: string): void {
    if (this.#next === 'trailers') {
      const trailers = parseTrailers(line.slice(0, -2));
      if (trailers === undefined) this.error = 'body';
      else this.trailers = trailers;
      this.isComplete = trailers !== undefined;
    } else if (this.#next === 'end of data') {
      if (line !== '\r\n') this.error = 'body';
      this.#next = 'size';
    } else {
      const size = SIZE.exec(line)?.[1];
      if (size === undefined) this.error = 'body';
      else this.#remaining = Number.parseInt(size, 16);
      this.#next = this.#remaining === 0 ? 'trailers' : 'data';
    }
  }
}
