import { nestValue } from '../../engine/json-pointer.ts';
import type { DiffLimit } from '../diff/comparisons/rate-limit-comparisons.ts';
import type { DiffRequest, MatchedRoutePair } from '../diff/difference.ts';
import { forwardedWitness } from '../diff/witnesses/sample-witnesses.ts';
import type { ProofFinding } from './directions.ts';
import { validToken } from './token-requests.ts';

/** The most requests that show a rate limit. */
const MAX_TIMES = 3_000;

/**
 * Returns a request, and the ways to send it until only one of two limits refuses it.
 *
 * @param other a pair that only the strict limit counts together with this one
 */
export function overLimit(
  pair: MatchedRoutePair,
  { limit: strict, keyParts }: DiffLimit,
  loose?: DiffLimit,
  other?: MatchedRoutePair,
): Pick<ProofFinding, 'witness' | 'sendings'> {
  const added = (loose?.keyParts ?? []).filter((part) => !keyParts.includes(part));
  // All requests have the address of one client, unless only the loose limit counts by it.
  const parts = [...keyParts.filter((part) => !part.startsWith('{"client"')), ...added];
  const requestOf = (one: MatchedRoutePair) => {
    const valid = forwardedWitness(one)?.request;
    return valid && parts.reduce((request, part) => withValue(request, part, 'a', one), valid);
  };
  const request = requestOf(pair);
  if (strict.burst >= MAX_TIMES || request === undefined) return {};
  const firsts = [
    ...(other === undefined ? [] : [requestOf(other) ?? request]),
    ...added.flatMap((part) => ['b', 'A'].map((value) => withValue(request, part, value, pair))),
  ];
  const status = [...(strict.failures ?? [])].find((one) => loose?.limit.failures?.has(one) !== true);
  const response = status === undefined ? {} : { response: { status, headers: [], body: Buffer.alloc(0) } };
  const waits = loose === undefined ? [0] : [0, loose.limit.intervalMs];
  const times = strict.burst + 1;
  const plain = waits.map((waitMs) => ({ repetition: { times, waitMs }, ...response }));
  const withFirst = firsts.map((first) => ({ repetition: { times, waitMs: 0 }, first, ...response }));
  return { witness: { request }, sendings: firsts.length === 0 ? plain : withFirst };
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
