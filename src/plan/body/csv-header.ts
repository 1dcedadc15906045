import { isUtf8 } from 'node:buffer';
import { parse } from 'csv-parse/sync';
import type { Violation } from '../violation.ts';
import type { StreamValidator } from './stream-validation.ts';

const BYTE_ORDER_MARK_BYTES = 3;
const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

/** Looks at the first row of a CSV (RFC 4180), which must be the header that is stated; what follows is not read. */
export class CsvHeaderValidator implements StreamValidator {
  readonly #header: readonly string[];
  readonly #delimiter: string;
  readonly #isTold: boolean;
  /** The stated row is never longer, however it is written. Reading a longer one would waste time. */
  readonly #maxBytes: number;
  #isOver = false;
  #isQuoted = false;
  #size = 0;
  readonly #pieces: Buffer[] = [];

  /** @param isTold refusals name the expected header */
  constructor(
    { header, delimiter }: { readonly header: readonly string[]; readonly delimiter: string },
    isTold: boolean,
  ) {
    this.#header = header;
    this.#delimiter = delimiter;
    this.#isTold = isTold;
    // Each column in quotes, with every character of it a quote that is doubled; and a carriage return.
    const written = Buffer.byteLength(header.join(delimiter));
    this.#maxBytes = BYTE_ORDER_MARK_BYTES + 2 * written + 2 * header.length + 1;
  }

  write(piece: Buffer): Violation | undefined {
    if (this.#isOver) return undefined;
    const end = this.#endOfRow(piece);
    this.#pieces.push(piece.subarray(0, end));
    this.#size += Math.min(end, piece.length);
    if (this.#size > this.#maxBytes) return this.#wrong();
    return end < piece.length ? this.#judge() : undefined;
  }

  end(): Violation | undefined {
    return this.#isOver ? undefined : this.#judge();
  }

  /** Returns the index of the line feed of the first row, or of the byte that exceeds the limit; the piece's length if neither has come. */
  #endOfRow(piece: Buffer): number {
    const end = Math.min(piece.length, this.#maxBytes + 1 - this.#size);
    for (let index = 0; index < end; index += 1) {
      const byte = piece[index];
      if (byte === QUOTE) this.#isQuoted = !this.#isQuoted;
      else if (byte === LF && !this.#isQuoted) return index;
    }
    return end;
  }

  #judge(): Violation | undefined {
    this.#isOver = true;
    const bytes = Buffer.concat(this.#pieces);
    if (bytes.length === 0) return { pointer: '', message: 'must not be empty' };
    if (!isUtf8(bytes)) return { pointer: '', message: 'must be UTF-8' };
    const first = bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes;
    const columns = columnsOf(first.toString(), this.#delimiter);
    const isStated = columns.length === this.#header.length && columns.every((name, at) => name === this.#header[at]);
    return isStated ? undefined : this.#wrong();
  }

  #wrong(): Violation {
    this.#isOver = true;
    const row = this.#isTold ? `the row ${this.#header.join(this.#delimiter)}` : 'another row';
    return { pointer: '', message: `must begin with ${row}` };
  }
}

/** None where the row cannot be read, or holds a line break: some end a row at a carriage return alone. */
function columnsOf(row: string, delimiter: string): readonly string[] {
  if (/[\r\n]/.test(row)) return [];
  try {
    const [columns = []] = parse(row, { bom: true, delimiter }) as string[][];
    return columns;
  } catch {
    return [];
  }
}
