import type { BufferHolder, LoginRule, SearchedResponse } from './plan.ts';
import { findTokens, type TokenPlaces } from './token-search.ts';
import { validationPool } from './validation-pool.ts';

/** To search more takes more than a few milliseconds in the worst case. */
const MAX_LOOP_BYTES = 8_192;

/** Returns a search that moves to another thread for long responses. @param route its fair share of the threads */
export function createTokenSearch(places: TokenPlaces, route: string): LoginRule['search'] {
  return (response, holder) => {
    const { body, encoded } = response;
    const bytes = body.length + (body === encoded ? 0 : encoded.length);
    if (bytes <= MAX_LOOP_BYTES) return findTokens(places, response);
    holder.buffer(bytes);
    return searchInThread(places, response, route, holder);
  };
}

function searchInThread(
  places: TokenPlaces,
  { status, reason, headers, body, encoded }: SearchedResponse,
  route: string,
  { client }: BufferHolder,
): ReturnType<LoginRule['search']> {
  const search = { places, status, reason, headers, bodyEnd: body.length };
  // A copy, since the client gets the bytes themselves.
  const bytes = Buffer.concat(body === encoded ? [body] : [body, encoded]);
  const { result, cancel } = validationPool.validate({
    route,
    client,
    root: undefined,
    checks: [],
    search,
    body: bytes,
  });
  const found = result.then(({ found, overload }) => ({ found, overload }));
  return Object.assign(found, { cancel });
}
