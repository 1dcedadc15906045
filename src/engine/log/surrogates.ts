import { createKeyedBytes, type KeyedBytes, permute } from './keyed-permutation.ts';
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

  /**
   * @param value a segment of a path, still encoded
   * @param accepts returns false for a surrogate that does not fit; the next one is then tried
   * @returns the first surrogate if too many do not fit; the value itself if it has neither letters nor digits to replace
   */
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
