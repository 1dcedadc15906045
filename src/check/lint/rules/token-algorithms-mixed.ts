import { findingAt, type Rule } from '../rule.ts';

export const tokenAlgorithmsMixed: Rule = {
  id: 'token-algorithms-mixed',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'An issuer usually signs with one type of key, and every further type that the gateway accepts can be broken or confused with another (RFC 8725 section 3.1).',
  *find({ manifest }) {
    const algorithms = manifest.auth?.tokens.jwt?.algorithms ?? [];
    const index = algorithms.findIndex((algorithm) => keyTypeOf(algorithm) !== keyTypeOf(algorithms[0] ?? ''));
    if (index < 0) return;
    const message = `"${algorithms[index]}" and "${algorithms[0]}" use different types of keys; keep only the algorithms that the issuer signs with`;
    yield findingAt(['auth', 'tokens', 'jwt', 'algorithms', index], message);
  },
};

function keyTypeOf(algorithm: string): string {
  return algorithm.slice(0, 2);
}
