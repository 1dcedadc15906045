/** The texts that may stand in one place of a surrogate, so that it has the shape of the value. */
export class Alphabet {
  /** One character that distinguishes it from other alphabets and from every character of a path. */
  readonly key: string;
  readonly texts: readonly string[];
  readonly #indexes: ReadonlyMap<string, number>;

  constructor(texts: readonly string[]) {
    alphabetCount += 1;
    this.key = String.fromCharCode(alphabetCount);
    this.texts = texts;
    this.#indexes = new Map(texts.map((text, index) => [text, index]));
  }

  /** Returns -1 for another text. */
  indexOf(text: string): number {
    return this.#indexes.get(text) ?? -1;
  }
}

/** The keys are control characters: 1, 2 and so on. No path contains them. */
let alphabetCount = 0;

export const DIGITS = new Alphabet([...'0123456789']);
/** For the first digit of a number, which would otherwise become shorter. */
export const NONZERO_DIGITS = new Alphabet([...'123456789']);
export const LOWER_CASE = new Alphabet([...'abcdefghijklmnopqrstuvwxyz']);
export const UPPER_CASE = new Alphabet([...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']);
export const HEX_LOWER_CASE = new Alphabet([...'0123456789abcdef']);
export const HEX_UPPER_CASE = new Alphabet([...'0123456789ABCDEF']);
export const HEX_LETTERS_LOWER_CASE = new Alphabet([...'abcdef']);
export const HEX_LETTERS_UPPER_CASE = new Alphabet([...'ABCDEF']);
/** The digit of a UUID that holds its variant (RFC 9562 section 4.1). */
export const VARIANT_LOWER_CASE = new Alphabet([...'89ab']);
export const VARIANT_UPPER_CASE = new Alphabet([...'89AB']);

/** The first and the last letter of each range. No normalization of Unicode changes these letters. */
const LETTER_RANGES = { 2: ['à', 'ö'], upper: ['À', 'Ö'], 3: ['一', '仿'], 4: ['\u{20000}', '\u{200FF}'] } as const;

const escapedLetters = new Map<string, Alphabet>();

/** Returns the alphabet of percent-encoded letters with as many bytes as this letter, and of its case. */
export function escapedAlphabet(letter: string, isLowerCaseHex: boolean): Alphabet | undefined {
  const bytes = Buffer.byteLength(letter);
  const range = bytes === 2 && letter !== letter.toLowerCase() ? 'upper' : bytes;
  const ends = LETTER_RANGES[range as keyof typeof LETTER_RANGES];
  if (ends === undefined) return undefined;
  const key = `${range} ${isLowerCaseHex}`;
  const known = escapedLetters.get(key);
  if (known !== undefined) return known;
  const alphabet = new Alphabet(lettersBetween(ends[0], ends[1]).map((each) => escapeLetter(each, isLowerCaseHex)));
  escapedLetters.set(key, alphabet);
  return alphabet;
}

function escapeLetter(letter: string, isLowerCaseHex: boolean): string {
  const escaped = encodeURIComponent(letter);
  return isLowerCaseHex ? escaped.toLowerCase() : escaped;
}

function lettersBetween(first: string, last: string): string[] {
  const start = first.codePointAt(0) ?? 0;
  const length = (last.codePointAt(0) ?? 0) - start + 1;
  return Array.from({ length }, (_, index) => String.fromCodePoint(start + index));
}
