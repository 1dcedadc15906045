import type { DiffContext, DiffRequest, DiffWitness, MatchedRoutePair } from '../difference.ts';
import { forwardedBody, withContentMethod } from './sample-bodies.ts';
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
