import { CONTENT_METHODS } from '../../../engine/http1/http-methods.ts';
import type { Route } from '../../../engine/plan/route-definition.ts';
import { acceptedEntries } from '../../../engine/tokens/token-entries.ts';
import { termOf } from '../../schema-comparison/compare-schemas.ts';
import { findValues } from '../../schema-comparison/schema-solver.ts';
import type { DiffRequest, DiffWitness, MatchedRoutePair } from '../difference.ts';
import { bothReceive } from '../matched-routes.ts';
import { sampleRequests } from './sample-requests.ts';

/** Returns a request that both manifests forward; `undefined` if none was found. @param headers further headers */
export function forwardedWitness(pair: MatchedRoutePair, headers: readonly string[] = []): DiffWitness | undefined {
  const request = validRequest(pair);
  const complete = request && withValidBody(pair, request);
  return complete && { request: withHeaders(complete, headers) };
}

/** Returns a request with a caller and parameters that both routes accept, and without a body. */
export function validRequest(pair: MatchedRoutePair): DiffRequest | undefined {
  if (pair.request === undefined) return undefined;
  const isValid = (candidate: DiffRequest) =>
    [pair.from, pair.to].every((route) => hasValidParameters(route, candidate));
  // Most routes have no parameters, and the search for samples takes time.
  const request = isValid(pair.request) ? pair.request : sampleRequests(pair).requests.find(isValid);
  const complete = request && withCaller(request, pair);
  const isProtected = [pair.from, pair.to].some(({ route }) => route.access === 'protected');
  return isProtected && complete?.role === undefined ? undefined : complete;
}

/** Returns the request with the role of a caller that both routes allow, if one of them requires a token. */
export function withCaller(request: DiffRequest, { from, to }: MatchedRoutePair): DiffRequest {
  if (request.role !== undefined || [from, to].every(({ route }) => route.access === 'public')) return request;
  const rules = [from, to].flatMap(({ route }) => (route.access === 'protected' ? (route.auth?.role ?? []) : []));
  const role = rules
    .flatMap(({ required }) => required)
    .find((name) => rules.every(({ isAny, required }) => isAny || required.includes(name)));
  if (role === undefined) return request;
  const [issuer] = [to, from].flatMap(({ entry, side }) =>
    acceptedEntries(side.methods, entry.issuers).flatMap((method) =>
      method.allow.includes(role) ? (method.issuer ?? []) : [],
    ),
  );
  return { ...request, role, ...(issuer !== undefined && { issuer }) };
}

export function hasValidParameters({ route }: MatchedRoutePair['from'], { url, headers = [] }: DiffRequest): boolean {
  const [path = '', query = ''] = url.split(/(?=\?)/, 2);
  return (route.parameters?.validate(path, query, headers) ?? []).length === 0;
}

export function withHeaders(request: DiffRequest, headers: readonly string[]): DiffRequest {
  return headers.length === 0 ? request : { ...request, headers: [...(request.headers ?? []), ...headers] };
}

/** Adds a body that both routes forward. GET and HEAD need none. */
function withValidBody(pair: MatchedRoutePair, request: DiffRequest): DiffRequest | undefined {
  const hasRule = [pair.from, pair.to].some(({ route }) => route.body !== undefined);
  if (!hasRule || request.method === 'GET' || request.method === 'HEAD') return request;
  const body = forwardedBody(pair);
  return body && { ...withContent(pair, request, body.type), body: body.text };
}

/** Returns a request with a media type that only the new route accepts or, if not wider, only the old one. */
export function mediaTypeWitness(pair: MatchedRoutePair, isWider: boolean): DiffWitness | undefined {
  const [more, less] = isWider ? [pair.to, pair.from] : [pair.from, pair.to];
  const type = [...sampleTypes(pair), 'application/vnd.example+json', 'x/y'].find(
    (candidate) => acceptsType(more.route, candidate) && !acceptsType(less.route, candidate),
  );
  const request = bodyRequest(pair, type);
  return request && { request: { ...request, body: 'x' } };
}

/** Returns a request whose body is one byte longer than the lower limit. */
export function limitWitness(pair: MatchedRoutePair): DiffWitness | undefined {
  const limits = [pair.from, pair.to].map(({ route }) => route.body?.limitBytes ?? Number.POSITIVE_INFINITY);
  const request = bodyRequest(pair, commonType(pair));
  return request && { request: { ...request, bodyBytes: Math.min(...limits) + 1 } };
}

export function jsonBodyWitness(pair: MatchedRoutePair, value: unknown): DiffWitness {
  const request = bodyRequest(
    pair,
    commonType(pair, (candidate) => /json/i.test(candidate)),
  );
  return { ...(request && { request: { ...request, body: JSON.stringify(value) } }), body: value };
}

/** Returns a request that violates the rules of both routes: by its parameters or by its body. */
export function invalidWitness(pair: MatchedRoutePair): DiffWitness | undefined {
  const { from, to, request } = pair;
  if (request === undefined) return undefined;
  const isInvalid = (candidate: DiffRequest) => [from, to].every((route) => !hasValidParameters(route, candidate));
  const withParameters = [request, ...sampleRequests(pair).requests].find(isInvalid);
  if (withParameters !== undefined) return { request: withCaller(withParameters, pair) };
  for (const type of sampleTypes(pair)) {
    const text = INVALID_TEXTS.find((text) => [from, to].every(({ route }) => !acceptsBody(route, { type, text })));
    const complete = text === undefined ? undefined : bodyRequest(pair, type);
    if (text !== undefined && complete !== undefined) return { request: { ...complete, body: text } };
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
function bodyRequest(pair: MatchedRoutePair, type: string | undefined): DiffRequest | undefined {
  const request = type === undefined ? undefined : validRequest(pair);
  return request && withContent(pair, request, type ?? '');
}

/** Returns the request with a media type, and with a method that usually has a body if both routes receive it. */
function withContent(pair: MatchedRoutePair, request: DiffRequest, type: string): DiffRequest {
  const path = request.url.replace(/\?.*/, '');
  const method = [...CONTENT_METHODS].find((candidate) => bothReceive(pair, candidate, path)) ?? request.method;
  return withHeaders({ ...request, method }, ['Content-Type', type]);
}

/** A Content-Type and the text of a body. */
interface SampleBody {
  readonly type: string;
  readonly text: string;
}

const BOUNDARY = 'boundary';

/** Returns media types that a route may list: those of both routes, and common ones. */
function sampleTypes({ from, to }: MatchedRoutePair): readonly string[] {
  const listed = [from, to].flatMap(({ entry }) => entry.body?.types ?? []);
  const all = ['application/json', ...listed, 'text/csv', 'multipart/form-data', 'application/octet-stream'];
  return all.map((type) => {
    const name = type.replace('/*', '/x');
    return name.toLowerCase() === 'multipart/form-data' ? `${name}; boundary=${BOUNDARY}` : name;
  });
}

function acceptsType({ body }: Route, type: string): boolean {
  return body?.types?.includes(type) ?? true;
}

/** True if a route forwards this body. */
function acceptsBody(route: Route, { type, text }: SampleBody): boolean {
  const rule = route.body;
  if (rule === undefined) return true;
  const bytes = Buffer.from(text);
  if (!acceptsType(route, type) || bytes.length > rule.limitBytes) return false;
  if (rule.validate !== undefined) {
    const result = rule.validate(bytes);
    return !(result instanceof Promise) && result.violations.length === 0;
  }
  const validator = rule.streamValidatorFor?.(type);
  return validator === undefined || (validator.write(bytes) ?? validator.end()) === undefined;
}

/** Returns a body that both routes forward; `undefined` if none was found. */
function forwardedBody(pair: MatchedRoutePair): SampleBody | undefined {
  for (const type of sampleTypes(pair)) {
    const isJson = /json/i.test(type);
    const texts = isJson ? jsonBodies(pair).map((value) => JSON.stringify(value)) : formTexts(pair, type);
    const text = texts.find((text) => [pair.from, pair.to].every(({ route }) => acceptsBody(route, { type, text })));
    if (text !== undefined) return { type, text };
  }
  return undefined;
}

/** Returns values that are valid for the schemas of both routes. */
function jsonBodies({ from, to }: MatchedRoutePair): readonly unknown[] {
  const terms = [from, to].flatMap(({ side, path, entry }) =>
    entry.body?.schema === undefined ? [] : [termOf({ root: side.schemas, path: [...path, 'body', 'schema'] }, true)],
  );
  return terms.length === 0 ? [{}] : findValues(terms, 10).values;
}

function formTexts({ from, to }: MatchedRoutePair, type: string): readonly string[] {
  const bodies = [from, to].map(({ entry }) => entry.body);
  if (/csv/i.test(type))
    return bodies.map((body) => (body?.csv ? `${body.csv.header.join(body.csv.delimiter)}\r\n` : 'x'));
  if (!/form-data/i.test(type)) return ['x'];
  return bodies.map((body) => {
    const parts = Object.entries(body?.multipart?.parts ?? {}).map(([name, { types = [] }]) => {
      const partType = types[0] === undefined ? '' : `Content-Type: ${types[0].replace('/*', '/x')}\r\n`;
      return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n${partType}\r\n\r\n`;
    });
    return `${parts.join('')}--${BOUNDARY}--\r\n`;
  });
}
