/** The gateway limits the head of a request to a quarter of this, so a longer line is no line of an access log. */
const MAX_LINE_BYTES = 65_536;

const NEWLINE = 0x0a;

/** Receives a line, or `undefined` for one that is too long. */
type LineListener = (line: string | undefined) => void;

/** Splits chunks of bytes into lines. Keeps at most one incomplete line of at most 64 KB. */
export class LineSplitter {
  #incomplete: Buffer[] = [];
  #incompleteBytes = 0;

  push(chunk: Buffer, onLine: LineListener): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (this.#incompleteBytes === 0) onLine(end - start > MAX_LINE_BYTES ? undefined : decode(chunk, start, end));
      else {
        this.#keep(chunk.subarray(start, end));
        this.#endIncomplete(onLine);
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Ends the last line if it has no newline. */
  end(onLine: LineListener): void {
    if (this.#incompleteBytes > 0) this.#endIncomplete(onLine);
  }

  #keep(bytes: Buffer): void {
    this.#incompleteBytes += bytes.length;
    if (this.#incompleteBytes > MAX_LINE_BYTES) this.#incomplete = [];
    else this.#incomplete.push(bytes);
  }

  #endIncomplete(onLine: LineListener): void {
    const line = Buffer.concat(this.#incomplete);
    const isTooLong = this.#incompleteBytes > MAX_LINE_BYTES;
    this.#incomplete = [];
    this.#incompleteBytes = 0;
    onLine(isTooLong ? undefined : decode(line, 0, line.length));
  }
}

function decode(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('utf8', start, end);
}
