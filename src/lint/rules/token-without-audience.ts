import { findingAtKey, type Rule } from '../rule.ts';

export const tokenWithoutAudience: Rule = {
  id: 'token-without-audience',
  category: 'auth',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'A token that the issuer gave out for another service is good here as well, so that service can act for its users.',
  *find({ manifest }) {
    const entry = manifest.auth?.tokens.introspection;
    if (entry === undefined || entry.audience !== undefined) return;
    const message = 'tokens for any service are taken; add audience: with the name that the issuer has for this one';
    yield findingAtKey(['auth', 'tokens', 'introspection'], message);
  },
};
