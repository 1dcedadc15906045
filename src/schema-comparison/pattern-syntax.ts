import {
  type CharacterSet,
  caseless,
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

/** Parses a pattern of a JSON Schema. Returns `undefined` if it contains syntax that the parser does not support. */
export function parsePatternSyntax(pattern: string): PatternNode | undefined {
  try {
    return new PatternParser(pattern).parse();
  } catch {
    return undefined;
  }
}

/** The repetitions after an item: `*`, `+`, `?`, `{2}`, `{2,}`, `{2,4}`, each also with `?`. */
const REPETITION = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;
const GROUP = /\((?:\?(?:P?<[^>]+>|([a-zA-Z]*):|([a-zA-Z]+)\)))?/y;
const NAMED_SET = /\[:(\^?)([a-z]+):\]/y;
const HEX = /(?:x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})|u(?![dD][89A-Fa-f])([0-9A-Fa-f]{4}))/y;
const PROPERTY = /[pP](?:([A-Z])|\{(\^?)(?:Is)?(\w+)\})/y;

const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };
const LETTERS = unionOf([rangeSet(0x41, 0x5a), rangeSet(0x61, 0x7a)]);
const POSIX: Readonly<Record<string, CharacterSet>> = {
  alnum: unionOf([LETTERS, DIGITS]),
  alpha: LETTERS,
  digit: DIGITS,
  lower: rangeSet(0x61, 0x7a),
  upper: rangeSet(0x41, 0x5a),
  word: WORD,
  xdigit: unionOf([DIGITS, rangeSet(0x41, 0x46), rangeSet(0x61, 0x66)]),
};
const SCRIPTS = new Set(['Arabic', 'Cyrillic', 'Greek', 'Han', 'Hebrew', 'Hiragana', 'Katakana', 'Latin', 'Thai']);

class PatternParser {
  readonly #text: string;
  #at = 0;
  #isCaseless = false;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): PatternNode {
    const node = this.#choice();
    if (this.#at < this.#text.length) throw new Error('unbalanced');
    return node;
  }

  #choice(): PatternNode {
    const isCaseless = this.#isCaseless;
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    this.#isCaseless = isCaseless;
    return options.length === 1 ? (options[0] as PatternNode) : { kind: 'choice', options };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.#text.length && !/[|)]/.test(this.#text.charAt(this.#at))) {
      const item = this.#item();
      if (item !== undefined) parts.push(this.#repeated(item));
    }
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

  /** Returns `undefined` for flags, which match nothing themselves. */
  #item(): PatternNode | undefined {
    const character = this.#next();
    if (character === '(') return this.#group();
    if (character === '[') return this.#characters(this.#bracketSet());
    if (character === '.') return this.#characters(complementOf(LINE_END));
    if (character === '^') return { kind: 'assertion', assertion: 'start' };
    if (character === '$') return { kind: 'assertion', assertion: 'end' };
    if (character === '\\') return this.#escape();
    if (character === '*' || character === '+' || character === '?') throw new Error('nothing to repeat');
    return this.#characters(single(character));
  }

  #group(): PatternNode | undefined {
    this.#at -= 1;
    const [, groupFlags, flags] = this.#match(GROUP) ?? [];
    for (const flag of groupFlags ?? flags ?? '') if (flag !== 'i') throw new Error('unsupported flag');
    if (flags !== undefined) {
      this.#isCaseless = true;
      return undefined;
    }
    const isCaseless = this.#isCaseless;
    if (groupFlags) this.#isCaseless = true;
    const inside = this.#choice();
    this.#isCaseless = isCaseless;
    if (!this.#take(')')) throw new Error('unbalanced');
    return inside;
  }

  #escape(): PatternNode {
    if (this.#take('b')) return { kind: 'assertion', assertion: 'boundary' };
    if (this.#take('B')) return { kind: 'assertion', assertion: 'no-boundary' };
    if (this.#take('A')) return { kind: 'assertion', assertion: 'start' };
    if (this.#take('z')) return { kind: 'assertion', assertion: 'end' };
    return this.#characters(this.#escapedSet());
  }

  /** Reads the rest of an escape that stands for characters. */
  #escapedSet(): CharacterSet {
    const hex = this.#match(HEX);
    if (hex !== undefined) return single(String.fromCodePoint(Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? '', 16)));
    const property = this.#match(PROPERTY);
    if (property !== undefined) return propertyOf(property);
    const letter = this.#next();
    if (letter === 'd') return DIGITS;
    if (letter === 'D') return complementOf(DIGITS);
    if (letter === 'w') return WORD;
    if (letter === 'W') return complementOf(WORD);
    if (letter === 's') return SPACE;
    if (letter === 'S') return complementOf(SPACE);
    const control = CONTROLS[letter];
    if (control !== undefined) return rangeSet(control, control);
    if (/[0-9A-Za-z]/.test(letter)) throw new Error('unsupported escape');
    return single(letter);
  }

  #bracketSet(): CharacterSet {
    const isNegated = this.#take('^');
    const sets: CharacterSet[] = [];
    for (let isFirst = true; isFirst || this.#text.charAt(this.#at) !== ']'; isFirst = false)
      sets.push(this.#bracketItem());
    this.#next();
    const union = this.#isCaseless ? caseless(unionOf(sets)) : unionOf(sets);
    return isNegated ? complementOf(union) : union;
  }

  #bracketItem(): CharacterSet {
    const named = this.#match(NAMED_SET);
    if (named !== undefined) {
      const set = POSIX[named[2] ?? ''];
      if (set === undefined) throw new Error('unsupported set');
      return named[1] === '^' ? complementOf(set) : set;
    }
    const first = this.#bracketCharacter();
    const isRange = this.#text.charAt(this.#at) === '-' && this.#text.charAt(this.#at + 1) !== ']';
    if (!isRange) return first;
    this.#next();
    const last = this.#bracketCharacter();
    return rangeSet(first.bounds[0] ?? 0, last.bounds[0] ?? 0);
  }

  #bracketCharacter(): CharacterSet {
    const character = this.#next();
    return character === '\\' ? this.#escapedSet() : single(character);
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

function single(character: string): CharacterSet {
  const codePoint = character.codePointAt(0) ?? 0;
  return rangeSet(codePoint, codePoint);
}

function propertyOf([text, letter, negation, name = letter ?? '']: RegExpExecArray): CharacterSet {
  const set = propertySet(SCRIPTS.has(name) ? `Script=${name}` : name);
  return text.startsWith('P') !== (negation === '^') ? complementOf(set) : set;
}
