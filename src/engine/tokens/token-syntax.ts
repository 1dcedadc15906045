import { parseJson } from '../json-pointer.ts';
import { isMap } from '../schema/schema-walk.ts';
import { parseStrictJson } from '../validation/strict-json.ts';
import type { TokenClaims } from './claims.ts';

const MAX_LENGTH = 8192;
/** The characters of a bearer token (RFC 6750 section 2.1). */
const BEARER = /^[A-Za-z0-9._~+/-]+=*$/;
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** The contents of a JWT whose signature is not verified yet. */
export type UnverifiedJwt = NonNullable<ReturnType<typeof parseJwt>>;

/** Returns true if a token needs no escaping in a header or a form. */
export function isBearerToken(token: string): boolean {
  return token.length <= MAX_LENGTH && BEARER.test(token);
}

/**
 * Parses a compact JWT (RFC 7519 section 3) that every parser reads the same way: three parts in canonical base64url, the
 * first two of them objects in strict JSON. Returns `undefined` for anything else.
 */
export function parseJwt(token: string) {
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

/**
 * Returns the issuer that a token in the form of a signed JWT names; `undefined` for another token. It reads more leniently than `parseJwt`,
 * because it only chooses the method that verifies the token.
 */
export function unverifiedIssuer(token: string): string | undefined {
  const [, payload = '', signature, other] = token.length > MAX_LENGTH ? [] : token.split('.', 4);
  if (signature === undefined || other !== undefined) return undefined;
  const claims = parseJson(Buffer.from(payload, 'base64url').toString());
  return isMap(claims) && typeof claims['iss'] === 'string' ? claims['iss'] : undefined;
}

function parseJwtPart(part: string): TokenClaims | undefined {
  const bytes = Buffer.from(part, 'base64url');
  if (!isCanonicalBase64url(part, bytes)) return undefined;
  const parsed = parseStrictJson(bytes);
  return 'value' in parsed && isMap(parsed.value) ? parsed.value : undefined;
}

/** Non-canonical texts decode to the same bytes, since the last character may have unused bits. */
function isCanonicalBase64url(part: string, bytes: Buffer): boolean {
  return bytes.toString('base64url') === part;
}

/** The gateway supports no critical extensions (RFC 7515 section 4.1.11) and no unencoded payload (RFC 7797). */
function hasUnsupportedHeader(header: TokenClaims): boolean {
  return Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64');
}
