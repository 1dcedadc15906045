const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const DELETE = 0x7f;

/** The end of the line, after the request target; `d` stands for a digit. */
const VERSION = 'HTTP/d.d\r\n';

/** States of the scanner. States from `VERSION_AT` on are positions in `VERSION`. */
const START = 0;
const EMPTY_LINE = 1;
const METHOD = 2;
const TARGET_START = 3;
const TARGET = 4;
const VERSION_AT = 5;
const END = VERSION_AT + VERSION.length;

/**
 * Checks that a request line is exactly `METHOD SP target SP HTTP/d.d CRLF` (RFC 9112 section 3). Node's parser silently
 * accepts several spaces, and `RTSP/1.0` or `ICE/1.0` instead of `HTTP/1.0`; another server could read a different request.
 * The parser still checks the characters of the method and the request target.
 */
export class RequestLineScanner {
  #state = START;
  /** One empty line may precede a request (RFC 9112 section 2.2). */
  #hasEmptyLine = false;

  /** True until the first byte of a request. */
  get isAtStart(): boolean {
    return this.#state === START;
  }

  get isComplete(): boolean {
    return this.#state === END;
  }

  /** Prepares for the next request. */
  reset(): void {
    this.#state = START;
    this.#hasEmptyLine = false;
  }

  /**
   * Scans the next bytes. Returns the index after the line, the length of the bytes if the line continues, or -1 if it is
   * malformed.
   */
  scan(bytes: Buffer, start: number): number {
    let state = this.#state;
    let index = start;
    for (; index < bytes.length && state !== END; index += 1) {
      const byte = bytes[index] as number;
      // Fast path: most bytes belong to the method or the request target, which end at a space.
      if (byte > SPACE && byte !== DELETE && (state === METHOD || state === TARGET)) continue;
      state = this.#next(state, byte);
      if (state === -1) return -1;
    }
    this.#state = state;
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
