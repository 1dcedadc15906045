import type { Auth as AuthEntry, RouteEntry } from '../../manifest/manifest.generated.ts';
import { sizeBytes } from '../../manifest/units.ts';
import { errorAtKey, type Finding } from '../../problem/finding.ts';
import type { CancellablePromise } from '../body/validation-result.ts';
import { routeKeyOf } from '../route-key.ts';
import type { LoginErrorCode, ResponseTokens } from './find-tokens.ts';
import { createTokenSearch, type TokenSearchResult } from './token-search.ts';

/** The party that bytes in memory are counted for. */
export interface BufferOwner {
  /** The client's address. */
  readonly client: string;
  /** Counts bytes before they are held. Throws if there is no room for them. */
  reserve(bytes: number): void;
}

/** A response in which tokens are looked for. */
export interface LoginResponse {
  readonly status: number;
  readonly reason: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Decoded. */
  readonly body: Buffer;
  /** As the upstream sent it: some formats carry bytes that decoders pass over. */
  readonly encodedBody: Buffer;
}

export interface LoginRule {
  /** True if tokens are looked for in bodies. */
  readonly isBodySearched: boolean;
  /** Finds the tokens of a response, in another thread where that takes long. */
  readonly findTokens: (
    response: LoginResponse,
    holder: BufferOwner,
  ) => ResponseTokens | LoginErrorCode | CancellablePromise<TokenSearchResult>;
  /** How long the answer may be, as sent and decoded. */
  readonly limitBytes: number;
}

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
