import type { DiffContext, DiffRequest, DiffWitness, MatchedRoutePair } from '../difference.ts';
import { hasValidParameters, validRequest, withCaller, withHeaders } from './forwarded-request.ts';
import { acceptsBody, acceptsType, type SampleBody, sampleTypes, withContentMethod } from './sample-bodies.ts';
import { sampleRequests } from './sample-requests.ts';

/** Returns a request with a media type that one route accepts and the other one refuses. */
export function mediaTypeWitness(
  sides: DiffContext,
  pair: MatchedRoutePair,
  isAccepted: Readonly<Record<'from' | 'to', boolean>>,
): DiffWitness | undefined {
  const type = [...sampleTypes(pair), 'application/vnd.example+json', 'x/y'].find(
    (candidate) =>
      acceptsType(pair.from.route, candidate) === isAccepted.from &&
      acceptsType(pair.to.route, candidate) === isAccepted.to,
  );
  const request = bodyRequest(sides, pair, type);
  return request && { request: { ...request, body: 'x' } };
}

/** Returns a request whose body is one byte longer than the lower limit. */
export function limitWitness(sides: DiffContext, pair: MatchedRoutePair): DiffWitness | undefined {
  const limits = [pair.from, pair.to].map(({ route }) => route.body?.limitBytes ?? Number.POSITIVE_INFINITY);
  const type = commonType(pair);
  const request = bodyRequest(sides, pair, type);
  return request && { request: { ...request, bodyBytes: Math.min(...limits) + 1 } };
}

/** Returns a request with a JSON value as its body. */
export function jsonBodyWitness(sides: DiffContext, pair: MatchedRoutePair, value: unknown): DiffWitness {
  const body = JSON.stringify(value);
  const type = commonType(pair, (candidate) => /json/i.test(candidate));
  const request = bodyRequest(sides, pair, type);
  return request === undefined ? { body: value } : { request: { ...request, body }, body: value };
}

/** Returns a request that violates the rules of both routes: by its parameters or by its body. */
export function invalidWitness(sides: DiffContext, pair: MatchedRoutePair): DiffWitness | undefined {
  const { from, to, request } = pair;
  if (request === undefined) return undefined;
  const isInvalid = (candidate: DiffRequest) => [from, to].every((route) => !hasValidParameters(route, candidate));
  const withParameters = [request, ...sampleRequests(sides, pair).requests].find(isInvalid);
  if (withParameters !== undefined) return { request: withCaller(withParameters, pair) };
  for (const type of sampleTypes(pair)) {
    const body = INVALID_TEXTS.map((text): SampleBody => ({ type, text })).find((candidate) =>
      [from, to].every(({ route }) => !acceptsBody(route, candidate)),
    );
    const complete = body && bodyRequest(sides, pair, type);
    if (complete !== undefined) return { request: { ...complete, body: body?.text ?? '' } };
  }
  return undefined;
}

/** Texts that most schemas and formats refuse. */
const INVALID_TEXTS = ['?', '{}', '[]', 'null', '1'];

/** Returns the first sample type that both routes accept. */
function commonType(pair: MatchedRoutePair, isMatch = (_type: string) => true): string | undefined {
  return sampleTypes(pair).find(
    (type) => isMatch(type) && [pair.from, pair.to].every(({ route }) => acceptsType(route, type)),
  );
}

/** @param type `undefined` if there is no type for a body, and so no request */
function bodyRequest(sides: DiffContext, pair: MatchedRoutePair, type: string | undefined): DiffRequest | undefined {
  if (type === undefined) return undefined;
  const request = validRequest(sides, pair);
  return request && withHeaders(withContentMethod(sides, pair, request), ['Content-Type', type]);
}
