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
  if (isAnywhere) return Object.freeze({ inHeaders: jwtsInHeaders, inBody: readingJson(findJwts), limitBytes });
  const inHeaders = header === undefined ? () => [] : compileHeader(header);
  const inBody = token === undefined ? undefined : readingJson(compilePlaces([token].flat()));
  return Object.freeze({ inHeaders, inBody, limitBytes });
}

function readingJson(find: (value: unknown) => readonly unknown[]): LoginRule['inBody'] {
  return (body) => {
    const parsed = parseStrictJson(body);
    return 'fault' in parsed ? undefined : find(parsed.value);
  };
}

function compilePlaces(pointers: readonly string[]): (value: unknown) => readonly unknown[] {
  const places = pointers.map(compilePointer);
  return (value) => places.map((tokenAt) => tokenAt(value)).filter((token) => token !== undefined && token !== null);
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
  return findJwts(headers.filter((_, index) => index % 2 === 1));
}
