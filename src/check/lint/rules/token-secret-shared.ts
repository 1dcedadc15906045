import { findingAt, type Rule } from '../rule.ts';

export const tokenSecretShared: Rule = {
  id: 'token-secret-shared',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Anyone who can verify tokens with a shared secret can also sign them, so access to the environment of the gateway allows an attacker to impersonate any user.',
  *find({ manifest }) {
    if (manifest.auth?.tokens.jwt?.secret === undefined) return;
    const message =
      'anyone who knows this secret can create tokens; let the issuer sign with a private key, and write jwks: or discovery:';
    yield findingAt(['auth', 'tokens', 'jwt', 'secret'], message);
  },
};
