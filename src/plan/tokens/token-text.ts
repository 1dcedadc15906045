import { parseStrictJson } from '../strict-json.ts';
import { type Claims, isClaims } from './claims.ts';

const MAX_LENGTH = 8192;
/** RFC 6750 section 2.1: what a bearer token is made of. */
const BEARER = /^[A-Za-z0-9._~+/-]+=*$/;
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** What a JWT says of itself, before anything of it is believed. */
export interface UnverifiedJwt {
  readonly algorithm: string;
  readonly keyName: string | undefined;
  readonly type: unknown;
  readonly claims: Claims;
}

/** Whether a token may be put into a header or a form as it is. */
export function isBearerToken(token: string): boolean {
  return token.length <= MAX_LENGTH && BEARER.test(token);
}

/**
 * Reads a JWT in compact form (RFC 7519 section 3) that everybody reads the same way: three parts of canonical
 * base64url, the first two of them JSON objects with one reading. `undefined` for anything else.
 */
export function readJwt(token: string): UnverifiedJwt | undefined {
  if (token.length > MAX_LENGTH || !COMPACT.test(token)) return undefined;
  const [first = '', second = '', third = ''] = token.split('.');
  const header = readObject(first);
  const claims = readObject(second);
  if (header === undefined || claims === undefined || !isCanonical(third, Buffer.from(third, 'base64url'))) {
    return undefined;
  }
  const { alg, kid, typ } = header;
  if (typeof alg !== 'string' || (kid !== undefined && typeof kid !== 'string') || isExtended(header)) return undefined;
  return { algorithm: alg, keyName: kid, type: typ, claims };
}

function readObject(part: string): Claims | undefined {
  const bytes = Buffer.from(part, 'base64url');
  if (!isCanonical(part, bytes)) return undefined;
  const parsed = parseStrictJson(bytes);
  return 'value' in parsed && isClaims(parsed.value) ? parsed.value : undefined;
}

/** The last character may have bits to spare: several texts would be the same bytes. */
function isCanonical(part: string, bytes: Buffer): boolean {
  return bytes.toString('base64url') === part;
}

/** No critical extension is understood here (RFC 7515 section 4.1.11), and no other encoding of the payload (RFC 7797). */
function isExtended(header: Claims): boolean {
  return Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64');
}
