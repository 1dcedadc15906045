const EMPTY_LINE = Buffer.from('\r\n\r\n');
const CR = 0x0d;

/** Finds the empty line that ends a request head, in the bytes after the request line. */
export class HeadScanner {
  /** Matched bytes of the empty line. The CRLF of the request line matches the first two. */
  #matched = 2;

  get isComplete(): boolean {
    return this.#matched === EMPTY_LINE.length;
  }

  /** Prepares for the next request. */
  reset(): void {
    this.#matched = 2;
  }

  /** Scans the next bytes. Returns the index after the head, or the length of the bytes if the head continues. */
  scan(bytes: Buffer, start: number): number {
    let index = start;
    while (this.#matched > 0 && !this.isComplete && index < bytes.length) this.#step(bytes[index++] as number);
    if (this.isComplete || index === bytes.length) return index;
    const end = bytes.indexOf(EMPTY_LINE, index);
    if (end !== -1) {
      this.#matched = EMPTY_LINE.length;
      return end + EMPTY_LINE.length;
    }
    for (let at = Math.max(index, bytes.length - 3); at < bytes.length; at += 1) this.#step(bytes[at] as number);
    return bytes.length;
  }

  #step(byte: number): void {
    if (byte === EMPTY_LINE[this.#matched]) this.#matched += 1;
    else this.#matched = byte === CR ? 1 : 0;
  }
}
