const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const DELETE = 0x7f;

/** `d` stands for a digit. Everything behind the target. */
const VERSION = 'HTTP/d.d\r\n';

/** Positions in the line; those above `VERSION_AT` are positions in `VERSION`. */
const START = 0;
const EMPTY_LINE = 1;
const METHOD = 2;
const TARGET_START = 3;
const TARGET = 4;
const VERSION_AT = 5;
const END = VERSION_AT + VERSION.length;

/**
 * Checks that a request line is exactly `METHOD SP target SP HTTP/d.d CRLF` (RFC 9112 section 3), while its bytes come.
 * Node's parser also accepts several blanks, and `RTSP/1.0` and `ICE/1.0` for `HTTP/1.0`, and does not report it: another server
 * would read another request. The parser still decides which bytes a method and a target may have.
 */
export class RequestLineScanner {
  #at = START;
  /** One empty line may stand before a request (RFC 9112 section 2.2). */
  #hasEmptyLine = false;

  /** True until the first byte of a request. */
  get isAtStart(): boolean {
    return this.#at === START;
  }

  get isComplete(): boolean {
    return this.#at === END;
  }

  /** Starts again, for the next request. */
  reset(): void {
    this.#at = START;
    this.#hasEmptyLine = false;
  }

  /** Reads on; returns the index behind the line or, while the line goes on, behind the bytes. -1: the line is malformed. */
  scan(bytes: Buffer, start: number): number {
    let state = this.#at;
    let index = start;
    for (; index < bytes.length && state !== END; index += 1) {
      const byte = bytes[index] as number;
      // A method and a target end at a blank; most bytes are theirs.
      if (byte > SPACE && byte !== DELETE && (state === METHOD || state === TARGET)) continue;
      state = this.#next(state, byte);
      if (state === -1) return -1;
    }
    this.#at = state;
    return index;
  }

  #next(state: number, byte: number): number {
    if (state >= VERSION_AT) return isVersionAt(state - VERSION_AT, byte) ? state + 1 : -1;
    if (state === START && byte === CR && !this.#hasEmptyLine) return EMPTY_LINE;
    if (state === EMPTY_LINE) {
      this.#hasEmptyLine = true;
      return byte === LF ? START : -1;
    }
    if (state === METHOD && byte === SPACE) return TARGET_START;
    if (state === TARGET && byte === SPACE) return VERSION_AT;
    if (byte <= SPACE || byte === DELETE) return -1;
    return state === START ? METHOD : TARGET;
  }
}

function isVersionAt(index: number, byte: number): boolean {
  const expected = VERSION.charCodeAt(index);
  return expected === 0x64 ? byte >= 0x30 && byte <= 0x39 : byte === expected;
}
