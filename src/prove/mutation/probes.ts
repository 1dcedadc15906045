import { nestValue } from '../../engine/json-pointer.ts';
import type { Manifest, RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import { sizeBytes } from '../../engine/manifest/units.ts';
import { acceptedEntries, type TokenEntry, tokenEntries } from '../../engine/tokens/token-entries.ts';
import type { CaseHeaders } from '../testing/test-file.generated.ts';
import { isPlainSegment, type TestedRoute } from './context.ts';
import type { Probe } from './mutant.ts';

export function withRequest(probe: Probe, change: Partial<Probe['request']>): Probe {
  return { ...probe, request: { ...probe.request, ...change } };
}

export function withoutToken(probe: Probe): Probe {
  const { role: _role, claims: _claims, issuer: _issuer, ...request } = probe.request;
  return { ...probe, request: { ...request, headers: withoutHeader(request.headers, 'authorization') } };
}

/** @param issuer the name of the method that verifies the token; `undefined`: the first one that allows the role */
export function withRole(probe: Probe, role: string, issuer?: string): Probe {
  return withRequest(withoutToken(probe), { role, ...(issuer !== undefined && { issuer }) });
}

export function withClaims(probe: Probe, claims: Readonly<Record<string, unknown>>, issuer?: string): Probe {
  return withRequest(withoutToken(probe), { claims, ...(issuer !== undefined && { issuer }) });
}

/** Returns the first token method that a route accepts, and for which a condition is true. */
export function acceptedMethod({ auth }: Manifest, { entry }: TestedRoute, isMeant: (method: TokenEntry) => boolean) {
  return acceptedEntries(tokenEntries(auth), entry.issuers).find(isMeant);
}

export function withoutBody(probe: Probe): Probe {
  const { body: _body, bodyBytes: _bytes, ...request } = probe.request;
  return { ...probe, request: { ...request, headers: withoutHeader(request.headers, 'content-type') } };
}

export function withHeader(probe: Probe, name: string, value: string): Probe {
  const headers = { ...withoutHeader(probe.request.headers, name.toLowerCase()), [name]: value };
  return withRequest(probe, { headers });
}

export function withJsonBody(probe: Probe, value: unknown): Probe {
  const empty = withoutBody(probe);
  if (value !== null && typeof value === 'object') return withRequest(empty, { body: value as object });
  return withTextBody(empty, 'application/json', JSON.stringify(value));
}

export function withTextBody(probe: Probe, type: string, body: string): Probe {
  return withRequest(withHeader(withoutBody(probe), 'Content-Type', type), { body });
}

/** Returns the probe with a body of spaces. */
export function withBodyOf(probe: Probe, bytes: number): Probe {
  const type = headerOf(probe.request.headers, 'content-type') ?? 'application/json';
  return withRequest(withHeader(withoutBody(probe), 'Content-Type', type), { bodyBytes: bytes });
}

/** Returns the probe with another path; the query stays. */
export function withPath(probe: Probe, path: string): Probe {
  const { url } = probe.request;
  const query = url.indexOf('?');
  return withRequest(probe, { url: path + (query === -1 ? '' : url.slice(query)) });
}

/** Returns the probe with one more query parameter, in place of earlier values of this name. */
export function withQuery(probe: Probe, name: string, ...values: readonly string[]): Probe {
  const { url } = probe.request;
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  const encoded = encodeURIComponent(name);
  const others = query.split('&').filter((pair) => pair !== '' && pair.split('=')[0] !== encoded);
  const pairs = [...others, ...values.map((value) => `${encoded}=${encodeURIComponent(value)}`)];
  return withRequest(probe, { url: pairs.length === 0 ? path : `${path}?${pairs.join('&')}` });
}

export function pathOf({ request }: Probe): string {
  return request.url.split('?')[0] ?? '';
}

/** @param name in lower case */
function headerOf(headers: CaseHeaders, name: string): string | undefined {
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name);
  return entry === undefined ? undefined : [entry[1]].flat()[0];
}

/** @param name in lower case */
export function withoutHeader(headers: CaseHeaders, name: string): CaseHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([key]) => key.toLowerCase() !== name));
}

/** Returns the probe with another value of a path parameter; none if the text cannot be a segment. @param pattern of the route */
export function withPathParameter(probe: Probe, pattern: string, name: string, text: string): Probe[] {
  if (!isPlainSegment(text)) return [];
  const index = pattern.split('/').indexOf(`{${name}}`);
  return [withPath(probe, pathOf(probe).split('/').with(index, text).join('/'))];
}

/** Returns the login request with a token in the response of the upstream, at each place where the route expects one. */
export function loginResponses(base: Probe, { entry }: TestedRoute, token: string | undefined): Probe[] {
  if (entry.login === undefined || token === undefined) return [];
  const { token: pointers = [], header } = entry.login;
  const inBody = [pointers].flat().map((at) => ({ status: 200, headers: {}, body: nestValue(at, token) as object }));
  const inHeader = header === undefined ? [] : [{ status: 200, headers: { [header]: token } }];
  return [...inBody, ...inHeader].map((response) => ({ ...base, response }));
}

type Multipart = NonNullable<NonNullable<RouteEntry['body']>['multipart']>;

export const MULTIPART_TYPE = 'multipart/form-data; boundary=b';
export const MULTIPART_END = '--b--\r\n';

/** Formats one part of a multipart body. */
export function formatPart(name: string, content = 'x', type?: string): string {
  const typeLine = type === undefined ? '' : `Content-Type: ${type}\r\n`;
  return `--b\r\nContent-Disposition: form-data; name="${name}"; filename="x"\r\n${typeLine}\r\n${content}\r\n`;
}

/** Returns a body with each part once. */
export function multipartBody(multipart: Multipart): string {
  return joinParts(partTexts(multipart));
}

/** Returns bodies that differ from a complete one in one part. */
export function changedMultipartBodies(multipart: Multipart): string[] {
  const texts = partTexts(multipart);
  const changed = Object.entries(multipart.parts).flatMap(([name, { types, maxCount, maxBytes }]) => {
    const text = texts.get(name) ?? '';
    const size = sizeBytes(maxBytes) + 1;
    return [
      new Map([...texts].filter(([other]) => other !== name)),
      new Map([...texts, [name, text.repeat(maxCount + 1)]]),
      new Map([...texts, [name, formatPart(name, 'x', 'application/x-other')]]),
      ...(size > MAX_PART_BYTES ? [] : [new Map([...texts, [name, formatPart(name, 'x'.repeat(size), types?.[0])]])]),
    ];
  });
  return [texts, ...changed].map(joinParts);
}

/** A larger part would make a test file unreadable. */
const MAX_PART_BYTES = 4_096;

function partTexts({ parts }: Multipart): Map<string, string> {
  return new Map(Object.entries(parts).map(([name, { types }]) => [name, formatPart(name, 'x', types?.[0])]));
}

function joinParts(texts: ReadonlyMap<string, string>): string {
  return [...texts.values(), MULTIPART_END].join('');
}
