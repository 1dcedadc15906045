import { findingAtKey, type Rule } from '../rule.ts';

export const tokenTypeUnchecked: Rule = {
  id: 'token-type-unchecked',
  category: 'auth',
  severity: 'info',
  preset: 'strict',
  rationale:
    'Without it an ID token, which every page may hold, passes for an access token if issuer and audience are the same (RFC 8725 section 3.11).',
  *find({ manifest }) {
    const jwt = manifest.auth?.tokens.jwt;
    if (jwt === undefined || jwt.type !== undefined) return;
    yield findingAtKey(
      ['auth', 'tokens', 'jwt'],
      'a token of any kind is taken; add type: at+jwt, if the issuer writes it (RFC 9068)',
    );
  },
};
