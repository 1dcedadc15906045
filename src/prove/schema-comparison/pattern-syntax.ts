import { readClassAtom, readGroup } from '../../engine/schema/pattern/pattern-class.ts';
import { readEscape, type TranslatedAtom } from '../../engine/schema/pattern/pattern-escape.ts';
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

/**
 * Parses a pattern that the gateway accepts; see `toRe2`, which reads its escapes, classes and groups with the same functions.
 * Returns `undefined` for other patterns.
 */
export function parsePatternSyntax(pattern: string): PatternNode | undefined {
  try {
    return new PatternParser(pattern).parse();
  } catch {
    return undefined;
  }
}

/** The repetitions after an item: `*`, `+`, `?`, `{2}`, `{2,}`, `{2,4}`, each also with `?`. */
const REPETITION = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;
const IGNORE_CASE = '(?i)';

class PatternParser {
  readonly #text: string;
  #at = 0;
  #isCaseless = false;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): PatternNode {
    this.#isCaseless = this.#text.startsWith(IGNORE_CASE);
    if (this.#isCaseless) this.#at = IGNORE_CASE.length;
    const node = this.#choice();
    if (this.#at < this.#text.length) throw new Error('unbalanced');
    return node;
  }

  #choice(): PatternNode {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    return options.length === 1 ? (options[0] as PatternNode) : { kind: 'choice', options };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.#text.length && !/[|)]/.test(this.#text.charAt(this.#at)))
      parts.push(this.#repeated(this.#item()));
    return { kind: 'sequence', parts };
  }

  #repeated(part: PatternNode): PatternNode {
    const found = this.#match(REPETITION);
    if (found === undefined) return part;
    const [, sign, min = '0', comma, max = ''] = found;
    if (sign !== undefined)
      return { kind: 'repeat', part, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
    const least = Number(min);
    const most = comma === undefined ? least : max === '' ? Number.POSITIVE_INFINITY : Number(max);
    return { kind: 'repeat', part, min: least, max: most };
  }

  #item(): PatternNode {
    const start = this.#at;
    const character = this.#next();
    if (character === '(') return this.#group(start);
    if (character === '[') return this.#characters(this.#bracketSet());
    if (character === '.') return this.#characters(complementOf(LINE_END));
    if (character === '^') return { kind: 'assertion', assertion: 'start' };
    if (character === '$') return { kind: 'assertion', assertion: 'end' };
    if (character === '\\') return this.#escape(start);
    if (character === '*' || character === '+' || character === '?') throw new Error('nothing to repeat');
    return this.#characters(single(codePointOf(character)));
  }

  #group(start: number): PatternNode {
    const { re2, end } = readGroup(this.#text, start);
    this.#at = end;
    const isCaseless = this.#isCaseless;
    if (re2 === '(?i:') this.#isCaseless = true;
    if (re2 === '(?-i:') this.#isCaseless = false;
    const inside = this.#choice();
    this.#isCaseless = isCaseless;
    if (!this.#take(')')) throw new Error('unbalanced');
    return inside;
  }

  #escape(start: number): PatternNode {
    const atom = readEscape(this.#text, start, false);
    this.#at = atom.end;
    if (atom.kind === 'assertion')
      return { kind: 'assertion', assertion: atom.re2 === '\\b' ? 'boundary' : 'no-boundary' };
    return this.#characters(this.#setOf(atom, start));
  }

  #bracketSet(): CharacterSet {
    const isNegated = this.#take('^');
    const sets: CharacterSet[] = [];
    while (!this.#take(']')) sets.push(this.#bracketItem());
    const union = this.#isCaseless ? caseless(unionOf(sets)) : unionOf(sets);
    return isNegated ? complementOf(union) : union;
  }

  #bracketItem(): CharacterSet {
    const start = this.#at;
    const first = this.#bracketAtom();
    const isRange = this.#text.charAt(this.#at) === '-' && this.#text.charAt(this.#at + 1) !== ']';
    if (!isRange) return this.#setOf(first, start);
    this.#next();
    return rangeSet(first.codePoint, this.#bracketAtom().codePoint);
  }

  #bracketAtom(): TranslatedAtom {
    const atom = readClassAtom(this.#text, this.#at);
    this.#at = atom.end;
    return atom;
  }

  /** Returns the characters of an atom that starts at an index of the pattern. */
  #setOf({ kind, codePoint, end }: TranslatedAtom, start: number): CharacterSet {
    return kind === 'set' ? escapedSet(this.#text.slice(start, end), this.#isCaseless) : single(codePoint);
  }

  #characters(set: CharacterSet): PatternNode {
    return { kind: 'characters', set: this.#isCaseless ? caseless(set) : set };
  }

  #next(): string {
    const codePoint = this.#text.codePointAt(this.#at);
    if (codePoint === undefined) throw new Error('the pattern ends too early');
    const character = String.fromCodePoint(codePoint);
    this.#at += character.length;
    return character;
  }

  #take(character: string): boolean {
    if (this.#text.charAt(this.#at) !== character) return false;
    this.#at += 1;
    return true;
  }

  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#at = expression.lastIndex;
    return found;
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
