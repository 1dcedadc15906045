import type { Auth as AuthEntry, RouteEntry } from '../manifest/manifest.generated.ts';
import { sizeBytes } from '../manifest/units.ts';
import { routeKeyOf } from '../plan/route-key.ts';
import { errorAtKey, type Finding } from '../problem/finding.ts';
import { createTokenSearch, type TokenSearch } from './token-search.ts';

export interface LoginRule {
  /** True if bodies are searched. */
  readonly isBodySearched: boolean;
  /** Finds the tokens of a response; a long one is searched in a worker thread. */
  readonly findTokens: TokenSearch;
  /** The limit of the response, both encoded and decoded. */
  readonly limitBytes: number;
}

/** @param auth the entry of the manifest: a token that is not a JWT can only be found at a configured location */
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
    const message = 'the gateway cannot check the traffic of a tunnel; remove "login" or "websocket"';
    findings.push(errorAtKey(path, 'login-websocket', message));
  }
  const isAnywhere = token === undefined && header === undefined;
  if (isAnywhere && auth !== undefined && auth.tokens.jwt === undefined) {
    const message =
      'only a JWT is found anywhere in the response; add token: /data/access_token or header: X-Auth-Token';
    findings.push(errorAtKey(path, 'login-token-path', message));
  }
  const locations = {
    pointers: token === undefined ? undefined : [token].flat(),
    header: header?.toLowerCase(),
    findsJwts: auth?.tokens.jwt !== undefined,
  };
  return Object.freeze({
    isBodySearched: isAnywhere || token !== undefined || locations.findsJwts,
    findTokens: createTokenSearch(locations, routeKeyOf(path)),
    limitBytes: sizeBytes(login.maxBytes),
  });
}
