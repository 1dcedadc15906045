import { validationPool } from '../body/validation-pool.ts';
import type { Overload } from '../body/validation-result.ts';
import { findTokens, type LoginErrorCode, type ResponseTokens, type TokenLocations } from './find-tokens.ts';
import type { BufferOwner, LoginResponse, LoginRule } from './login.ts';

/** A search in another thread. */
export interface TokenSearchResult {
  /** `undefined` if the search had no turn, or took too long. */
  readonly result: ResponseTokens | LoginErrorCode | undefined;
  readonly overload: Overload | undefined;
}

/** To search more takes more than a few milliseconds in the worst case. */
const MAX_LOOP_BYTES = 8_192;

/** Returns a search that moves to another thread for long responses. @param route its fair share of the threads */
export function createTokenSearch(places: TokenLocations, route: string): LoginRule['findTokens'] {
  return (response, holder) => {
    const { body, encodedBody } = response;
    const bytes = body.length + (body === encodedBody ? 0 : encodedBody.length);
    if (bytes <= MAX_LOOP_BYTES) return findTokens(places, response);
    holder.reserve(bytes);
    return searchInThread(places, response, route, holder);
  };
}

function searchInThread(
  places: TokenLocations,
  { status, reason, headers, body, encodedBody }: LoginResponse,
  route: string,
  { client }: BufferOwner,
): ReturnType<LoginRule['findTokens']> {
  const search = { locations: places, status, reason, headers, bodyEnd: body.length };
  // A copy, since the client gets the bytes themselves.
  const bytes = Buffer.concat(body === encodedBody ? [body] : [body, encodedBody]);
  const { result, cancel } = validationPool.validate({
    route,
    client,
    root: undefined,
    checks: [],
    search,
    body: bytes,
  });
  const found = result.then(({ searchResult: found, overload }) => ({ result: found, overload }));
  return Object.assign(found, { cancel });
}
