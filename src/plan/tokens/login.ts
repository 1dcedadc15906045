import type { Auth as AuthEntry, RouteEntry } from '../../manifest/manifest.generated.ts';
import { sizeBytes } from '../../manifest/units.ts';
import { errorAtKey, type Finding } from '../../problem/finding.ts';
import { routeKeyOf } from '../body/body-validator.ts';
import type { LoginRule } from '../plan.ts';
import { createTokenSearch } from './token-search.ts';

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
    findings.push(errorAtKey(path, 'login-token-path', message));
  }
  const places = {
    pointers: token === undefined ? undefined : [token].flat(),
    header: header?.toLowerCase(),
    findsJwts: auth?.tokens.jwt !== undefined,
  };
  return Object.freeze({
    isBodySearched: isAnywhere || token !== undefined || places.findsJwts,
    findTokens: createTokenSearch(places, routeKeyOf(path)),
    limitBytes: sizeBytes(login.maxBytes),
  });
}
