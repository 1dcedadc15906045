import type { ClientRequest } from '../../http1/client-request.ts';
import type { Route } from '../../plan/route-definition.ts';
import { Refusal } from '../response/refusal.ts';

/** RFC 3986 section 3.2.2, without userinfo, commas and spaces, which no client sends. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=-]+)(?::(\d{1,5}))?$/;
/** Matches most hosts in one test without an allocation. */
const PLAIN_HOST = /^[A-Za-z0-9.-]+(?::[1-5]?\d{1,4})?$/;

/** The headers of a valid request that determine its routing, access and framing. */
export interface RequestHead {
  readonly host: string | undefined;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  /** The number of further hops of an OPTIONS request (RFC 9110 section 7.6.2); `undefined` without a limit. */
  readonly maxForwards: number | undefined;
  /** The number of bytes, or `'chunked'` for an unknown length; `undefined` without a body. */
  readonly body: number | 'chunked' | undefined;
}

/**
 * Reads the headers that determine routing, access and framing. Refuses repeated ones (RFC 9112 sections 3.2 and 6.3).
 *
 * @throws Refusal `message_malformed` or `headers_too_large`
 */
export function readRequestHead(request: ClientRequest, maxHeaders: number): RequestHead {
  if (request.httpVersion !== '1.1' && request.httpVersion !== '1.0') throw malformed('version');
  const raw = request.rawHeaders;
  if (raw.length > 2 * maxHeaders) throw new Refusal('headers_too_large', { reason: 'headers_too_many' });
  const { known } = request;
  if (known.isAmbiguous) throw malformed('header_repeated');
  const host = known.host ?? authorityOf(request);
  if (host !== undefined) {
    if (!PLAIN_HOST.test(host) && !isValidHost(host)) throw malformed('host');
  } else if (request.httpVersion === '1.1') {
    throw malformed('host_missing');
  }
  const { framing: body } = request;
  if (body === 'transfer_encoding' || body === 'content_length') throw malformed(body);
  const { authorization, contentType } = known;
  const maxForwards = request.method === 'OPTIONS' ? readMaxForwards(known.maxForwards) : undefined;
  return { host, authorization, contentType, maxForwards, body };
}

function readMaxForwards(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw malformed('max_forwards');
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

/**
 * Refuses a request that has passed this gateway before.
 *
 * @param via all members of `Via` (RFC 9110 section 7.6.3)
 * @param pseudonym the name of this gateway
 * @throws Refusal `loop_detected`
 */
export function refuseLoop(via: string, pseudonym: string): void {
  const own = pseudonym.toLowerCase();
  const isOwn = (member: string) => /^[\t ]*\S+[\t ]+(\S+)/.exec(member)?.[1]?.toLowerCase() === own;
  if (via.split(',').some(isOwn)) throw new Refusal('loop_detected');
}

/**
 * Returns the authority of an absolute request target in HTTP/1.0, where `Host` is optional, and stores it as the `Host` that the
 * upstream receives (RFC 9112 section 3.2.2).
 */
function authorityOf({ url, httpVersion, rawHeaders }: ClientRequest): string | undefined {
  const authority = httpVersion === '1.0' ? ABSOLUTE.exec(url)?.[1] : undefined;
  if (authority !== undefined) rawHeaders.push('Host', authority);
  return authority;
}

/** True for a valid `Host` value (RFC 9110 section 7.2). */
export function isValidHost(text: string): boolean {
  const match = HOST.exec(text);
  return match !== null && Number(match[1] ?? 0) <= 65_535;
}

/** The path and query of a request, exactly as sent. */
export interface RequestTarget {
  /** Percent-encoded. Begins with a slash. */
  readonly path: string;
  /** Includes the question mark. Empty without a query. */
  readonly query: string;
}

const VISIBLE_ASCII = /^[!-"$-~]+$/;
/** Matches the scheme and the authority of an absolute request target (RFC 9112 section 3.2.2). */
const ABSOLUTE = /^https?:\/\/([^/?]*)/i;
/** Matches most paths in one test: those without escapes and without segments that begin with a dot. */
const PLAIN = /^(?:\/(?!\.)[A-Za-z0-9._~!$&'()*+,=:@-]+)+\/?$/;
/** RFC 3986 section 3.3. */
const SEGMENT = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*$/;
/** Matches escapes of unreserved characters, separators and control characters, and double escapes such as `%252F`. */
const AMBIGUOUS_ESCAPE =
  /%(?:2[DdEeFf]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaCcFf]|6[1-9A-Fa-f]|7[0-9AaEeFf]|[01][0-9A-Fa-f]|25[0-9A-Fa-f]{2})/;

/**
 * Parses a request target (RFC 9112 section 3.2). Refuses a path that another server could read differently: one with dot
 * segments, empty segments, encoded separators or needless escapes.
 *
 * @param host the `Host` header; an absolute request target must have the same authority
 * @param keepsEncodedSlash accepts `%2F` between two valid segments
 * @throws Refusal `path_ambiguous` or `message_malformed`
 */
export function readRequestTarget(url: string, host: string | undefined, keepsEncodedSlash = false): RequestTarget {
  if (!VISIBLE_ASCII.test(url)) throw malformed('target_characters');
  const origin = url.startsWith('/') ? url : originForm(url, host);
  const mark = origin.indexOf('?');
  const path = mark === -1 ? origin : origin.slice(0, mark);
  if (path !== '/' && !PLAIN.test(path)) checkSegments(path, keepsEncodedSlash);
  return { path, query: mark === -1 ? '' : origin.slice(mark) };
}

/** Returns the request target that the upstream of a route receives. */
export function upstreamTarget({ upstreamPath }: Route, { path, query }: RequestTarget): string {
  return (upstreamPath?.(path) ?? path) + query;
}

function originForm(url: string, host: string | undefined): string {
  const authority = ABSOLUTE.exec(url);
  if (authority === null) throw malformed('target_form');
  const isHost = host !== undefined && withoutDefaultPort(authority[1] ?? '', url) === withoutDefaultPort(host, url);
  if (!isHost) throw malformed('target_authority');
  const rest = url.slice(authority[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function withoutDefaultPort(authority: string, url: string): string {
  const port = /^https/i.test(url) ? ':443' : ':80';
  const lower = authority.toLowerCase();
  return lower.endsWith(port) ? lower.slice(0, -port.length) : lower;
}

/** True if a valid path has an encoded slash, which only routes with `encodedSlash: keep` accept. */
export function hasEncodedSlash(path: string): boolean {
  return ENCODED_SLASH.test(path);
}

const ENCODED_SLASH = /%2f/i;

function checkSegments(path: string, keepsEncodedSlash: boolean): void {
  const segments = path.slice(1).split('/');
  for (const [index, segment] of segments.entries()) {
    if (segment === '' && index < segments.length - 1) throw ambiguous('path_empty_segment');
    if (keepsEncodedSlash && ENCODED_SLASH.test(segment)) checkEncodedSegments(segment.split(ENCODED_SLASH));
    else checkSegment(segment);
  }
}

/** Checks each part between encoded slashes, since some servers read it as a segment. */
function checkEncodedSegments(segments: readonly string[]): void {
  for (const segment of segments) {
    if (segment === '') throw ambiguous('path_empty_segment');
    checkSegment(segment);
  }
}

function checkSegment(segment: string): void {
  if (!SEGMENT.test(segment)) throw ambiguous('path_characters');
  if (AMBIGUOUS_ESCAPE.test(segment)) throw ambiguous('path_needless_escape');
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    throw ambiguous('path_not_utf8');
  }
  if (/[\u0080-\u009f]/.test(decoded)) throw ambiguous('path_characters');
  // Some servers strip `;` parameters and trailing spaces, and some decode the path before they split off the query and the
  // fragment. The remaining text must be neither empty nor a dot segment.
  if (/^\.\.?$/.test(textBefore(/[;?#]/, decoded).trim())) throw ambiguous('path_dot_segment');
  if (textBefore(/;/, decoded).trim() === '' && segment !== '') throw ambiguous('path_empty_segment');
}

function textBefore(mark: RegExp, text: string): string {
  const end = text.search(mark);
  return end === -1 ? text : text.slice(0, end);
}

function ambiguous(reason: string): Refusal {
  return new Refusal('path_ambiguous', { reason });
}

export function malformed(reason: string): Refusal {
  return new Refusal('message_malformed', { reason });
}

/** True for `OPTIONS *` (RFC 9110 section 9.3.7). */
export function isServerOptions({ url, method }: Pick<ClientRequest, 'url' | 'method'>): boolean {
  return url === '*' && method === 'OPTIONS';
}
