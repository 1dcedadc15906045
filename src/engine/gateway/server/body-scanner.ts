const CR = 0x0d;
const LF = 0x0a;

/** Finds the end of a request body in the bytes of a connection. */
export interface BodyScanner {
  /** True once the end of the body was found. */
  readonly isComplete: boolean;
  /** Scans the next bytes. Returns the index after the body, or the length of the bytes if the body continues. */
  scan(bytes: Buffer, start: number): number;
}

/** Finds the end of a body with a `Content-Length`. */
export class FixedLengthBodyScanner implements BodyScanner {
  #remaining: number;

  constructor(length: number) {
    this.#remaining = length;
  }

  get isComplete(): boolean {
    return this.#remaining <= 0;
  }

  scan(bytes: Buffer, start: number): number {
    const end = Math.min(start + this.#remaining, bytes.length);
    this.#remaining -= end - start;
    return end;
  }
}

type ChunkPart = 'size' | 'extension' | 'data' | 'line' | 'trailer' | 'last' | 'end';

/**
 * Finds the end of a chunked body (RFC 9112 section 7.1), so that Node's parser gets no bytes of the next request. The parser
 * rejects malformed chunks; the scanner does not.
 */
export class ChunkedBodyScanner implements BodyScanner {
  #part: ChunkPart = 'size';
  #size = 0;
  /** Remaining bytes of the chunk data and its CRLF. */
  #remaining = 0;

  get isComplete(): boolean {
    return this.#part === 'end';
  }

  scan(bytes: Buffer, start: number): number {
    let index = start;
    while (index < bytes.length && this.#part !== 'end') {
      if (this.#part === 'data') {
        const end = Math.min(index + this.#remaining, bytes.length);
        this.#remaining -= end - index;
        index = end;
        if (this.#remaining === 0) this.#part = 'size';
      } else {
        this.#part = this.#next(this.#part, bytes[index] as number);
        index += 1;
      }
    }
    return index;
  }

  #next(part: ChunkPart, byte: number): ChunkPart {
    if (part === 'size') {
      const digit = digitOf(byte);
      if (digit === -1) return byte === LF ? this.#begin() : 'extension';
      this.#size = this.#size * 16 + digit;
      return 'size';
    }
    if (part === 'extension') return byte === LF ? this.#begin() : 'extension';
    if (part === 'line') return byte === LF ? 'trailer' : 'line';
    if (part === 'trailer') return byte === CR ? 'last' : 'line';
    return byte === LF ? 'end' : 'line';
  }

  #begin(): ChunkPart {
    const size = this.#size;
    this.#size = 0;
    this.#remaining = size + 2;
    return size === 0 ? 'trailer' : 'data';
  }
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
