import type { DiffContext, DiffRequest, DiffWitness, MatchedRoutePair } from '../difference.ts';
import {
  acceptsBody,
  acceptsType,
  forwardedBody,
  type SampleBody,
  sampleTypes,
  withContentMethod,
} from './sample-bodies.ts';
import { sampleRequests } from './sample-requests.ts';

/** Returns a request that both manifests forward; `undefined` if none was found. @param headers further headers */
export function forwardedWitness(
  sides: DiffContext,
  pair: MatchedRoutePair,
  headers: readonly string[] = [],
): DiffWitness | undefined {
  const request = validRequest(sides, pair);
  const complete = request && withValidBody(sides, pair, request);
  return complete && { request: withHeaders(complete, headers) };
}

/** Returns a request with a caller and parameters that both routes accept, and without a body. */
export function validRequest(sides: DiffContext, pair: MatchedRoutePair): DiffRequest | undefined {
  if (pair.request === undefined) return undefined;
  const isValid = (candidate: DiffRequest) =>
    [pair.from, pair.to].every((route) => hasValidParameters(route, candidate));
  // Most routes have no parameters, and the search for samples takes time.
  const request = isValid(pair.request) ? pair.request : sampleRequests(sides, pair).requests.find(isValid);
  const complete = request && withCaller(request, pair);
  const isProtected = [pair.from, pair.to].some(({ route }) => route.access === 'protected');
  return isProtected && complete?.role === undefined ? undefined : complete;
}

/** Returns the request with the role of a caller that both routes allow, if one of them requires a token. */
export function withCaller(request: DiffRequest, { from, to }: MatchedRoutePair): DiffRequest {
  if (request.role !== undefined || [from, to].every(({ route }) => route.access === 'public')) return request;
  const [required = [], other = []] = [from, to].flatMap(({ route }) =>
    route.access === 'protected' ? [route.auth?.role.required ?? []] : [],
  );
  const role = required.find((role) => other.length === 0 || other.includes(role));
  return role === undefined ? request : { ...request, role };
}

export function hasValidParameters({ route }: MatchedRoutePair['from'], { url, headers = [] }: DiffRequest): boolean {
  const [path = '', query = ''] = url.split(/(?=\?)/, 2);
  return (route.parameters?.validate(path, query, headers) ?? []).length === 0;
}

export function withHeaders(request: DiffRequest, headers: readonly string[]): DiffRequest {
  return headers.length === 0 ? request : { ...request, headers: [...(request.headers ?? []), ...headers] };
}

/** Adds a body that both routes forward. GET and HEAD need none. */
function withValidBody(sides: DiffContext, pair: MatchedRoutePair, request: DiffRequest): DiffRequest | undefined {
  const hasRule = [pair.from, pair.to].some(({ route }) => route.body !== undefined);
  if (!hasRule || request.method === 'GET' || request.method === 'HEAD') return request;
  const body = forwardedBody(sides, pair);
  if (body === undefined) return undefined;
  return { ...withHeaders(withContentMethod(sides, pair, request), ['Content-Type', body.type]), body: body.text };
}

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
