import { GrowingBuffer } from './growing-buffer.ts';
import { checkFieldLines, checkRequestLine, type MalformedPart, withoutEmptyLine } from './message-head.ts';

export const HEAD_END = '\r\n\r\n';
/** An empty line before the head. */
const EMPTY_LINE_BYTES = 2;
/** Matches bytes that occur in a head. */
const HEAD_TEXT = /^[\t\r\n\x20-\x7e\x80-\xff]*$/;
/** Of a longer request line that is not complete, only the characters are checked. */
const MAX_LINE_BYTES = 256;
/** Enough to show the method. */
const START_BYTES = 12;

/**
 * Collects a request head that arrives in several reads. Refuses one that cannot become valid as soon as a line shows it, instead of at
 * the time limit. Each byte is checked once, however small the reads are.
 */
export class PartialHead {
  readonly #limitBytes: number;
  readonly #buffer: GrowingBuffer;
  #size = 0;
  /** The number of bytes whose lines are checked. */
  #checked = 0;
  #end = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
    this.#buffer = new GrowingBuffer(limitBytes + EMPTY_LINE_BYTES + HEAD_END.length);
  }

  /** The first characters. */
  get start(): string {
    return this.#buffer.bytes().toString('latin1', 0, START_BYTES);
  }

  /** A complete head without its empty line. */
  get text(): string {
    return this.#buffer.bytes().toString('latin1', 0, this.#end);
  }

  /** Adds the next bytes. Returns the index after a complete head, or the error; `undefined` while the head is incomplete. */
  add(bytes: Buffer, start: number): number | MalformedPart | 'too_large' | undefined {
    const before = this.#size;
    const room = this.#limitBytes + EMPTY_LINE_BYTES + HEAD_END.length - before;
    const added = bytes.subarray(start, start + room);
    this.#buffer.add(added);
    this.#size += added.length;
    const all = this.#buffer.bytes();
    const end = all.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length + 1));
    // The last byte may belong to the empty line after the head, which the limit does not count.
    const size = end === -1 ? all.length - 1 : end + 2;
    const emptyLine = all[0] === 0x0d && all[1] === 0x0a ? EMPTY_LINE_BYTES : 0;
    if (size - emptyLine > this.#limitBytes) return 'too_large';
    if (end === -1) return this.#check(all, added.toString('latin1'));
    this.#end = end + 2;
    return start + end + HEAD_END.length - before;
  }

  #check(all: Buffer, added: string): MalformedPart | undefined {
    const before = all.length - added.length;
    const malformed = this.#checked === 0 ? checkFirstLine(all, before) : undefined;
    if (malformed !== undefined) return malformed;
    if (!HEAD_TEXT.test(added)) return 'message';
    const last = before + added.lastIndexOf('\n') + 1;
    if (last <= Math.max(before, EMPTY_LINE_BYTES)) return undefined;
    const lines = withoutEmptyLine(all.toString('latin1', this.#checked, last));
    const fields = this.#checked === 0 ? lines.slice(lines.indexOf('\n') + 1) : lines;
    this.#checked = last;
    return checkFieldLines(fields);
  }
}

/** @param before the number of bytes that do not end the line */
function checkFirstLine(bytes: Buffer, before: number): MalformedPart | undefined {
  const end = bytes.indexOf('\n', Math.max(before, EMPTY_LINE_BYTES)) + 1;
  if (end === 0 && bytes.length > MAX_LINE_BYTES) return undefined;
  return checkRequestLine(withoutEmptyLine(bytes.toString('latin1', 0, end === 0 ? bytes.length : end)));
}
