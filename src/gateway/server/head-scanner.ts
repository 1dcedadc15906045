const EMPTY_LINE = Buffer.from('\r\n\r\n');
const CR = 0x0d;

/** Finds the empty line that ends a request's head, in the bytes behind the request line. */
export class HeadScanner {
  /** Bytes of the empty line that have come; the request line has ended with the first two. */
  #matched = 2;

  get isComplete(): boolean {
    return this.#matched === EMPTY_LINE.length;
  }

  /** Starts again, for the next request. */
  reset(): void {
    this.#matched = 2;
  }

  /** Reads on; returns the index behind the head or, while the head goes on, behind the bytes. */
  scan(bytes: Buffer, start: number): number {
    let index = start;
    while (this.#matched > 0 && !this.isComplete && index < bytes.length) this.#step(bytes[index++] as number);
    if (this.isComplete || index === bytes.length) return index;
    const found = bytes.indexOf(EMPTY_LINE, index);
    if (found !== -1) {
      this.#matched = EMPTY_LINE.length;
      return found + EMPTY_LINE.length;
    }
    for (let at = Math.max(index, bytes.length - 3); at < bytes.length; at += 1) this.#step(bytes[at] as number);
    return bytes.length;
  }

  #step(byte: number): void {
    if (byte === EMPTY_LINE[this.#matched]) this.#matched += 1;
    else this.#matched = byte === CR ? 1 : 0;
  }
}
