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

const NAMED = /^\(\?<([^>]*)>/;
const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200C\u200D]*$/u;
const FLAGS = /^\(\?[a-zA-Z^-]*[:)]/;
const NOT_LINEAR = 'cannot run in linear time';

/** The starts of groups that are not supported. */
const UNSUPPORTED: readonly (readonly [start: string, message: string])[] = [
  ['(?=', `the look-ahead (?= ${NOT_LINEAR}; write its pattern in a second schema of allOf`],
  ['(?!', `the negative look-ahead (?! ${NOT_LINEAR}; write its pattern in a schema under not`],
  ['(?<=', `the look-behind (?<= ${NOT_LINEAR}; write its text as a part of the pattern`],
  ['(?<!', `the negative look-behind (?<! ${NOT_LINEAR}; write a second schema under not`],
  ['(?P<', '(?P< is not part of ECMA-262; write (?<'],
  ["(?'", "(?' is not part of ECMA-262; write (?<name>"],
  ['(?P=', `the back-reference (?P= ${NOT_LINEAR}; write out the text that it repeats`],
  ['(?>', 'the atomic group (?> is not part of ECMA-262; write (?:'],
  ['(?|', 'the group (?| is not part of ECMA-262; write (?:'],
  ['(?#', 'the comment (?# is not part of ECMA-262; write it in "$comment"'],
  ['(?(', 'the condition (?( is not part of ECMA-262; write if, then and else in the schema'],
  ['(?R', 'the recursion (?R is not part of ECMA-262; write out the levels'],
  ['(?&', 'the recursion (?& is not part of ECMA-262; write out the levels'],
];

/** Reads the start of a group whose parenthesis is at `at`. Names have no effect, because nothing refers to them. */
export function readGroup(pattern: string, at: number): { re2: string; end: number } {
  const rest = pattern.slice(at, at + 200);
  if (!rest.startsWith('(?')) return { re2: '(', end: at + 1 };
  for (const start of ['(?:', '(?i:', '(?-i:'])
    if (rest.startsWith(start)) return { re2: start, end: at + start.length };
  const message = UNSUPPORTED.find(([start]) => rest.startsWith(start))?.[1];
  if (message !== undefined) throw new UnsupportedPattern(message);
  const [named, name = ''] = NAMED.exec(rest) ?? [];
  if (named !== undefined && NAME.test(name)) return { re2: '(', end: at + named.length };
  if (rest.startsWith('(?<'))
    throw new UnsupportedPattern('the name of a group is not a name; write one such as (?<year>');
  const [flags] = FLAGS.exec(rest) ?? [];
  if (flags === undefined)
    throw new UnsupportedPattern(`${rest.slice(0, 3)} begins no group; write (?:, or \\( for a parenthesis`);
  const instead = /^\(\?i\)/.test(flags)
    ? 'write it at the start, or (?i:'
    : 'only (?i) at the start and (?i: are supported';
  throw new UnsupportedPattern(`the flags ${flags} are not supported here; ${instead}`);
}
