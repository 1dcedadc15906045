import { isUtf8 } from 'node:buffer';
import { parse } from 'csv-parse/sync';
import { attempt } from '../attempt.ts';
import type { Violation } from '../schema/value-validator.ts';
import type { StreamValidator } from './body-rule.ts';

const BYTE_ORDER_MARK_BYTES = 3;
const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

/** Validates that the first row of a CSV body (RFC 4180) is the configured header. The following rows are not read. */
export class CsvHeaderValidator implements StreamValidator {
  readonly #header: readonly string[];
  readonly #delimiter: string;
  readonly #mayNameHeader: boolean;
  /** The configured header is never longer, however it is quoted. */
  readonly #maxBytes: number;
  #isDone = false;
  #isQuoted = false;
  #size = 0;
  readonly #chunks: Buffer[] = [];

  /** @param mayNameHeader true if refusals may name the expected header */
  constructor(
    { header, delimiter }: { readonly header: readonly string[]; readonly delimiter: string },
    mayNameHeader: boolean,
  ) {
    this.#header = header;
    this.#delimiter = delimiter;
    this.#mayNameHeader = mayNameHeader;
    // The longest form: each column in quotes, each character a doubled quote, and a carriage return.
    const headerBytes = Buffer.byteLength(header.join(delimiter));
    this.#maxBytes = BYTE_ORDER_MARK_BYTES + 2 * headerBytes + 2 * header.length + 1;
  }

  write(chunk: Buffer): Violation | undefined {
    if (this.#isDone) return undefined;
    const end = this.#endOfRow(chunk);
    this.#chunks.push(chunk.subarray(0, end));
    this.#size += Math.min(end, chunk.length);
    if (this.#size > this.#maxBytes) return this.#violation();
    return end < chunk.length ? this.#validate() : undefined;
  }

  end(): Violation | undefined {
    return this.#isDone ? undefined : this.#validate();
  }

  /** Returns the index of the line feed of the first row, or of the byte that exceeds the limit; the chunk's length if it contains neither. */
  #endOfRow(chunk: Buffer): number {
    const end = Math.min(chunk.length, this.#maxBytes + 1 - this.#size);
    for (let index = 0; index < end; index += 1) {
      const byte = chunk[index];
      if (byte === QUOTE) this.#isQuoted = !this.#isQuoted;
      else if (byte === LF && !this.#isQuoted) return index;
    }
    return end;
  }

  #validate(): Violation | undefined {
    this.#isDone = true;
    const bytes = Buffer.concat(this.#chunks);
    if (bytes.length === 0) return { pointer: '', message: 'must not be empty' };
    if (!isUtf8(bytes)) return { pointer: '', message: 'must be UTF-8' };
    const first = bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes;
    const columns = columnsOf(first.toString(), this.#delimiter);
    const isExpected = columns.length === this.#header.length && columns.every((name, at) => name === this.#header[at]);
    return isExpected ? undefined : this.#violation();
  }

  #violation(): Violation {
    this.#isDone = true;
    const row = this.#mayNameHeader ? `the row ${this.#header.join(this.#delimiter)}` : 'the header of this route';
    return { pointer: '', message: `must begin with ${row}` };
  }
}

/** Parses a row; returns no columns if it is invalid or contains a line break: some parsers end a row at a carriage return. */
function columnsOf(row: string, delimiter: string): readonly string[] {
  if (/[\r\n]/.test(row)) return [];
  const [columns = []] = attempt(() => parse(row, { bom: true, delimiter }) as string[][]) ?? [];
  return columns;
}
