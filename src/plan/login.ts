import type { Auth as AuthEntry, RouteEntry } from '../manifest/manifest.generated.ts';
import { sizeBytes } from '../manifest/units.ts';
import { errorAtKey, type Finding } from '../problem/finding.ts';
import { findJwts } from './find-jwts.ts';
import type { LoginRule } from './plan.ts';
import { compilePointer } from './pointer.ts';
import { parseStrictJson } from './strict-json.ts';

/** @param auth as the manifest has it: what is no JWT cannot be found but by its place */
export function compileLogin(
  { login, websocket }: RouteEntry,
  index: number,
  auth: AuthEntry | undefined,
  findings: Finding[],
): LoginRule | undefined {
  if (login === undefined) return undefined;
  const { token, header } = login;
  const path = ['routes', index, 'login'];
  if (websocket !== false) {
    const message = 'what goes through a tunnel cannot be checked; remove "login", or "websocket"';
    findings.push(errorAtKey(path, 'login-websocket', message));
  }
  const isAnywhere = token === undefined && header === undefined;
  if (isAnywhere && auth !== undefined && auth.tokens.jwt === undefined) {
    const message =
      'a token that is no JWT is found by its place alone; add token: /data/access_token or header: X-Auth-Token';
    findings.push(errorAtKey(path, 'login-place', message));
  }
  const limitBytes = sizeBytes(login.maxBytes);
  const straysIn = auth?.tokens.jwt === undefined ? undefined : findStrays;
  if (isAnywhere) return Object.freeze({ inHeaders: jwtsInHeaders, inBody: jwtsInBody, straysIn, limitBytes });
  const inHeaders = header === undefined ? () => [] : compileHeader(header);
  const inBody = token === undefined ? undefined : compilePlaces([token].flat());
  return Object.freeze({ inHeaders, inBody, straysIn, limitBytes });
}

/** Of a success. JWTs in other responses are strays: an error page may quote anything. */
function jwtsInBody(body: Buffer, isSuccess: boolean): readonly string[] | undefined {
  if (!isSuccess) return [];
  return 'fault' in parseStrictJson(body) ? undefined : findJwts(body.toString());
}

function compilePlaces(pointers: readonly string[]): NonNullable<LoginRule['inBody']> {
  const places = pointers.map(compilePointer);
  return (body, isSuccess) => {
    const parsed = parseStrictJson(body);
    if ('fault' in parsed) return isSuccess || isLooseJson(body) ? undefined : [];
    return places.map((tokenAt) => tokenAt(parsed.value)).filter((token) => token !== undefined && token !== null);
  };
}

/** True for a body that some client reads as JSON, though it has two readings. */
function isLooseJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString().replace(/^\uFEFF/, ''));
    return true;
  } catch {
    return false;
  }
}

const SCHEME = /^bearer /i;

/** Every value of a header that comes more than once: whichever the client takes, it was checked. */
function compileHeader(header: string): LoginRule['inHeaders'] {
  const name = header.toLowerCase();
  return (headers) =>
    headers
      .filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name)
      .map((value) => value.replace(SCHEME, ''));
}

function jwtsInHeaders(headers: readonly string[]): readonly string[] {
  return findJwts(headers.join('\n'));
}

/** JWTs with claims. An encrypted token (RFC 7516) has none that the gateway could ever accept. */
function findStrays(text: string): readonly string[] {
  return findJwts(text).filter((token) => isObject(token.split('.')[1] ?? ''));
}

function isObject(part: string): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return value !== null && typeof value === 'object' && !Array.isArray(value);
  } catch {
    return false;
  }
}
