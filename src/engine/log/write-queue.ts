/** The bytes that wait to be written to a stream, in order. */
export class WriteQueue {
  #added = 0;
  #removed = 0;
  /** The blocks whose senders wait, with the number of all bytes up to their end. */
  readonly #blocks: { readonly end: number; readonly onWritten: () => void }[] = [];

  get bytes(): number {
    return this.#added - this.#removed;
  }

  add(bytes: number, onWritten?: () => void): void {
    this.#added += bytes;
    if (onWritten !== undefined) this.#blocks.push({ end: this.#added, onWritten });
  }

  /** Removes bytes that were written. */
  remove(bytes: number): void {
    this.#removed += bytes;
    while (this.#blocks[0] !== undefined && this.#blocks[0].end <= this.#removed) this.#blocks.shift()?.onWritten();
  }
}
