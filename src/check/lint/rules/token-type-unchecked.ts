import { findingAtKey, type Rule } from '../rule.ts';

export const tokenTypeUnchecked: Rule = {
  id: 'token-type-unchecked',
  category: 'auth',
  severity: 'info',
  preset: 'strict',
  rationale:
    'Without "type" the gateway accepts an ID token, which pages can read, as an access token if issuer and audience match (RFC 8725 section 3.11).',
  *find({ manifest }) {
    const jwt = manifest.auth?.tokens.jwt;
    if (jwt === undefined || jwt.type !== undefined) return;
    yield findingAtKey(
      ['auth', 'tokens', 'jwt'],
      'tokens of every type are accepted; add type: at+jwt if the issuer sets it (RFC 9068)',
    );
  },
};
