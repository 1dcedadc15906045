import { readClass, readEscape, readGroup, UnsupportedPattern } from './pattern-parts.ts';

const NOT_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]';
const IGNORE_CASE = '(?i)';
/** RE2 repeats nothing more often. */
const MAX_REPETITIONS = 1_000;

/**
 * Translates a pattern of ECMA-262 with the flag `u`, which JSON Schema uses, to RE2. Both must match the same texts.
 * Throws `UnsupportedPattern` for a construct that is not part of ECMA-262 or does not run in linear time. Beyond ECMA-262,
 * `(?i)` at the start ignores letter case.
 */
export function toRe2(pattern: string): string {
  const start = pattern.startsWith(IGNORE_CASE) ? IGNORE_CASE.length : 0;
  const errors = new Set<string>();
  let translated = pattern.slice(0, start);
  let at = start;
  let openGroups = 0;
  let mayRepeat = false;
  while (at < pattern.length) {
    const part = readPart(pattern, at, mayRepeat, errors);
    translated += part.re2;
    openGroups += part.opens;
    if (openGroups < 0) {
      errors.add('a ) has no ( before it; write the (, or \\)');
      openGroups = 0;
    }
    mayRepeat = part.mayRepeat;
    at = part.end;
  }
  if (openGroups > 0) errors.add('a ( has no ) after it; write the ), or \\(');
  if (errors.size > 0) throw new UnsupportedPattern([...errors].slice(0, MAX_ERRORS).join('; and '));
  return translated;
}

const MAX_ERRORS = 5;

interface Part {
  readonly re2: string;
  readonly end: number;
  /** 1 if it opens a group, -1 if it closes one. */
  readonly opens: number;
  /** True if a quantifier may follow. */
  readonly mayRepeat: boolean;
}

/** Reads a part. After an error it skips the construct, which would otherwise hide the errors behind it. */
function readPart(pattern: string, at: number, mayRepeat: boolean, errors: Set<string>): Part {
  try {
    return translatePart(pattern, at, mayRepeat);
  } catch (error) {
    if (!(error instanceof UnsupportedPattern)) throw error;
    errors.add(error.message);
    CONSTRUCT.lastIndex = at;
    const [written = ''] = CONSTRUCT.exec(pattern) ?? [];
    const opens = written.startsWith('(') ? written.split('(').length - written.split(')').length : 0;
    return { re2: '', end: at + written.length, opens, mayRepeat: opens === 0 };
  }
}

/** An escape, a class, the start of a group or all of one without content, a quantifier, or any other character. */
const CONSTRUCT =
  /\\(?:k<[^>]*>|[1-9]\d*|[pPu]\{(?:[^{}]*\}|[\w=]*)|.)|\[(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]|\(\?(?:[a-zA-Z^-]*\)|\(|<?[=!])?|(?:[*+?]|\{\d*,?\d*\})[?+]?|./suy;

function translatePart(pattern: string, at: number, mayRepeat: boolean): Part {
  const symbol = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
  const end = at + symbol.length;
  if (symbol === '\\') {
    const { re2, kind, end } = readEscape(pattern, at, false);
    const isRanges = kind === 'set' && re2.length > 2;
    return { re2: isRanges ? `[${re2}]` : re2, end, opens: 0, mayRepeat: kind !== 'assertion' };
  }
  if (symbol === '[') return { ...readClass(pattern, at), opens: 0, mayRepeat: true };
  if (symbol === '(') return { ...readGroup(pattern, at), opens: 1, mayRepeat: false };
  if (/[*+?{]/.test(symbol)) return { ...readQuantifier(pattern, at, mayRepeat), opens: 0, mayRepeat: false };
  if (/[}\]]/.test(symbol)) throw new UnsupportedPattern(`a ${symbol} stands alone; write \\${symbol}`);
  const re2 = symbol === '.' ? NOT_LINE_END : symbol;
  return { re2, end, opens: symbol === ')' ? -1 : 0, mayRepeat: !/[$^|]/.test(symbol) };
}

function readQuantifier(pattern: string, at: number, mayRepeat: boolean): { re2: string; end: number } {
  const [re2 = '', min = '0', max = min] = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/.exec(pattern.slice(at, at + 100)) ?? [];
  if (re2 === '') {
    const [upTo] = /^\{,\d+\}/.exec(pattern.slice(at, at + 100)) ?? [];
    throw new UnsupportedPattern(
      upTo === undefined ? 'a { stands alone; write \\{' : `${upTo} has no minimum; write ${upTo.replace('{', '{0')}`,
    );
  }
  const end = at + re2.length;
  if (!mayRepeat) throw new UnsupportedPattern(`${re2} repeats nothing; write \\${re2.charAt(0)}, or remove it`);
  if (Math.max(Number(min), Number(max)) > MAX_REPETITIONS)
    throw new UnsupportedPattern(
      `${re2} repeats more than ${MAX_REPETITIONS} times; write * or +, and limit the text with maxLength`,
    );
  if (max !== '' && Number(min) > Number(max)) throw new UnsupportedPattern(`${re2} is backwards; swap its numbers`);
  if (pattern.charAt(end) === '+')
    throw new UnsupportedPattern(`the possessive quantifier ${re2}+ is not part of ECMA-262; write ${re2}`);
  return { re2, end };
}
