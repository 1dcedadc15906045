import { GrowingBuffer } from './growing-buffer.ts';
import { areFieldLines, type MalformedPart } from './message-head.ts';

const HEAD_END = '\r\n\r\n';
/** A longer head, or one that arrives in pieces, is collected first. */
const SHORT_HEAD_BYTES = 4_096;
/** An empty line before the head. */
const EMPTY_LINE_BYTES = 2;
/** Matches bytes that occur in a head. The first one may end a line that was checked before. */
const HEAD_TEXT = /^\n?[\t\x20-\x7e\x80-\xff]*(?:\r\n[\t\x20-\x7e\x80-\xff]*)*\r?$/;
/** Of a longer first line that is not complete, only the characters are checked. */
const MAX_LINE_BYTES = 256;
/** Enough to show the method of a request. */
export const START_BYTES = 12;

/**
 * Reads the heads of the messages on a connection, one after the other. A head may arrive in several reads. One that cannot become valid
 * is refused as soon as a line shows it, instead of at the time limit. Each byte is checked once, however small the reads are.
 */
export class HeadReader {
  /** The first characters of a head that is not complete; empty without one. */
  start = '';
  /** The index after the latest head in the bytes of its last read. */
  end = 0;
  /** Set once a head is refused. No other one can be read. */
  error: MalformedPart | 'too_large' | undefined;
  readonly #checkFirstLine: (text: string) => MalformedPart | undefined;
  /** The first part of a head that is not complete, and its limit. */
  #part: GrowingBuffer | undefined;
  #limitBytes = 0;
  /** The number of its bytes whose lines are checked. */
  #checked = 0;

  /** @param checkFirstLine checks a first line, which is complete if it ends with a line feed. One empty line may precede it */
  constructor(checkFirstLine: (text: string) => MalformedPart | undefined) {
    this.#checkFirstLine = checkFirstLine;
  }

  /** Returns a complete head, in latin-1, without the empty line after it. Returns an empty text while it is not complete, or refused. */
  read(bytes: Buffer, start: number, limitBytes: number): string {
    if (this.#part !== undefined) return this.#readPart(this.#part, bytes, start);
    const text = bytes.toString('latin1', start, start + SHORT_HEAD_BYTES);
    const size = text.indexOf(HEAD_END) + 2;
    if (size > 1 && size <= limitBytes) {
      this.end = start + size + 2;
      return text.slice(0, size);
    }
    this.#part = new GrowingBuffer(limitBytes + EMPTY_LINE_BYTES + HEAD_END.length);
    this.#limitBytes = limitBytes;
    this.#checked = 0;
    return this.#readPart(this.#part, bytes, start);
  }

  #readPart(part: GrowingBuffer, bytes: Buffer, start: number): string {
    const before = part.size;
    part.add(bytes.subarray(start, start + this.#limitBytes + EMPTY_LINE_BYTES + HEAD_END.length - before));
    const all = part.bytes();
    const end = all.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length + 1));
    // The last byte may belong to the empty line after the head, which the limit does not count.
    const size = end === -1 ? all.length - 1 : end + 2;
    const emptyLine = all[0] === 0x0d && all[1] === 0x0a ? EMPTY_LINE_BYTES : 0;
    if (size - emptyLine > this.#limitBytes) this.error = 'too_large';
    else if (end === -1) this.error = this.#checkPart(all, before);
    else {
      this.end = start + end + HEAD_END.length - before;
      this.#part = undefined;
      this.start = '';
      return all.toString('latin1', 0, size);
    }
    this.start = all.toString('latin1', 0, START_BYTES);
    return '';
  }

  /** @param before the number of bytes of earlier reads */
  #checkPart(all: Buffer, before: number): MalformedPart | undefined {
    const isFirstLine = this.#checked === 0;
    if (isFirstLine) {
      const end = all.indexOf('\n', Math.max(before, EMPTY_LINE_BYTES)) + 1;
      const isChecked = end > 0 || all.length <= MAX_LINE_BYTES;
      const malformed = isChecked ? this.#checkFirstLine(all.toString('latin1', 0, end || all.length)) : undefined;
      if (malformed !== undefined) return malformed;
    }
    const from = Math.max(0, before - 1);
    const added = all.toString('latin1', from);
    if (!HEAD_TEXT.test(added)) return 'message';
    const end = from + added.lastIndexOf('\n') + 1;
    if (end <= Math.max(before, EMPTY_LINE_BYTES)) return undefined;
    const lines = all.toString('latin1', this.#checked, end);
    this.#checked = end;
    const fields = isFirstLine ? lines.slice(lines.indexOf('\n', EMPTY_LINE_BYTES) + 1) : lines;
    return areFieldLines(fields) ? undefined : 'message';
  }
}
