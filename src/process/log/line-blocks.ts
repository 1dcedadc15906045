/** Lines are written in blocks: one write for each line would cost a tenth of the throughput. */
const BLOCK_BYTES = 65_536;
/** The longest time that a line waits for further lines of its block. */
export const FLUSH_MS = 100;
/** The most bytes that wait to be written to one stream. Beyond this limit, lines are lost. */
export const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** The maximum number of UTF-8 bytes for one UTF-16 code unit. */
const MAX_UTF8_BYTES_PER_UNIT = 3;

/** Collects lines in blocks of bytes. No line is in two blocks. */
export class LineBlocks {
  readonly #send: (bytes: Buffer<ArrayBuffer>) => void;
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #used = 0;

  /** @param send receives each block, whose memory holds nothing else */
  constructor(send: (bytes: Buffer<ArrayBuffer>) => void) {
    this.#send = send;
  }

  /** Encodes complete lines immediately: every garbage collection would copy strings that wait. */
  write(text: string): void {
    const maxBytes = text.length * MAX_UTF8_BYTES_PER_UNIT;
    if (this.#used + maxBytes > BLOCK_BYTES) this.flush();
    if (maxBytes > BLOCK_BYTES) this.#sendLong(text);
    else this.#used += this.#block.write(text, this.#used);
  }

  /** Sends the lines that no block has sent. */
  flush(): void {
    const used = this.#used;
    if (used === 0) return;
    const block = this.#block;
    this.#used = 0;
    if (used <= BLOCK_BYTES / 2) this.#sendCopy(block.subarray(0, used));
    else {
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#send(block.subarray(0, used));
    }
  }

  /** Blocks that wait for a stalled reader would otherwise hold much more memory than their lines. */
  #sendCopy(bytes: Buffer): void {
    const lines = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(lines);
    this.#send(lines);
  }

  /** A buffer of the shared pool could not be transferred to another thread. */
  #sendLong(text: string): void {
    const lines = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
    lines.write(text);
    this.#send(lines);
  }
}

/** Returns the lines of a block, without their line breaks. */
export function linesOf(bytes: Uint8Array): string[] {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split('\n').slice(0, -1);
}

const LINE_END = 0x0a;

export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_END); at !== -1; at = bytes.indexOf(LINE_END, at + 1)) lines += 1;
  return lines;
}
