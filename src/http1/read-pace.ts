/** A source of bytes whose reads can be suspended. */
export interface PacedSource {
  resumeReads(): void;
}

/** Pieces between two checks. Parsing them takes a few milliseconds. */
const MANY_PIECES = 4_096;
/** Below this average size pieces cost more than their bytes. */
const SMALL_BYTES = 512;
/** Time for everything else between two reads of suspended sources. */
const REST_MS = 10;

const suspended: PacedSource[] = [];

/**
 * Limits how long small pieces block the event loop. One turn can deliver megabytes, and chunks of one byte take half a second to
 * parse. Sources with such pieces take turns: one read of one source every few milliseconds.
 */
export class PieceCounter {
  #pieces = 0;
  #bytes = 0;

  /** Returns true if the source must suspend its reads and call `resumeLater`. */
  add(pieces: number, bytes: number): boolean {
    this.#pieces += pieces;
    this.#bytes += bytes;
    if (this.#pieces < MANY_PIECES) return false;
    const areSmall = this.#bytes < this.#pieces * SMALL_BYTES;
    this.#pieces = 0;
    this.#bytes = 0;
    return areSmall;
  }
}

export function resumeLater(source: PacedSource): void {
  if (suspended.push(source) === 1) setTimeout(resumeNext, REST_MS);
}

function resumeNext(): void {
  suspended.shift()?.resumeReads();
  if (suspended.length > 0) setTimeout(resumeNext, REST_MS);
}
