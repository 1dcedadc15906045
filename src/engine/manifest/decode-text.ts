import { isUtf8 } from 'node:buffer';

// A manifest and the files that it names are UTF-8 (RFC 3629). A lenient decoder would replace invalid bytes, so that the
// gateway would read another text than the author wrote. Here an invalid byte stays visible, as half of a surrogate pair, which
// no valid text contains: `parse` reports it with its line and column.

/** A valid sequence of two to four bytes, or one invalid byte; in bytes decoded as Latin-1. */
const SEQUENCE =
  /[\xC2-\xDF][\x80-\xBF]|\xE0[\xA0-\xBF][\x80-\xBF]|[\xE1-\xEC\xEE\xEF][\x80-\xBF]{2}|\xED[\x80-\x9F][\x80-\xBF]|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}|\xF4[\x80-\x8F][\x80-\xBF]{2}|[\x80-\xFF]/g;
const FIRST_MARK = 0xdc00;

/** Decodes UTF-8. Keeps a byte order mark. An invalid byte becomes the code unit U+DC00 plus its value. */
export function decodeText(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1').replaceAll(SEQUENCE, decodeSequence);
}

function decodeSequence(sequence: string): string {
  return sequence.length === 1
    ? String.fromCharCode(FIRST_MARK + sequence.charCodeAt(0))
    : Buffer.from(sequence, 'latin1').toString('utf8');
}

/** Returns the invalid byte that `decodeText` marked with a code unit; `undefined` for any other code unit. */
export function invalidByteOf(codeUnit: string): number | undefined {
  const byte = codeUnit.charCodeAt(0) - FIRST_MARK;
  return byte >= 0x80 && byte <= 0xff ? byte : undefined;
}
