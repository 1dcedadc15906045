import { parseStrictJson } from '../body/strict-json.ts';
import { isJsonObject, type TokenClaims } from './claims.ts';

const MAX_LENGTH = 8192;
/** RFC 6750 section 2.1: what a bearer token is made of. */
const BEARER = /^[A-Za-z0-9._~+/-]+=*$/;
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** What a JWT says of itself, before anything of it is believed. */
export interface UnverifiedJwt {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  readonly type: unknown;
  readonly claims: TokenClaims;
}

/** Whether a token may be put into a header or a form as it is. */
export function isBearerToken(token: string): boolean {
  return token.length <= MAX_LENGTH && BEARER.test(token);
}

/**
 * Reads a JWT in compact form (RFC 7519 section 3) that everybody reads the same way: three parts of canonical
 * base64url, the first two of them JSON objects with one reading. `undefined` for anything else.
 */
export function parseJwt(token: string): UnverifiedJwt | undefined {
  if (token.length > MAX_LENGTH || !COMPACT.test(token)) return undefined;
  const [first = '', second = '', third = ''] = token.split('.');
  const header = parseJwtPart(first);
  const claims = parseJwtPart(second);
  if (header === undefined || claims === undefined || !isCanonicalBase64url(third, Buffer.from(third, 'base64url'))) {
    return undefined;
  }
  const { alg, kid: keyId, typ } = header;
  if (typeof alg !== 'string' || (keyId !== undefined && typeof keyId !== 'string') || hasUnsupportedHeader(header))
    return undefined;
  return { algorithm: alg, keyId, type: typ, claims };
}

function parseJwtPart(part: string): TokenClaims | undefined {
  const bytes = Buffer.from(part, 'base64url');
  if (!isCanonicalBase64url(part, bytes)) return undefined;
  const parsed = parseStrictJson(bytes);
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : undefined;
}

/** The last character may have bits to spare: several texts would be the same bytes. */
function isCanonicalBase64url(part: string, bytes: Buffer): boolean {
  return bytes.toString('base64url') === part;
}

/** No critical extension is understood here (RFC 7515 section 4.1.11), and no other encoding of the payload (RFC 7797). */
function hasUnsupportedHeader(header: TokenClaims): boolean {
  return Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64');
}
