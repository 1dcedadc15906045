import type { Finding } from '../problem/finding.ts';
import { invalidByteOf } from './source.ts';
import { syntaxError } from './syntax-error.ts';

// The parser would accept these texts, or read them in another way than an editor shows them.

/**
 * The start of a file that is not UTF-8 text, as `decodeText` returns it, or as a decoder returns it that writes U+FFFD for
 * invalid bytes. The first matching row applies.
 */
const FORMATS: readonly (readonly [start: RegExp, message: string])[] = [
  [
    /^(?:\uDCFF\uDCFE|\uFFFD\uFFFD|[\t-~]\0)\0\0|^\0\0(?:\uDCFE\uDCFF|\uFFFD\uFFFD|\0[\t-~])/,
    encodingMessage('UTF-32'),
  ],
  [/^(?:\uDCFF\uDCFE|\uDCFE\uDCFF|\uFFFD\uFFFD[^\0]?\0|(?:[\t-~]\0){2}|(?:\0[\t-~]){2})/, encodingMessage('UTF-16')],
  [/^\x1F[\uDC8B\uFFFD]/, compressionMessage('gzip')],
  [/^PK\x03\x04/, compressionMessage('zip')],
  [/^\(\uDCB5\/[\uDCFD\uFFFD]|^\(\uFFFD\/\uFFFD/, compressionMessage('zstd')],
  [/^[\uDCFD\uFFFD]7zXZ\0/, compressionMessage('xz')],
  [/^BZh[1-9]1AY&SY/, compressionMessage('bzip2')],
];

/**
 * A character that YAML 1.2 excludes (section 5.1): a control character, half of a surrogate pair, or a noncharacter. Also a
 * carriage return without a line feed, which is a line break in YAML, but not in most editors.
 */
const EXCLUDED =
  /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x84\x86-\x9F\uFFFE\uFFFF]|\r(?!\n)|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** The lines that git writes around the sides of a conflict. */
const CONFLICT = /^(?:<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|$)/m;

/** Returns the error of a text that is not read as YAML at all; otherwise `undefined`. */
export function findTextError(text: string): Finding | undefined {
  const format = FORMATS.find(([start]) => start.test(text));
  if (format !== undefined) return syntaxError(0, 1, format[1]);
  const binary = text.indexOf('\0');
  if (binary >= 0) return syntaxError(binary, binary + 1, BINARY);
  const excluded = EXCLUDED.exec(text);
  if (excluded !== null) return syntaxError(excluded.index, excluded.index + 1, excludedMessage(excluded[0]));
  const conflict = CONFLICT.exec(text);
  if (conflict === null) return undefined;
  const message = 'the file has a merge conflict here; resolve it, and remove the lines that git added';
  return syntaxError(conflict.index, conflict.index + conflict[0].length, message);
}

const BINARY = 'the file has a NUL byte here, so it is not text; remove the byte, or name another file';

function excludedMessage(character: string): string {
  const byte = invalidByteOf(character);
  if (byte !== undefined) return `the byte 0x${hex(byte, 2)} is not UTF-8 here; save the file as UTF-8`;
  if (character === '\r') return 'a carriage return alone does not end a line; save the file with LF or CRLF line ends';
  const code = `U+${hex(character.charCodeAt(0), 4)}`;
  if (!character.isWellFormed()) return `${code} is half of a character; save the file as UTF-8`;
  return `YAML has no control characters, and this is ${code}; remove it, or write it as an escape in double quotes`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, '0');
}

function encodingMessage(encoding: string): string {
  return `the file is ${encoding}; save it as UTF-8`;
}

function compressionMessage(format: string): string {
  return `the file is compressed with ${format}; decompress it, or name another file`;
}
