import { nestValue } from '../../engine/json-pointer.ts';
import type { DiffLimit } from '../diff/comparisons/rate-limit-comparisons.ts';
import type { DiffRequest, MatchedRoutePair } from '../diff/difference.ts';
import { forwardedWitness } from '../diff/witnesses/sample-witnesses.ts';
import type { Attempt } from './offline-side.ts';
import { validToken } from './token-requests.ts';

/** The most requests that show a rate limit. */
const MAX_TIMES = 3_000;

/**
 * Returns the ways to send a request until only one of two limits refuses it.
 *
 * @param pairs the pairs whose requests the limits count
 */
export function limitAttempts(
  pair: MatchedRoutePair,
  { limit: strict, keyParts }: DiffLimit,
  loose?: DiffLimit,
  pairs: readonly MatchedRoutePair[] = [],
): readonly Attempt[] {
  const added = (loose?.keyParts ?? []).filter((part) => !keyParts.includes(part));
  // All requests have the address of one client, unless only the loose limit counts by it.
  const parts = [...keyParts.filter((part) => !part.startsWith('{"client"')), ...added];
  const withKey = (request: DiffRequest) => parts.reduce((one, part) => withValue(one, part, 'a', pair), request);
  const valid = forwardedWitness(pair)?.request;
  if (strict.burst >= MAX_TIMES || valid === undefined) return [];
  const request = withKey(valid);
  const isTogether = ({ from, to }: MatchedRoutePair) =>
    to !== pair.to && (from === pair.from || !keyParts.includes(ROUTE_PART));
  const others = loose?.keyParts.includes(ROUTE_PART) ? pairs.filter(isTogether).slice(0, 1) : [];
  const firsts = [
    ...others.flatMap((other) => forwardedWitness(other)?.request ?? []).map(withKey),
    ...added.flatMap((part) => ['b', 'A'].map((value) => withValue(request, part, value, pair))),
  ];
  const status = [...(strict.failures ?? [])].find((one) => loose?.limit.failures?.has(one) !== true);
  const response = status === undefined ? {} : { response: { status, headers: [], body: Buffer.alloc(0) } };
  const after = (waitMs: number) => ({ request, repetition: { times: strict.burst + 1, waitMs }, ...response });
  const waits = loose === undefined ? [0] : [0, loose.limit.intervalMs];
  // A request without the key needs no repetition.
  return [{ request: valid }, ...firsts.map((first) => ({ ...after(0), first })), ...waits.map(after)];
}

export const ROUTE_PART = JSON.stringify({ route: true });

/** Returns a request with a value for a part of a key, one of two letters. */
function withValue(request: DiffRequest, part: string, value: string, pair: MatchedRoutePair): DiffRequest {
  const { header, subject, claim = subject && '/sub', client } = JSON.parse(part);
  if (header !== undefined) {
    const headers = request.headers ?? [];
    const index = headers.indexOf(header);
    const rest = index === -1 ? headers : headers.toSpliced(index, 2);
    return { ...request, headers: [...rest, header, value] };
  }
  // Addresses with equal prefixes up to 56 bits.
  if (client !== undefined) return { ...request, peer: value === 'a' ? '2001:db8::1' : '2001:db8:0:1::1' };
  if (request.role === undefined || claim === undefined) return request;
  const token = request.token ?? validToken(pair, request);
  return token === undefined ? request : { ...request, token: { ...token, ...(nestValue(claim, value) as object) } };
}
