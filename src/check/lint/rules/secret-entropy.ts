import type { Path } from '../../../engine/problem/finding.ts';
import { findingAt, type Rule } from '../rule.ts';
import { stringValues } from '../string-values.ts';

export const secretEntropy: Rule = {
  id: 'secret-entropy',
  category: 'secrets',
  severity: 'warning',
  preset: 'recommended',
  rationale: 'Random-looking text is usually a key or a password, and anyone who can read the file has it.',
  *find({ document }) {
    const isLong = (text: string, path: Path) => text.length >= 24 && !isExempt(path);
    for (const { text, path } of stringValues(document.value, isLong, (path) => !isExempt(path)))
      if (text.split(/[^A-Za-z0-9+/=_-]+/).some(isRandom))
        yield findingAt(path, 'this looks like a secret; write ${NAME}, and set the variable NAME', { isSecret: true });
  },
};

/** True for schemas, paths, ids and public keys, which may look random without being secret. */
function isExempt([first, , third, fourth]: Path): boolean {
  if (first === 'routes')
    return ['body', 'params', 'query', 'headers', 'path', 'id', 'upstreamPath'].includes(String(third));
  return first === 'schemas' || (first === 'auth' && fourth === 'jwks');
}

const HEX = /^[0-9a-f]{32,}$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{24,}={0,2}$/;

function isRandom(word: string): boolean {
  if (HEX.test(word)) return entropyBits(word.toLowerCase()) > 3;
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/].filter((kind) => kind.test(word)).length;
  return BASE64.test(word) && kinds === 3 && !/[/_-].*[/_-].*[/_-]/.test(word) && entropyBits(word) > 4;
}

/** Returns the Shannon entropy of a text in bits per character. */
function entropyBits(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0);
}
