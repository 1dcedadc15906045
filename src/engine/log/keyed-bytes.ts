import { hash } from 'node:crypto';

/** Returns at least `length` pseudorandom bytes, one in each character, that only the holder of the key can compute. */
export type KeyedBytes = (text: string, length: number) => string;

/** Beyond this many bytes the sequence repeats, so that a long path costs the serving thread no more than a few hashes. */
const MAX_BYTES = 256;

/**
 * Creates the pseudorandom function of a secret: SHA-256 of the text between two copies of a key, which fills one block (K. Yasuda,
 * "Sandwich" Is Indeed Secure, 2007). The one-shot `hash` of Node takes a fifth of the time of `createHmac`.
 */
export function createKeyedBytes(secret: string): KeyedBytes {
  const key = hash('sha256', secret);
  return (text, length) => {
    let bytes = hash('sha256', key + text + key, 'latin1');
    for (let block = 1; bytes.length < Math.min(length, MAX_BYTES); block += 1)
      bytes += hash('sha256', `${key}${block} ${text}${key}`, 'latin1');
    return length <= bytes.length ? bytes : bytes.repeat(Math.ceil(length / bytes.length));
  };
}
