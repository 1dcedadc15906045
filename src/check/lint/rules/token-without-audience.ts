import { findingAtKey, type Rule } from '../rule.ts';

export const tokenWithoutAudience: Rule = {
  id: 'token-without-audience',
  category: 'auth',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'The gateway also accepts tokens that the issuer created for another service, so that service can impersonate its users here.',
  *find({ manifest }) {
    const entry = manifest.auth?.tokens.introspection;
    if (entry === undefined || entry.audience !== undefined) return;
    const message = 'tokens for any service are accepted; add audience: with the name of this service at the issuer';
    yield findingAtKey(['auth', 'tokens', 'introspection'], message);
  },
};
