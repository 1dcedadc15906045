import { hex, readEscape, type TranslatedAtom } from './pattern-escape.ts';
import { UnsupportedPattern } from './unsupported-pattern.ts';

const EVERY_CHARACTER = '\\x{0}-\\x{10ffff}';

/** Reads a class such as `[^a-z\d]`, whose bracket is at `start`. */
export function readClass(pattern: string, start: number): TranslatedAtom {
  const isNegated = pattern.charAt(start + 1) === '^';
  let at = start + (isNegated ? 2 : 1);
  let content = '';
  while (pattern.charAt(at) !== ']') {
    const first = readClassAtom(pattern, at);
    at = first.end;
    if (pattern.charAt(at) !== '-' || /^-(?:\]|$)/.test(pattern.slice(at, at + 2))) {
      content += first.re2;
      continue;
    }
    const last = readClassAtom(pattern, at + 1);
    at = last.end;
    content += rangeOf(first, last, pattern);
  }
  const re2 = content === '' ? emptyClass(isNegated) : `[${isNegated ? '^' : ''}${content}]`;
  return { re2, kind: 'character', codePoint: 0, end: at + 1 };
}

function emptyClass(isNegated: boolean): string {
  return isNegated ? `[${EVERY_CHARACTER}]` : `[^${EVERY_CHARACTER}]`;
}

/** Reads a character or an escape in a class. */
export function readClassAtom(pattern: string, at: number): TranslatedAtom {
  const codePoint = pattern.codePointAt(at);
  if (codePoint === undefined) throw new UnsupportedPattern('a [ has no ] after it; write the ], or \\[');
  const posix = /^\[:\^?[a-z]+:\]/.exec(pattern.slice(at, at + 20));
  if (posix !== null)
    throw new UnsupportedPattern(`${posix[0]} is not a class of ECMA-262; write its characters, as in [A-Za-z]`);
  if (codePoint === 0x5c) return readEscape(pattern, at, true);
  return { re2: hex(codePoint), kind: 'character', codePoint, end: at + (codePoint > 0xffff ? 2 : 1) };
}

function rangeOf(first: TranslatedAtom, last: TranslatedAtom, pattern: string): string {
  if (first.kind !== 'character' || last.kind !== 'character')
    throw new UnsupportedPattern('a range in [...] begins or ends with a class such as \\d; write \\- for the hyphen');
  if (first.codePoint > last.codePoint) {
    const range = `${String.fromCodePoint(first.codePoint)}-${String.fromCodePoint(last.codePoint)}`;
    const isPrintable = pattern.includes(range);
    throw new UnsupportedPattern(`the range${isPrintable ? ` ${range}` : ''} in [...] is backwards; swap its ends`);
  }
  return `${first.re2}-${last.re2}`;
}
