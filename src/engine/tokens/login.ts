import type { Auth as AuthEntry, RouteEntry } from '../manifest/manifest.generated.ts';
import { sizeBytes } from '../manifest/units.ts';
import { errorAtKey, type Finding } from '../problem/finding.ts';
import { routeKeyOf, validationPool } from '../validation/request-rules.ts';
import { findTokens, type LoginResponse, type TokenLocations } from './find-tokens.ts';
import { issuersOf, loginEntry, tokenEntries } from './token-entries.ts';

export type LoginRule = ReturnType<typeof compileLogin>;

/** @param auth the entry of the manifest: a token that is not a JWT can only be found at a configured location */
export function compileLogin(
  { login, websocket }: Required<Pick<RouteEntry, 'login' | 'websocket'>>,
  index: number,
  auth: AuthEntry | undefined,
  findings: Finding[],
) {
  const { token, header } = login;
  const path = ['routes', index, 'login'];
  if (websocket !== false) {
    const message = 'the gateway cannot check the traffic of a tunnel; remove "login" or "websocket"';
    findings.push(errorAtKey(path, 'login-websocket', message));
  }
  const isAnywhere = token === undefined && header === undefined;
  const entries = tokenEntries(auth);
  const method = loginEntry(entries, login);
  const jwts = entries.filter(({ kind }) => kind === 'jwt');
  if (isAnywhere && method !== undefined && method.kind !== 'jwt') {
    const message =
      'only a JWT is found anywhere in the response; add token: /data/access_token or header: X-Auth-Token';
    findings.push(errorAtKey(path, 'login-token-path', message));
  }
  const locations = {
    pointers: token === undefined ? undefined : [token].flat(),
    header: header?.toLowerCase(),
    findsJwts: jwts.length > 0,
  };
  return Object.freeze({
    isBodySearched: isAnywhere || token !== undefined || locations.findsJwts,
    // The method of the tokens at the configured locations, and those of JWTs at other ones.
    issuers: issuersOf(method === undefined ? [] : [method]),
    otherIssuers: issuersOf(jwts),
    findTokens: createTokenSearch(locations, routeKeyOf(path)),
    // The limit of the response, both encoded and decoded.
    limitBytes: sizeBytes(login.maxBytes),
  });
}

/** The exchange that buffered bytes are counted for. */
interface BufferOwner {
  /** The client's address. */
  readonly client: string;
  /** Counts bytes before they are buffered. Throws if the limit is reached. */
  reserve(bytes: number): void;
}

/** Searching a longer response may block the event loop for more than a few milliseconds. */
const MAX_SYNC_BYTES = 8_192;

/** Creates the function that finds the tokens of a response. @param route the key by which routes share the worker threads fairly */
function createTokenSearch(locations: TokenLocations, route: string) {
  return (response: LoginResponse, owner: BufferOwner) => {
    const { status, reason, headers, body, encodedBody } = response;
    const parts = body === encodedBody ? [body] : [body, encodedBody];
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    if (bytes <= MAX_SYNC_BYTES) return findTokens(locations, response);
    owner.reserve(bytes);
    return validationPool.validate({
      route,
      client: owner.client,
      root: undefined,
      work: { kind: 'search', locations, status, reason, headers, bodyEnd: body.length },
      // The bytes are copied, since the client receives the originals.
      body: Buffer.concat(parts, bytes),
    });
  };
}
