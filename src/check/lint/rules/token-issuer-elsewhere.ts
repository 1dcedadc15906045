import { findingAt, type Rule } from '../rule.ts';

export const tokenIssuerElsewhere: Rule = {
  id: 'token-issuer-elsewhere',
  category: 'auth',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'The metadata must name exactly the configured issuer (RFC 8414 section 3.3); if the two addresses differ it usually does not, and then no token is valid.',
  *find({ manifest, secrets }) {
    const jwt = manifest.auth?.tokens.jwt;
    const path = ['auth', 'tokens', 'jwt', 'issuer'];
    if (jwt?.discovery === undefined || withoutSlash(jwt.discovery) === withoutSlash(jwt.issuer)) return;
    const addresses = [path, path.with(3, 'discovery')].some(secrets.isSecret)
      ? ''
      : ` ("${jwt.issuer}" and "${jwt.discovery}")`;
    yield findingAt(
      path,
      `"issuer" and "discovery" are different addresses${addresses}; make sure that the metadata names this issuer`,
    );
  },
};

function withoutSlash(text: string): string {
  return text.replace(/\/$/, '');
}
