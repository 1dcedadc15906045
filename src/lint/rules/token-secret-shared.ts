import { findingAt, type Rule } from '../rule.ts';

export const tokenSecretShared: Rule = {
  id: 'token-secret-shared',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    "Whoever can verify by a shared secret can sign by it: everybody who reads the gateway's environment can be any user.",
  *find({ manifest }) {
    if (manifest.auth?.tokens.jwt?.secret === undefined) return;
    const message =
      'whoever knows this secret can make tokens; let the issuer sign with a private key, and write jwks: or discovery:';
    yield findingAt(['auth', 'tokens', 'jwt', 'secret'], message);
  },
};
