/** A source of bytes whose reads can be suspended. */
export interface PacedSource {
  resumeReads(): void;
}

/** Chunks between two checks. Parsing them takes a few milliseconds. */
const CHUNKS_PER_CHECK = 4_096;
/** Below this average size, the chunks cost more to parse than their bytes. */
const SMALL_BYTES = 512;
/** The pause between two reads of suspended sources, in which the process does all other work. */
const REST_MS = 10;

const suspended: PacedSource[] = [];

/**
 * Detects sources whose small chunks would block the event loop: one turn can deliver megabytes, and in chunks of one byte these take
 * half a second to parse. Such sources take turns, with one read of one source every `REST_MS`.
 */
export class ChunkCounter {
  #chunks = 0;
  #bytes = 0;

  /** Counts chunks. Returns true if the source must suspend its reads and call `resumeLater`. */
  add(chunks: number, bytes: number): boolean {
    this.#chunks += chunks;
    this.#bytes += bytes;
    if (this.#chunks < CHUNKS_PER_CHECK) return false;
    const areSmall = this.#bytes < this.#chunks * SMALL_BYTES;
    this.#chunks = 0;
    this.#bytes = 0;
    return areSmall;
  }
}

/** Calls `resumeReads` when it is the turn of this source. */
export function resumeLater(source: PacedSource): void {
  if (suspended.push(source) === 1) setTimeout(resumeNext, REST_MS);
}

function resumeNext(): void {
  suspended.shift()?.resumeReads();
  if (suspended.length > 0) setTimeout(resumeNext, REST_MS);
}
