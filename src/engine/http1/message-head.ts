import { Http1Error } from './http1-error.ts';
import type { RawHeaders } from './raw-headers.ts';

/**
 * Field lines (RFC 9112 section 5) as a regular expression for latin-1 text: no folding, and no blank before the colon. Most values have only
 * printable ASCII, which one range tests in half the time.
 */
export const FIELD_LINES = /(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[ -~]*(?:[\t\x80-\xff][ -~]*)*\r\n)*/.source;

/** The headers that determine the framing, the routing and the response of a message. The values of a repeated one are joined by commas. */
class FoundHeaders {
  host: string | undefined = undefined;
  authorization: string | undefined = undefined;
  contentType: string | undefined = undefined;
  contentLength: string | undefined = undefined;
  transferEncoding: string | undefined = undefined;
  connection: string | undefined = undefined;
  keepAlive: string | undefined = undefined;
  expect: string | undefined = undefined;
  maxForwards: string | undefined = undefined;
  origin: string | undefined = undefined;
  traceparent: string | undefined = undefined;
  upgrade: string | undefined = undefined;
  via: string | undefined = undefined;
  /** True if one of the first five is repeated: servers disagree on which of them they use. */
  isAmbiguous = false;
}

export type KnownHeaders = Readonly<FoundHeaders>;

/** The headers of a message, as received, and the known ones. */
export interface HeaderFields {
  readonly headers: string[];
  readonly known: KnownHeaders;
}

const NO_HEADERS = new FoundHeaders();

type Member = Exclude<keyof FoundHeaders, 'isAmbiguous'>;

/** By the name of the header in lower case. */
const MEMBERS = new Map<string, Member>();
for (const member of Object.keys(NO_HEADERS) as (keyof FoundHeaders)[])
  if (member !== 'isAmbiguous')
    MEMBERS.set(
      member.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      member,
    );
const SINGLE = new Set<Member>(['host', 'authorization', 'contentType', 'contentLength', 'transferEncoding']);

/** The name of a header as received, and the member that has its value. */
interface HeaderName {
  readonly rawName: string;
  readonly member: Member | undefined;
}

const SLOTS = 1_024;
/** The names in use, by their length and two of their characters. Invented names replace others, which costs little. */
const names = Array.from({ length: SLOTS }, (): HeaderName => ({ rawName: '', member: undefined }));
/** Longer names are not kept. */
const MAX_KEPT_LENGTH = 64;
const SPACE = 0x20;

/** Splits valid field lines into names and values, and finds the known headers. */
export function parseFields(text: string, start: number): HeaderFields {
  const headers: string[] = [];
  const known = { ...NO_HEADERS };
  for (let at = start; at < text.length; ) {
    const colon = text.indexOf(':', at);
    const end = text.indexOf('\r', colon);
    let first = colon + 1;
    let last = end;
    // Space and tab are the only characters of a valid line that are not above a space.
    while (first < last && text.charCodeAt(first) <= SPACE) first += 1;
    while (first < last && text.charCodeAt(last - 1) <= SPACE) last -= 1;
    const written = text.slice(at, colon);
    const { length } = written;
    const slot = (length * 37 + written.charCodeAt(0) * 5 + written.charCodeAt(length - 1)) % SLOTS;
    let name = names[slot] as HeaderName;
    // To change the letter case of each name, or to look it up in a `Map`, would take four times as long.
    if (name.rawName !== written) name = keepName(written, slot);
    const { rawName, member } = name;
    const value = text.slice(first, last);
    headers.push(rawName, value);
    if (member !== undefined) {
      const previous = known[member];
      known[member] = previous === undefined ? value : `${previous}, ${value}`;
      if (previous !== undefined && SINGLE.has(member)) known.isAmbiguous = true;
    }
    at = end + 2;
  }
  return { headers, known };
}

function keepName(rawName: string, slot: number): HeaderName {
  // A copy, because a slice would keep the complete head in memory, with its token.
  const copy = Buffer.from(rawName, 'latin1').toString('latin1');
  const name = { rawName: copy, member: MEMBERS.get(rawName.toLowerCase()) };
  if (rawName.length <= MAX_KEPT_LENGTH) names[slot] = name;
  return name;
}

const FIELDS = new RegExp(`^${FIELD_LINES}$`);

/** True for complete field lines that are valid. */
export function areFieldLines(text: string): boolean {
  return FIELDS.test(text);
}

/** Returns the field lines of a message (RFC 9112 section 5), each with its CRLF. */
export function serializeHeaders(headers: RawHeaders): string {
  let lines = '';
  for (let index = 0; index < headers.length; index += 2) lines += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return lines;
}

/** The part of a head that is malformed: the form of the request line, or anything else in the message. */
export type MalformedPart = 'request_line' | 'message';

/** `too_large`: the head exceeds its limit; `body`: the framing of the body is broken; `late`: the request did not arrive in time. */
export type RequestErrorKind = MalformedPart | 'too_large' | 'body' | 'late';

/** The head of a response (RFC 9112 section 4). Its text is latin-1. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly headers: RawHeaders;
  /** NaN if the head has no `Content-Length`: the body is chunked, or ends with the connection. */
  readonly contentLength: number;
  readonly isChunked: boolean;
  /** All values of `Connection`. */
  readonly connection: string | undefined;
  /** True if the connection may carry another exchange (RFC 9112 section 9.3). */
  readonly isPersistent: boolean;
  /** The value of `Keep-Alive`. */
  readonly keepAlive: string | undefined;
}

/** Matches a complete head without its empty line. A head that does not match is invalid, or can be read in two ways. */
const RESPONSE_HEAD = new RegExp(
  `^HTTP/1\\.([01]) ([1-9]\\d\\d)(?: ([\\t\\x20-\\x7e\\x80-\\xff]*))?\\r\\n${FIELD_LINES}$`,
);
const VERSION = 'HTTP/1.';
const CONTENT_LENGTH = /^\d{1,15}$/;

/**
 * Parses a head without its empty line. Rejects repeated or conflicting framing headers (RFC 9112 section 6.3).
 *
 * @throws Http1Error `response_malformed`
 */
export function parseResponseHead(text: string): ResponseHead {
  const [, minor, code, reason = ''] = RESPONSE_HEAD.exec(text) ?? [];
  if (code === undefined) throw malformed();
  const { headers, known } = parseFields(text, text.indexOf('\n') + 1);
  const { contentLength: length, transferEncoding: encoding, connection, keepAlive } = known;
  const isChunked = encoding?.toLowerCase() === 'chunked';
  if (encoding !== undefined && (!isChunked || length !== undefined || minor === '0')) throw malformed();
  if (length !== undefined && !CONTENT_LENGTH.test(length)) throw malformed();
  return {
    status: Number(code),
    reason,
    headers,
    contentLength: length === undefined ? Number.NaN : Number(length),
    isChunked,
    connection,
    isPersistent: isPersistent(minor === '0', connection),
    keepAlive,
  };
}

/** Checks a complete status line, or the first part of one. Returns `undefined` if it is valid or may become so. */
export function checkStatusLine(text: string): MalformedPart | undefined {
  const isValid = text.endsWith('\n') ? RESPONSE_HEAD.test(text) : VERSION.startsWith(text.slice(0, VERSION.length));
  return isValid ? undefined : 'message';
}

/** Parses trailers without the empty line. Returns `undefined` for malformed ones and for framing headers, which mean nothing here. */
export function parseTrailers(text: string): HeaderFields | undefined {
  if (!FIELDS.test(text)) return undefined;
  const fields = parseFields(text, 0);
  const { transferEncoding, contentLength } = fields.known;
  return transferEncoding === undefined && contentLength === undefined ? fields : undefined;
}

const CLOSE = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const KEEP_ALIVE = /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/i;

/** True if a message allows another exchange on its connection (RFC 9112 section 9.3). @param connection all values of `Connection` */
export function isPersistent(isHttp10: boolean, connection: string | undefined): boolean {
  if (connection === undefined || connection === 'keep-alive') return !isHttp10 || connection !== undefined;
  return !CLOSE.test(connection) && (!isHttp10 || KEEP_ALIVE.test(connection));
}

function malformed(): Http1Error {
  return new Http1Error('response_malformed');
}
