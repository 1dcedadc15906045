import { Http1Error } from './http1-error.ts';
import { parseTrailers } from './response-head.ts';

/** A size in a chunk's head, with extensions, which end here (RFC 9112 section 7.1.1). */
const SIZE = /^([0-9A-Fa-f]{1,12})(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?\r\n$/;
const MAX_SIZE_LINE = 1_024;
const MAX_TRAILER_BYTES = 16_384;
const LF = 0x0a;

/** Reads a chunked body (RFC 9112 section 7.1) from bytes as they come. */
export class ChunkedDecoder {
  readonly #onData: (bytes: Buffer) => void;
  #expects: 'size' | 'data' | 'end of data' | 'trailers' | 'nothing' = 'size';
  /** Bytes of the chunk that have not come. */
  #left = 0;
  /** Of a line that has not come whole; of the trailers, all lines so far. */
  #line = '';
  #trailers: readonly string[] = [];
  /** Pieces of chunks in the bytes that came last. */
  pieces = 0;

  constructor(onData: (bytes: Buffer) => void) {
    this.#onData = onData;
  }

  get isComplete(): boolean {
    return this.#expects === 'nothing';
  }

  /** Names and values in turn, once it is whole. */
  get trailers(): readonly string[] {
    return this.#trailers;
  }

  /**
   * Takes bytes from there on, up to the end of the body; answers where they are no more its own.
   *
   * @throws WireError `response_malformed`
   */
  decode(bytes: Buffer, start: number): number {
    const pieces: Buffer[] = [];
    let at = start;
    while (at < bytes.length && this.#expects !== 'nothing') {
      if (this.#expects === 'data') {
        const piece = this.#takeData(bytes, at);
        pieces.push(piece);
        at += piece.length;
      } else {
        at = this.#takeLine(bytes, at);
      }
    }
    this.pieces = pieces.length;
    // Chunks of a few bytes would each cost what a write costs, in memory too where the client is slow.
    if (pieces.length > 0) this.#onData(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces));
    return at;
  }

  #takeData(bytes: Buffer, at: number): Buffer {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#expects = 'end of data';
    return bytes.subarray(at, end);
  }

  #takeLine(bytes: Buffer, at: number): number {
    const lf = bytes.indexOf(LF, at);
    const end = lf === -1 ? bytes.length : lf + 1;
    const isTrailers = this.#expects === 'trailers';
    if (this.#line.length + end - at > (isTrailers ? MAX_TRAILER_BYTES : MAX_SIZE_LINE)) throw malformed();
    this.#line += bytes.toString('latin1', at, end);
    if (lf === -1) return end;
    if (isTrailers) {
      if (this.#line === '\r\n' || this.#line.endsWith('\n\r\n')) this.#finish();
    } else {
      this.#readLine(this.#line);
      this.#line = '';
    }
    return end;
  }

  #readLine(line: string): void {
    if (this.#expects === 'end of data') {
      if (line !== '\r\n') throw malformed();
      this.#expects = 'size';
      return;
    }
    const size = SIZE.exec(line)?.[1];
    if (size === undefined) throw malformed();
    this.#left = Number.parseInt(size, 16);
    this.#expects = this.#left === 0 ? 'trailers' : 'data';
  }

  #finish(): void {
    this.#trailers = parseTrailers(this.#line.slice(0, -2));
    this.#expects = 'nothing';
  }
}

function malformed(): Http1Error {
  return new Http1Error('response_malformed');
}
