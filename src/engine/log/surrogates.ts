import { hash } from 'node:crypto';
import { type Alphabet, shapeKey, shapeOf, type ValueShape } from './value-shape.ts';

/** The random surrogates of fewer possible values than two to this power could collide. */
const RANDOM_BITS = 62;
/** Numbers often have limits. */
const SHORT_ATTEMPTS = 20;
/** The characters of a long value satisfy a schema because of their classes, which all surrogates share, or not at all. */
const LONG_ATTEMPTS = 3;

/**
 * Replaces values of paths by surrogates of the same shape: a UUID by a UUID of the same version, digits by as many digits, a letter by a
 * letter of the same case. The same value has the same surrogate wherever the secret is the same. Nobody can find a value without the
 * secret, except by trying all values of a short shape.
 */
export class Surrogates {
  readonly #bytes: KeyedBytes;

  constructor(secret: string) {
    this.#bytes = createKeyedBytes(secret);
  }

  /** Returns the surrogate of an encoded segment that `accepts` allows, or the first of all. A value without letters and digits stays. */
  of(value: string, accepts?: (surrogate: string) => boolean): string {
    const shape = shapeOf(value);
    const isShort = hasFewValues(shape);
    const surrogates = isShort ? this.#permutations(shape) : this.#randomTexts(shape, value);
    let first: string | undefined;
    for (const surrogate of surrogates.take(isShort ? SHORT_ATTEMPTS : LONG_ATTEMPTS)) {
      if (accepts === undefined || accepts(surrogate)) return surrogate;
      first ??= surrogate;
    }
    return first ?? value;
  }

  /** Steps along the cycle of the permutation, which never meets two values in one. Leaves out texts of other shapes. */
  *#permutations(shape: ValueShape): Generator<string> {
    const { texts, alphabets } = shape;
    const key = shapeKey(shape);
    const replaced = alphabets.flatMap((alphabet, index) => (alphabet === undefined ? [] : [{ alphabet, index }]));
    const radixes = replaced.map(({ alphabet }) => alphabet.texts.length);
    let digits: readonly number[] = replaced.map(({ alphabet, index }) => alphabet.indexOf(texts[index] ?? ''));
    while (digits.length > 0) {
      digits = permute(digits, radixes, key, this.#bytes);
      const result = Array.from(texts);
      for (const [at, { alphabet, index }] of replaced.entries()) result[index] = alphabet.texts[digits[at] ?? 0] ?? '';
      const surrogate = result.join('');
      if (shapeKey(shapeOf(surrogate)) === key) yield surrogate;
    }
  }

  *#randomTexts({ texts, alphabets }: ValueShape, value: string): Generator<string> {
    for (let attempt = 0; ; attempt += 1) {
      const bytes = this.#bytes(`${attempt} ${value}`, texts.length);
      let surrogate = '';
      for (let index = 0; index < texts.length; index += 1) {
        const options = alphabets[index]?.texts;
        surrogate += options === undefined ? texts[index] : options[bytes.charCodeAt(index) % options.length];
      }
      yield surrogate;
    }
  }
}

/** True if the shape has few values, and the permutation can number them. */
function hasFewValues({ texts, alphabets }: ValueShape): boolean {
  let bits = 0;
  for (const [index, alphabet] of alphabets.entries()) {
    if (alphabet === undefined) continue;
    bits += Math.log2(alphabet.texts.length);
    if (bits > RANDOM_BITS || !hasText(alphabet, texts[index])) return false;
  }
  return true;
}

function hasText(alphabet: Alphabet, text = ''): boolean {
  return alphabet.indexOf(text) !== -1;
}

/** Returns at least `length` pseudorandom bytes, one in each character, that only the holder of the key can compute. */
type KeyedBytes = (text: string, length: number) => string;

/** Beyond this many bytes the sequence repeats, so that a long path costs the serving thread no more than a few hashes. */
const MAX_BYTES = 256;

/**
 * Creates the pseudorandom function of a secret: SHA-256 of the text between two copies of a key, which fills one block (K. Yasuda,
 * "Sandwich" Is Indeed Secure, 2007). The one-shot `hash` of Node takes a fifth of the time of `createHmac`.
 */
function createKeyedBytes(secret: string): KeyedBytes {
  const key = hash('sha256', secret);
  return (text, length) => {
    let bytes = hash('sha256', key + text + key, 'latin1');
    for (let block = 1; bytes.length < Math.min(length, MAX_BYTES); block += 1)
      bytes += hash('sha256', `${key}${block} ${text}${key}`, 'latin1');
    return length <= bytes.length ? bytes : bytes.repeat(Math.ceil(length / bytes.length));
  };
}

/** Numbers below their radix, one in each place. */
type Digits = readonly number[];

/** Four rounds of a Feistel network with random functions are a pseudorandom permutation (Luby and Rackoff, 1988). */
const ROUNDS = 4;
/** The bytes of a number that a double holds exactly. */
const NUMBER_BYTES = 6;

/** A sequence of digits as two numbers below their limits. */
interface Halves {
  readonly values: [number, number];
  readonly limits: readonly [number, number];
}

/**
 * Permutes the sequences of digits of some radixes, whose halves have products below 2^48. Two sequences never have the same image, and
 * no sequence is its own: the permutation is one cycle, a step forward in an encrypted order. Another `tweak` gives another permutation.
 */
function permute(digits: Digits, radixes: Digits, tweak: string, bytes: KeyedBytes): Digits {
  const [first = 0] = digits;
  if (digits.length === 1) return [rotate(first, radixes[0] ?? 1, bytes(tweak, 1).charCodeAt(0))];
  const middle = digits.length >> 1;
  const halves = combine(digits, radixes, middle);
  for (let round = ROUNDS - 1; round >= 0; round -= 1) applyRound(halves, round, -1, tweak, bytes);
  increment(halves);
  for (let round = 0; round < ROUNDS; round += 1) applyRound(halves, round, 1, tweak, bytes);
  return [...split(halves.values[0], radixes.slice(0, middle)), ...split(halves.values[1], radixes.slice(middle))];
}

/** Adds a function of one half to the other half, or subtracts it. */
function applyRound({ values, limits }: Halves, round: number, sign: 1 | -1, tweak: string, bytes: KeyedBytes): void {
  const changed = round % 2 === 0 ? 0 : 1;
  const limit = limits[changed];
  const random = numberOf(bytes(`${round} ${values[1 - changed]} ${tweak}`, NUMBER_BYTES)) % limit;
  values[changed] = (values[changed] + limit + sign * random) % limit;
}

function numberOf(bytes: string): number {
  let number = 0;
  for (let index = 0; index < NUMBER_BYTES; index += 1) number = number * 256 + bytes.charCodeAt(index);
  return number;
}

function increment({ values, limits }: Halves): void {
  values[0] = (values[0] + 1) % limits[0];
  if (values[0] === 0) values[1] = (values[1] + 1) % limits[1];
}

function combine(digits: Digits, radixes: Digits, middle: number): Halves {
  const values: [number, number] = [0, 0];
  const limits: [number, number] = [1, 1];
  for (let index = digits.length - 1; index >= 0; index -= 1) {
    const half = index < middle ? 0 : 1;
    const radix = radixes[index] ?? 1;
    values[half] = values[half] * radix + (digits[index] ?? 0);
    limits[half] *= radix;
  }
  return { values, limits };
}

function split(value: number, radixes: Digits): number[] {
  let rest = value;
  return radixes.map((radix) => {
    const digit = rest % radix;
    rest = (rest - digit) / radix;
    return digit;
  });
}

function rotate(digit: number, radix: number, byte: number): number {
  return (digit + 1 + (byte % (radix - 1))) % radix;
}
