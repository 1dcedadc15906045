import { Refusal } from '../response/refusal.ts';

/** Where a request wants to go, byte for byte as the client sent it. */
export interface RequestTarget {
  /** Still encoded; begins with a slash. */
  readonly path: string;
  /** With its question mark, or empty. */
  readonly query: string;
}

const VISIBLE_ASCII = /^[!-"$-~]+$/;
const ABSOLUTE = /^https?:\/\/([^/?]*)/i;
/** Paths in which nothing is encoded and no segment begins with a dot: most of them, passed in one look. */
const PLAIN = /^(?:\/(?!\.)[A-Za-z0-9._~!$&'()*+,=:@-]+)+\/?$/;
/** RFC 3986 section 3.3, less the escapes. */
const SEGMENT = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*$/;
/** Escapes of unreserved characters, of separators and controls, and of a percent sign that begins a second escape. */
const SECOND_SPELLING =
  /%(?:2[DdEeFf]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaCcFf]|6[1-9A-Fa-f]|7[0-9AaEeFf]|[01][0-9A-Fa-f]|25[0-9A-Fa-f]{2})/;

/**
 * Reads the target of a request line (RFC 9112 section 3.2). A path that some server could read in two ways
 * is refused, whatever it would match: dot segments, empty segments, encoded separators, needless escapes.
 *
 * @param host the Host header; an absolute target must name the same authority
 * @param keepsEncodedSlash passes `%2F` between what would be two segments of a sound path
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

/** Whether a path that the guard has passed holds an encoded slash: it is for those routes alone that keep one. */
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

/** What some server would read as segments must be sound as such, and none of them empty. */
function checkEncodedSegments(segments: readonly string[]): void {
  for (const segment of segments) {
    if (segment === '') throw ambiguous('path_empty_segment');
    checkSegment(segment);
  }
}

function checkSegment(segment: string): void {
  if (!SEGMENT.test(segment)) throw ambiguous('path_characters');
  if (SECOND_SPELLING.test(segment)) throw ambiguous('path_needless_escape');
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    throw ambiguous('path_not_utf8');
  }
  if (/[\u0080-\u009f]/.test(decoded)) throw ambiguous('path_characters');
  // What is left when a server strips `;` parameters and trailing blanks must still be a segment; and a server
  // that decodes before it cuts query and fragment off must not be left with a dot segment.
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

function malformed(reason: string): Refusal {
  return new Refusal('message_malformed', { reason });
}
