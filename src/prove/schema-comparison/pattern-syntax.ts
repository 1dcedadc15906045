import { attempt } from '../../engine/attempt.ts';
import {
  readClassAtom,
  readEscape,
  readGroup,
  type TranslatedAtom,
} from '../../engine/schema/pattern/pattern-parts.ts';
import {
  type CharacterSet,
  caseless,
  codePointOf,
  complementOf,
  DIGITS,
  LINE_END,
  propertySet,
  rangeSet,
  SPACE,
  unionOf,
  WORD,
} from './character-set.ts';

/** The syntax tree of a pattern. */
export type PatternNode =
  | { readonly kind: 'characters'; readonly set: CharacterSet }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly part: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: 'assertion'; readonly assertion: PatternAssertion };

export type PatternAssertion = 'start' | 'end' | 'boundary' | 'no-boundary';

/** The repetitions after an item: `*`, `+`, `?`, `{2}`, `{2,}`, `{2,4}`, each also with `?`. */
const REPETITION = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;
const IGNORE_CASE = '(?i)';

/** Parses a pattern that the gateway accepts, with the functions of `toRe2`. Returns `undefined` for other patterns. */
export function parsePatternSyntax(text: string): PatternNode | undefined {
  let isCaseless = text.startsWith(IGNORE_CASE);
  let at = isCaseless ? IGNORE_CASE.length : 0;
  const node = attempt(choice);
  return at < text.length ? undefined : node;

  function choice(): PatternNode {
    const options = [sequence()];
    while (take('|')) options.push(sequence());
    return options.length === 1 ? (options[0] as PatternNode) : { kind: 'choice', options };
  }

  function sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (at < text.length && !/[|)]/.test(text.charAt(at))) parts.push(repeated(item()));
    return { kind: 'sequence', parts };
  }

  function repeated(part: PatternNode): PatternNode {
    REPETITION.lastIndex = at;
    const found = REPETITION.exec(text);
    if (found === null) return part;
    at = REPETITION.lastIndex;
    const [, sign, min = '0', comma, max = ''] = found;
    if (sign !== undefined)
      return { kind: 'repeat', part, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
    const least = Number(min);
    const most = comma === undefined ? least : max === '' ? Number.POSITIVE_INFINITY : Number(max);
    return { kind: 'repeat', part, min: least, max: most };
  }

  function item(): PatternNode {
    const start = at;
    const character = next();
    if (character === '(') return group(start);
    if (character === '[') return characters(bracketSet());
    if (character === '.') return characters(complementOf(LINE_END));
    if (character === '^') return { kind: 'assertion', assertion: 'start' };
    if (character === '$') return { kind: 'assertion', assertion: 'end' };
    if (character === '\\') return escaped(start);
    if (character === '*' || character === '+' || character === '?') throw new Error('nothing to repeat');
    return characters(single(codePointOf(character)));
  }

  function group(start: number): PatternNode {
    const { re2, end } = readGroup(text, start);
    at = end;
    const outer = isCaseless;
    if (re2 === '(?i:') isCaseless = true;
    if (re2 === '(?-i:') isCaseless = false;
    const inside = choice();
    isCaseless = outer;
    if (!take(')')) throw new Error('unbalanced');
    return inside;
  }

  function escaped(start: number): PatternNode {
    const atom = readEscape(text, start, false);
    at = atom.end;
    if (atom.kind === 'assertion')
      return { kind: 'assertion', assertion: atom.re2 === '\\b' ? 'boundary' : 'no-boundary' };
    return characters(setOf(atom, start));
  }

  function bracketSet(): CharacterSet {
    const isNegated = take('^');
    const sets: CharacterSet[] = [];
    while (!take(']')) sets.push(bracketItem());
    const union = isCaseless ? caseless(unionOf(sets)) : unionOf(sets);
    return isNegated ? complementOf(union) : union;
  }

  function bracketItem(): CharacterSet {
    const start = at;
    const first = bracketAtom();
    const isRange = text.charAt(at) === '-' && text.charAt(at + 1) !== ']';
    if (!isRange) return setOf(first, start);
    next();
    return rangeSet(first.codePoint, bracketAtom().codePoint);
  }

  function bracketAtom(): TranslatedAtom {
    const atom = readClassAtom(text, at);
    at = atom.end;
    return atom;
  }

  /** Returns the characters of an atom that starts at an index of the pattern. */
  function setOf({ kind, codePoint, end }: TranslatedAtom, start: number): CharacterSet {
    return kind === 'set' ? escapedSet(text.slice(start, end), isCaseless) : single(codePoint);
  }

  function characters(set: CharacterSet): PatternNode {
    return { kind: 'characters', set: isCaseless ? caseless(set) : set };
  }

  function next(): string {
    const codePoint = text.codePointAt(at);
    if (codePoint === undefined) throw new Error('the pattern ends too early');
    const character = String.fromCodePoint(codePoint);
    at += character.length;
    return character;
  }

  function take(character: string): boolean {
    if (text.charAt(at) !== character) return false;
    at += 1;
    return true;
  }
}

function single(codePoint: number): CharacterSet {
  return rangeSet(codePoint, codePoint);
}

const NAMED_SETS: Readonly<Record<string, CharacterSet>> = { d: DIGITS, s: SPACE, w: WORD };

/** Returns the characters of an escape such as `\d` or `\p{L}`. */
function escapedSet(classEscape: string, isCaseless: boolean): CharacterSet {
  const letter = classEscape.charAt(1);
  const named = NAMED_SETS[letter.toLowerCase()];
  if (named === undefined) return propertySet(classEscape);
  const set = isCaseless ? caseless(named) : named;
  return letter === letter.toUpperCase() ? complementOf(set) : set;
}
