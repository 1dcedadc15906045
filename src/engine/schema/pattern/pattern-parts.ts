import { attempt } from '../../attempt.ts';

/** A part of a pattern, translated to RE2. */
export interface TranslatedAtom {
  /** Its form in RE2. For a set it is the content of a class, without brackets. */
  readonly re2: string;
  readonly kind: 'character' | 'set' | 'assertion';
  readonly codePoint: number;
  readonly end: number;
}

const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Escapes of other dialects, with what to write instead. */
const FOREIGN: Readonly<Record<string, string>> = {
  A: 'write ^',
  z: 'write $',
  Z: 'write $',
  a: 'write \\x07',
  e: 'write \\x1B',
  h: 'write [ \\t]',
  H: 'write [^ \\t]',
  N: 'write a dot',
  R: 'write (?:\\r\\n|\\n|\\r)',
  X: 'write a dot',
  Q: 'put a backslash before each special character',
  E: 'put a backslash before each special character',
  G: 'remove it',
  K: 'remove it',
};

/** Reads an escape of ECMA-262 section 22.2.1 with the flag `u`. A backslash before punctuation also stands for it. */
export function readEscape(pattern: string, at: number, isInClass: boolean): TranslatedAtom {
  const rest = pattern.slice(at + 1, at + 100);
  const letter = rest.charAt(0);
  if (letter === '') throw new UnsupportedPattern('it ends with a single backslash; write \\\\');
  if (/[dDsSwW]/.test(letter)) return { re2: `\\${letter}`.replace(/\\[sS]/, unicodeRanges), ...setOf(at + 2) };
  if (/[pP]/.test(letter)) return readProperty(rest, at);
  if (letter === 'b' || letter === 'B') {
    if (isInClass && letter === 'b') return character(8, at + 2);
    if (!isInClass) return { re2: `\\${letter}`, kind: 'assertion', codePoint: 0, end: at + 2 };
  }
  const control = CONTROLS[letter];
  if (control !== undefined) return character(control, at + 2);
  return readCharacter(pattern, rest, at);
}

/** The escapes of one code point: a control letter, both halves of a surrogate pair, and digits in other forms. */
const CODED =
  /^(?:c([A-Za-z])|u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})|x([0-9A-Fa-f]{2})|u\{0*([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|(0)(?!\d))/;

function readCharacter(pattern: string, rest: string, at: number): TranslatedAtom {
  const [coded = '', letter, ...numbers] = CODED.exec(rest) ?? [];
  if (letter !== undefined) return character(letter.charCodeAt(0) % 32, at + 3);
  const [code, low] = numbers.filter((digits) => digits !== undefined).map((digits) => Number.parseInt(digits, 16));
  const codePoint = low === undefined ? code : String.fromCharCode(code ?? 0, low).codePointAt(0);
  if (codePoint !== undefined && codePoint <= LAST) return character(codePoint, at + 1 + coded.length);
  const symbol = String.fromCodePoint(pattern.codePointAt(at + 1) ?? 0);
  if (/[A-Za-z0-9]/.test(symbol)) throw new UnsupportedPattern(describeWrong(rest));
  return character(symbol.codePointAt(0) ?? 0, at + 1 + symbol.length);
}

function readProperty(rest: string, at: number): TranslatedAtom {
  const [written] = /^[pP]\{[^{}]*\}/.exec(rest) ?? [];
  const short = /^[pP]([A-Z])/.exec(rest)?.[1];
  if (written === undefined && short !== undefined)
    throw new UnsupportedPattern(`\\${rest.slice(0, 2)} has no braces; write \\${rest.charAt(0)}{${short}}`);
  if (written === undefined)
    throw new UnsupportedPattern('\\p has no property in braces; write one such as \\p{L} or \\p{Script=Greek}');
  try {
    return { re2: unicodeRanges(`\\${written}`), ...setOf(at + 1 + written.length) };
  } catch {
    const name = written.slice(2, -1);
    const isScript = attempt(() => new RegExp(`\\p{Script=${name}}`, 'u')) !== undefined;
    const fix = isScript ? `\\${written.charAt(0)}{Script=${name}}` : 'one such as \\p{L} or \\p{Script=Greek}';
    throw new UnsupportedPattern(`\\${written} is not a property of Unicode; write ${fix}`);
  }
}

function describeWrong(rest: string): string {
  const letter = rest.charAt(0);
  const [reference] = /^(?:[1-9]\d*|k(?:<[^>]*>)?)/.exec(rest) ?? [];
  if (reference !== undefined)
    return `the back-reference \\${reference} cannot run in linear time; write out the text that it repeats`;
  if (/^\d/.test(letter)) return `the octal escape \\${rest.slice(0, 2)} is ambiguous; write it as \\x00 to \\xFF`;
  if (letter === 'c') return '\\c is not followed by a letter; write one such as \\cA, or \\\\c';
  if (letter === 'x') return '\\x is not followed by two hexadecimal digits; write \\x41 or \\u{41}';
  if (letter === 'u') return '\\u is not followed by a code point; write \\u0041 or \\u{1F600}';
  const fix = Object.hasOwn(FOREIGN, letter) ? FOREIGN[letter] : `write ${letter}`;
  return `\\${letter} is not an escape of ECMA-262; ${fix}`;
}

function character(codePoint: number, end: number): TranslatedAtom {
  return { re2: hex(codePoint), kind: 'character', codePoint, end };
}

function setOf(end: number): Pick<TranslatedAtom, 'kind' | 'codePoint' | 'end'> {
  return { kind: 'set', codePoint: 0, end };
}

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const LAST = 0x10_ffff;
const MAX_UNIT = 0xffff;
const PLANE = 0x1_0000;
/** The code points that are matched at once, those of one high surrogate: for all of them V8 would need 32 MB. */
const BLOCK = 0x400;
const OFFSETS = Uint16Array.from({ length: BLOCK }, (_, offset) => offset);
const LOW_SURROGATES = Array.from(OFFSETS, (offset) => String.fromCharCode(0xdc00 + offset));

/** A few properties are in use, in every pattern again. */
const rangesByEscape = new Map<string, string>();

/**
 * Returns the code points that a class escape of ECMA-262 matches, such as `\p{Script=Greek}` or `\S`, as ranges of an RE2
 * class. Throws if the engine does not know the escape. Surrogates are left out, because no valid text contains one.
 */
function unicodeRanges(classEscape: string): string {
  const known = rangesByEscape.get(classEscape);
  if (known !== undefined) return known;
  const runs = new RegExp(`${classEscape}+`, 'gu');
  const ranges: { readonly first: number; last: number }[] = [];
  const add = (first: number, last: number) => {
    const previous = ranges.at(-1);
    if (previous?.last === first - 1) previous.last = last;
    else ranges.push({ first, last });
  };
  for (let start = 0; start <= LAST; start += BLOCK) {
    if (isLikePrevious(start)) {
      if (ranges.at(-1)?.last === start - 1) add(start, start + BLOCK - 1);
      continue;
    }
    for (const [run] of codePointsFrom(start).matchAll(runs)) {
      const first = run.codePointAt(0) ?? 0;
      add(first, first + run.length / (first > MAX_UNIT ? 2 : 1) - 1);
    }
    if (start + BLOCK === FIRST_SURROGATE) start += SURROGATES;
  }
  const text = ranges.map(({ first, last }) => (first === last ? hex(first) : `${hex(first)}-${hex(last)}`)).join('');
  rangesByEscape.set(classEscape, text);
  return text;
}

function hex(codePoint: number): string {
  return `\\x{${codePoint.toString(16)}}`;
}

/** True if a block is like the one before it: planes 4 to 13 have no characters, 15 and 16 are for private use, and all end with two noncharacters. */
function isLikePrevious(start: number): boolean {
  const plane = start >> 16;
  return plane > 3 && plane !== 14 && start % PLANE > 0 && (start + BLOCK) % PLANE > 0;
}

/** Returns all code points of a block in order. */
function codePointsFrom(start: number): string {
  if (start <= MAX_UNIT) return String.fromCharCode(...OFFSETS.map((offset) => start + offset));
  const high = String.fromCharCode(0xd7c0 + (start >> 10));
  return high + LOW_SURROGATES.join(high);
}

/** A construct that a pattern may not have. The message names it and says what to write instead. */
export class UnsupportedPattern extends Error {}

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
  // An empty class matches nothing, and a negated one everything.
  const [sign, inside] = content === '' ? [!isNegated, EVERY_CHARACTER] : [isNegated, content];
  const re2 = `[${sign ? '^' : ''}${inside}]`;
  return { re2, kind: 'character', codePoint: 0, end: at + 1 };
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
  if (named !== undefined && pattern.slice(0, at).includes(named))
    throw new UnsupportedPattern(`two groups have the name ${name}; rename one`);
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
