import { fileExtension } from './plain-names.ts';

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

const DIGITS = new Alphabet([...'0123456789']);
/** For the first digit of a number, which would otherwise become shorter. */
const NONZERO_DIGITS = new Alphabet([...'123456789']);
const LOWER_CASE = new Alphabet([...'abcdefghijklmnopqrstuvwxyz']);
const UPPER_CASE = new Alphabet([...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']);
const HEX_LOWER_CASE = new Alphabet([...'0123456789abcdef']);
const HEX_UPPER_CASE = new Alphabet([...'0123456789ABCDEF']);
const HEX_LETTERS_LOWER_CASE = new Alphabet([...'abcdef']);
const HEX_LETTERS_UPPER_CASE = new Alphabet([...'ABCDEF']);
/** The digit of a UUID that holds its variant (RFC 9562 section 4.1). */
const VARIANT_LOWER_CASE = new Alphabet([...'89ab']);
const VARIANT_UPPER_CASE = new Alphabet([...'89AB']);

/** The first and the last letter of each range. No normalization of Unicode changes these letters. */
const LETTER_RANGES = { 2: ['à', 'ö'], upper: ['À', 'Ö'], 3: ['一', '仿'], 4: ['\u{20000}', '\u{200FF}'] } as const;

const escapedLetters = new Map<string, Alphabet>();

/** Returns the alphabet of percent-encoded letters with as many bytes as this letter, and of its case. */
function escapedAlphabet(letter: string, isLowerCaseHex: boolean): Alphabet | undefined {
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

/** A value of a path as a sequence of characters and percent-encoded characters, with the alphabet of each. */
export interface ValueShape {
  readonly texts: ArrayLike<string>;
  /** `undefined` for a text that stays the same: a separator, an extension, an escape of no letter. */
  readonly alphabets: readonly (Alphabet | undefined)[];
}

const UUID = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;
const UUID_LENGTH = 36;
/** The digits of a UUID that hold its version and its variant (RFC 9562 section 4). */
const VERSION_INDEX = 14;
const VARIANT_INDEX = 19;
/** The alphabets of texts of hexadecimal digits. Shorter ones may be words or numbers. */
const HEX_TEXTS = [
  [/^(?=.*\d)(?=.*[a-f])[0-9a-f]{4,}$/, HEX_LOWER_CASE],
  [/^(?=.*\d)(?=.*[A-F])[0-9A-F]{4,}$/, HEX_UPPER_CASE],
  [/^[a-f]{4,}$/, HEX_LETTERS_LOWER_CASE],
  [/^[A-F]{4,}$/, HEX_LETTERS_UPPER_CASE],
] as const;
/** A prefix that names a kind of identifier, such as `doc_`, `sk_live_` or the letters of `INV000123`. */
const PREFIX = /^(?:(?:[a-z]{2,5}|[A-Z]{2,5})[_-]){1,2}(?=[0-9A-Za-z_-]{6,}$)(?=.*\d)|^[A-Z]{2,5}(?=\d{6,}$)/;
const PART = /(?:%[0-9A-Fa-f]{2})+|[0-9A-Za-z]+|[^0-9A-Za-z%]+/g;

/** Analyses a segment of a path, still encoded, that the path guard accepts. */
export function shapeOf(value: string): ValueShape {
  const uuid = value.length === UUID_LENGTH ? uuidAlphabets(value) : undefined;
  if (uuid !== undefined) return { texts: value, alphabets: uuid };
  const extension = fileExtension(value);
  const stem = extension === '' ? value : value.slice(0, -extension.length);
  const shape = new ShapeWriter();
  const prefix = PREFIX.exec(stem)?.[0] ?? '';
  shape.addFixed(prefix);
  for (const part of stem.slice(prefix.length).match(PART) ?? []) shape.addPart(part);
  shape.addFixed(extension);
  return shape;
}

/** Returns a text that is equal for values of the same shape. */
export function shapeKey({ texts, alphabets }: ValueShape): string {
  return alphabets.map((alphabet, index) => alphabet?.key ?? texts[index]).join('');
}

class ShapeWriter implements ValueShape {
  readonly texts: string[] = [];
  readonly alphabets: (Alphabet | undefined)[] = [];

  addFixed(text: string): void {
    if (text !== '') this.#add(text, undefined);
  }

  /** Adds escapes, or letters and digits, or separators. */
  addPart(part: string): void {
    if (part.startsWith('%')) this.#addEscapes(part);
    else if (/^\d+$/.test(part)) this.#addNumber(part);
    else this.#addEach(part, HEX_TEXTS.find(([text]) => text.test(part))?.[1]);
  }

  #addNumber(digits: string): void {
    this.#add(digits.charAt(0), digits.startsWith('0') ? undefined : NONZERO_DIGITS);
    this.#addEach(digits.slice(1), DIGITS);
  }

  #addEscapes(part: string): void {
    let start = 0;
    for (const character of decodeURIComponent(part)) {
      const end = start + '%XX'.length * Buffer.byteLength(character);
      const escapes = part.slice(start, end);
      const isText = /[\p{L}\p{N}]/u.test(character);
      this.#add(escapes, isText ? escapedAlphabet(character, /[a-f]/.test(escapes)) : undefined);
      start = end;
    }
  }

  /** @param alphabet by default that of the class of each character */
  #addEach(text: string, alphabet?: Alphabet): void {
    for (let index = 0; index < text.length; index += 1) {
      const character = text.charAt(index);
      this.#add(character, alphabet ?? classOf(character));
    }
  }

  #add(text: string, alphabet: Alphabet | undefined): void {
    this.texts.push(text);
    this.alphabets.push(alphabet);
  }
}

function classOf(character: string): Alphabet | undefined {
  if (character >= '0' && character <= '9') return DIGITS;
  if (character >= 'a' && character <= 'z') return LOWER_CASE;
  return character >= 'A' && character <= 'Z' ? UPPER_CASE : undefined;
}

const UUID_LOWER_CASE = createUuidAlphabets(HEX_LOWER_CASE, VARIANT_LOWER_CASE);
const UUID_UPPER_CASE = createUuidAlphabets(HEX_UPPER_CASE, VARIANT_UPPER_CASE);

/** Returns `undefined` if the value is no UUID. */
function uuidAlphabets(value: string): ValueShape['alphabets'] | undefined {
  if (!UUID.test(value)) return undefined;
  const isLower = value === value.toLowerCase();
  const variant = isLower ? VARIANT_LOWER_CASE : VARIANT_UPPER_CASE;
  const isOfOneCase = isLower || value === value.toUpperCase();
  if (isOfOneCase && variant.indexOf(value.charAt(VARIANT_INDEX)) !== -1)
    return isLower ? UUID_LOWER_CASE : UUID_UPPER_CASE;
  return Array.from(value, (character, index) =>
    index === VERSION_INDEX || index === VARIANT_INDEX ? undefined : hexClassOf(character),
  );
}

function createUuidAlphabets(hex: Alphabet, variant: Alphabet): ValueShape['alphabets'] {
  return Array.from({ length: UUID_LENGTH }, (_, index) => {
    if (index === VARIANT_INDEX) return variant;
    const isFixed = index === VERSION_INDEX || [8, 13, 18, 23].includes(index);
    return isFixed ? undefined : hex;
  });
}

function hexClassOf(character: string): Alphabet | undefined {
  if (character === '-') return undefined;
  if (character <= '9') return DIGITS;
  return character <= 'F' ? HEX_LETTERS_UPPER_CASE : HEX_LETTERS_LOWER_CASE;
}
