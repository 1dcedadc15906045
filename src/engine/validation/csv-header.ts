import { isUtf8 } from 'node:buffer';
import { parse } from 'csv-parse/sync';
import { attempt } from '../attempt.ts';
import type { Violation } from '../schema/value-validator.ts';
import type { StreamValidator } from './request-rules.ts';

const BYTE_ORDER_MARK_BYTES = 3;
const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

/**
 * Creates the validator of a CSV body (RFC 4180): its first row is the configured header. The following rows are not read.
 *
 * @param mayNameHeader true if refusals may name the expected header
 */
export function createCsvHeaderValidator(
  { header, delimiter }: { readonly header: readonly string[]; readonly delimiter: string },
  mayNameHeader: boolean,
): StreamValidator {
  const text = header.join(delimiter);
  // The longest form: each column in quotes, each character a doubled quote, and a carriage return.
  const maxBytes = BYTE_ORDER_MARK_BYTES + 2 * Buffer.byteLength(text) + 2 * header.length + 1;
  let row = Buffer.alloc(0);
  let isQuoted = false;
  let isDone = false;
  const end = (): Violation | undefined => {
    if (isDone) return undefined;
    isDone = true;
    if (row.length === 0) return { pointer: '', message: 'must not be empty' };
    if (row.length <= maxBytes && !isUtf8(row)) return { pointer: '', message: 'must be UTF-8' };
    const columns = row.length > maxBytes ? [] : columnsOf(row, delimiter);
    if (columns.length === header.length && columns.every((name, at) => name === header[at])) return undefined;
    return {
      pointer: '',
      message: `must begin with ${mayNameHeader ? `the row ${text}` : 'the header of this route'}`,
    };
  };
  const write = (chunk: Buffer): Violation | undefined => {
    if (isDone) return undefined;
    const limit = Math.min(chunk.length, maxBytes + 1 - row.length);
    let length = 0;
    for (; length < limit && (isQuoted || chunk[length] !== LF); length += 1)
      if (chunk[length] === QUOTE) isQuoted = !isQuoted;
    row = Buffer.concat([row, chunk.subarray(0, length)]);
    return length < chunk.length || row.length > maxBytes ? end() : undefined;
  };
  return { write, end };
}

/** Parses a row; returns no columns if it is invalid or contains a line break: some parsers end a row at a carriage return. */
function columnsOf(row: Buffer, delimiter: string): readonly string[] {
  const text = row.toString('utf8', 0, row.at(-1) === CR ? row.length - 1 : row.length);
  if (/[\r\n]/.test(text)) return [];
  const [columns = []] = attempt(() => parse(text, { bom: true, delimiter }) as string[][]) ?? [];
  return columns;
}
