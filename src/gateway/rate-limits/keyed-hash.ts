import { randomBytes } from 'node:crypto';

/** Rounds of mixing after the text, before each half of the result. */
const FINAL_ROUNDS = 3;

/**
 * Hashes texts to 64 bits by HalfSipHash-1-3 (Aumasson and Bernstein). The key is random: clients cannot choose texts with equal
 * hashes. It is in shared memory, because all threads must compute the same hashes. The first one writes it.
 */
export class KeyedHash {
  /** The halves of the hash of the last text. */
  high = 0;
  low = 0;
  readonly #key0: number;
  readonly #key1: number;

  /** @param cells one cell, which is 0 before the first thread has written the key */
  constructor(cells: BigInt64Array = new BigInt64Array(1)) {
    Atomics.compareExchange(cells, 0, 0n, randomBytes(8).readBigInt64LE() || 1n);
    const key = Atomics.load(cells, 0);
    this.#key0 = Number(BigInt.asIntN(32, key));
    this.#key1 = Number(BigInt.asIntN(32, key >> 32n));
  }

  hash(text: string): void {
    // A word has two UTF-16 code units. The last word has the rest and the length.
    const words = text.length >> 1;
    const steps = words + 1 + 2 * FINAL_ROUNDS;
    let v0 = this.#key0;
    let v1 = this.#key1 ^ 0xee;
    let v2 = this.#key0 ^ 0x6c796765;
    let v3 = this.#key1 ^ 0x74656462;
    for (let step = 0; step < steps; step += 1) {
      const word = step <= words ? wordAt(text, step, words) : 0;
      if (step === words + 1) v2 ^= 0xee;
      if (step === words + 1 + FINAL_ROUNDS) {
        this.high = (v1 ^ v3) >>> 0;
        v1 ^= 0xdd;
      }
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
    }
    this.low = (v1 ^ v3) >>> 0;
  }
}

function wordAt(text: string, index: number, words: number): number {
  const start = index * 2;
  if (index < words) return text.charCodeAt(start) | (text.charCodeAt(start + 1) << 16);
  const rest = start < text.length ? text.charCodeAt(start) : 0;
  return rest | (text.length << 16);
}
