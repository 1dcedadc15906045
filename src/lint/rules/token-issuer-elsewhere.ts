import { findingAt, type Rule } from '../rule.ts';

export const tokenIssuerElsewhere: Rule = {
  id: 'token-issuer-elsewhere',
  category: 'auth',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'The metadata of an issuer must name the very issuer that is written here (RFC 8414 section 3.3); where the two differ it mostly does not, and then no token is good.',
  *find({ manifest, secrets }) {
    const jwt = manifest.auth?.tokens.jwt;
    const path = ['auth', 'tokens', 'jwt', 'issuer'];
    if (jwt?.discovery === undefined || withoutSlash(jwt.discovery) === withoutSlash(jwt.issuer)) return;
    const shown = [path, path.with(3, 'discovery')].some(secrets.isSecret)
      ? 'the two'
      : `"${jwt.issuer}" and "${jwt.discovery}"`;
    yield findingAt(
      path,
      `"issuer" and "discovery" are not the same address; make sure that the metadata names this issuer (${shown})`,
    );
  },
};

function withoutSlash(text: string): string {
  return text.replace(/\/$/, '');
}
