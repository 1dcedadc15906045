import { randomInt } from 'node:crypto';

const WORD = 2 ** 32;
/** Rounds of mixing after the text, before each half of the result. */
const FINAL_ROUNDS = 3;

/** The cells of the key of a `KeyedHash`. */
export const HASH_KEY_LENGTH = 2;

/**
 * Hashes texts to 64 bits by HalfSipHash-1-3 (Aumasson and Bernstein). The key is random: clients cannot choose texts with equal
 * hashes. Threads with the same key cells have the same key.
 */
export class KeyedHash {
  /** The halves of the hash of the last text. */
  high = 0;
  low = 0;
  readonly #key0: number;
  readonly #key1: number;

  /** @param key zeros at first; the first thread that uses them sets the key */
  constructor(key: Int32Array = new Int32Array(HASH_KEY_LENGTH)) {
    this.#key0 = keyCell(key, 0);
    this.#key1 = keyCell(key, 1);
  }

  hash(text: string): void {
    const { length } = text;
    // A word has two UTF-16 code units. The last word has the rest and the length. The final rounds have no word.
    const last = length & ~1;
    const middle = last + 2 * FINAL_ROUNDS;
    let v0 = this.#key0;
    let v1 = this.#key1 ^ 0xee;
    let v2 = this.#key0 ^ 0x6c796765;
    let v3 = this.#key1 ^ 0x74656462;
    for (let at = 0; at <= middle + 2 * FINAL_ROUNDS; at += 2) {
      let word = 0;
      if (at < last) word = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
      else if (at === last) word = (at < length ? text.charCodeAt(at) : 0) | (length << 16);
      else if (at === last + 2) v2 ^= 0xee;
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
      if (at !== middle) continue;
      this.high = (v1 ^ v3) >>> 0;
      v1 ^= 0xdd;
    }
    this.low = (v1 ^ v3) >>> 0;
  }
}

function keyCell(key: Int32Array, index: number): number {
  const random = randomInt(1, WORD) | 0;
  return Atomics.compareExchange(key, index, 0, random) || random;
}
