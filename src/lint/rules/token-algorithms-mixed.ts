import { findingAt, type Rule } from '../rule.ts';

export const tokenAlgorithmsMixed: Rule = {
  id: 'token-algorithms-mixed',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'An issuer signs with one kind of key: each further kind that is accepted is one more that can be broken or mistaken for another (RFC 8725 section 3.1).',
  *find({ manifest }) {
    const algorithms = manifest.auth?.tokens.jwt?.algorithms ?? [];
    const index = algorithms.findIndex((algorithm) => keyTypeOf(algorithm) !== keyTypeOf(algorithms[0] ?? ''));
    if (index < 0) return;
    const message = `"${algorithms[index]}" and "${algorithms[0]}" are of two kinds; keep those that the issuer signs with`;
    yield findingAt(['auth', 'tokens', 'jwt', 'algorithms', index], message);
  },
};

function keyTypeOf(algorithm: string): string {
  return algorithm.slice(0, 2);
}
