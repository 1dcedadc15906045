import { GrowingBuffer } from './growing-buffer.ts';
import { areFieldLines, type HeaderFields, type MalformedPart, parseFields, parseTrailers } from './message-head.ts';

const HEAD_END = '\r\n\r\n';
/** A longer head, or one that arrives in pieces, is collected first. */
const SHORT_HEAD_BYTES = 4_096;
/** An empty line before the head. */
const EMPTY_LINE_BYTES = 2;
/** Matches bytes that occur in a head. The first one may end a line that was checked before. */
const HEAD_TEXT = /^\n?[\t\x20-\x7e\x80-\xff]*(?:\r\n[\t\x20-\x7e\x80-\xff]*)*\r?$/;
/** Of a first line that is not complete, this much is checked again with each read. */
const LINE_START_BYTES = 257;
/** Enough to show the method of a request. */
export const START_BYTES = 12;

/**
 * Reads the heads of the messages on a connection, one after the other. A head may arrive in several reads. One that cannot become valid
 * is refused as soon as a line shows it, instead of at the time limit. Each byte is checked once, however small the reads are.
 */
export class HeadReader {
  /** The first characters of a head that is not complete; empty without one. */
  start = '';
  /** The index after the latest head in the bytes of its last read. */
  end = 0;
  /** Set once a head is refused. No other one can be read. */
  error: MalformedPart | 'too_large' | undefined;
  readonly #checkFirstLine: (text: string) => MalformedPart | undefined;
  /** The first part of a head that is not complete, and its limit. */
  #part: GrowingBuffer | undefined;
  #limitBytes = 0;
  /** The number of its bytes whose lines are checked. */
  #checked = 0;

  /** @param checkFirstLine checks a first line, which is complete if it ends with a line feed. One empty line may precede it */
  constructor(checkFirstLine: (text: string) => MalformedPart | undefined) {
    this.#checkFirstLine = checkFirstLine;
  }

  /** Returns a complete head, in latin-1, without the empty line after it. Returns an empty text while it is not complete, or refused. */
  read(bytes: Buffer, start: number, limitBytes: number): string {
    if (this.#part !== undefined) return this.#readPart(this.#part, bytes, start);
    const text = bytes.toString('latin1', start, start + SHORT_HEAD_BYTES);
    const size = text.indexOf(HEAD_END) + 2;
    if (size > 1 && size <= limitBytes) {
      this.end = start + size + 2;
      return text.slice(0, size);
    }
    this.#part = new GrowingBuffer(limitBytes + EMPTY_LINE_BYTES + HEAD_END.length);
    this.#limitBytes = limitBytes;
    this.#checked = 0;
    return this.#readPart(this.#part, bytes, start);
  }

  #readPart(part: GrowingBuffer, bytes: Buffer, start: number): string {
    const before = part.size;
    part.add(bytes.subarray(start, start + this.#limitBytes + EMPTY_LINE_BYTES + HEAD_END.length - before));
    const all = part.bytes();
    const end = all.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length + 1));
    // The last byte may belong to the empty line after the head, which the limit does not count.
    const size = end === -1 ? all.length - 1 : end + 2;
    const emptyLine = all[0] === 0x0d && all[1] === 0x0a ? EMPTY_LINE_BYTES : 0;
    if (size - emptyLine > this.#limitBytes) this.error = 'too_large';
    else if (end === -1) this.error = this.#checkPart(all, before);
    else {
      this.end = start + end + HEAD_END.length - before;
      this.#part = undefined;
      this.start = '';
      return all.toString('latin1', 0, size);
    }
    this.start = all.toString('latin1', 0, START_BYTES);
    return '';
  }

  /** @param before the number of bytes of earlier reads */
  #checkPart(all: Buffer, before: number): MalformedPart | undefined {
    const isFirstLine = this.#checked === 0;
    if (isFirstLine) {
      const end = all.indexOf('\n', Math.max(before, EMPTY_LINE_BYTES)) + 1;
      const malformed = this.#checkFirstLine(all.toString('latin1', 0, end || LINE_START_BYTES));
      if (malformed !== undefined) return malformed;
    }
    const from = Math.max(0, before - 1);
    const added = all.toString('latin1', from);
    if (!HEAD_TEXT.test(added)) return 'message';
    const end = from + added.lastIndexOf('\n') + 1;
    if (end <= Math.max(before, EMPTY_LINE_BYTES)) return undefined;
    const lines = all.toString('latin1', this.#checked, end);
    this.#checked = end;
    const fields = isFirstLine ? lines.slice(lines.indexOf('\n', EMPTY_LINE_BYTES) + 1) : lines;
    return areFieldLines(fields) ? undefined : 'message';
  }
}

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
