import type { Duplex } from 'node:stream';
import { CONTENT_METHODS } from './http-methods.ts';
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

type Member = Exclude<keyof FoundHeaders, 'isAmbiguous'>;

/** By the name of the header in lower case. */
const MEMBERS = new Map<string, Member>();
for (const member of Object.keys(new FoundHeaders()) as (keyof FoundHeaders)[])
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
  // A copy of an object would take several times as long.
  const known = new FoundHeaders();
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

/** Parses trailers without the empty line. Returns `undefined` for malformed ones and for framing headers, which mean nothing here. */
export function parseTrailers(text: string): HeaderFields | undefined {
  if (!FIELDS.test(text)) return undefined;
  const fields = parseFields(text, 0);
  const { transferEncoding, contentLength } = fields.known;
  return transferEncoding === undefined && contentLength === undefined ? fields : undefined;
}

const CLOSE = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const KEEP_ALIVE = /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/i;

/**
 * True if a message with `Connection` allows another exchange on its connection (RFC 9112 section 9.3). Without it, a message of HTTP/1.1
 * allows it, and one of HTTP/1.0 does not.
 *
 * @param connection all values of `Connection`
 */
export function isPersistent(isHttp10: boolean, connection: string): boolean {
  if (connection === 'keep-alive') return true;
  return !CLOSE.test(connection) && (!isHttp10 || KEEP_ALIVE.test(connection));
}

/** The head of a request to an upstream, without the lines that its connection and its framing determine. */
export interface RequestLines {
  readonly method: string;
  readonly path: string;
  /** All headers except `Connection`, `Upgrade` and the framing headers, which the connection writes. */
  readonly headers: RawHeaders;
  /** True for a WebSocket handshake (RFC 6455 section 4.1). */
  readonly isHandshake: boolean;
  /** Bytes of the body; `undefined`: no body; `'chunked'`: a body of unknown length. */
  readonly length: number | 'chunked' | undefined;
}

/** Matches exactly one head, with nothing after it. */
const HEAD = new RegExp(`^[A-Z]+ [!-~]+ HTTP/1\\.1\\r\\n${FIELD_LINES}\\r\\n$`);
/**
 * Returns the head of a request as latin-1 (RFC 9112 section 3). It checks the complete head, so no value from a client can add a
 * second request.
 *
 * @throws Http1Error `request_malformed`
 */
export function formatRequestHead({ method, path, headers, isHandshake, length }: RequestLines): string {
  let text = `${method} ${path} HTTP/1.1\r\n${serializeHeaders(headers)}`;
  text += isHandshake ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : 'Connection: keep-alive\r\n';
  if (length === 'chunked') text += 'Transfer-Encoding: chunked\r\n';
  // RFC 9110 section 8.6: without a body, such a request has `Content-Length: 0`.
  else if (length !== undefined || CONTENT_METHODS.has(method)) text += `Content-Length: ${length ?? 0}\r\n`;
  text += '\r\n';
  if (!HEAD.test(text)) throw new Http1Error('request_malformed');
  return text;
}

/** The largest piece of a body that is copied into the same write as the text before it. */
export const SMALL_BYTES = 16_384;

/**
 * Writes bytes with text before and after them, small ones in one piece.
 *
 * @param onWritten called once the system has large bytes, and only then; small ones are copied
 */
export function writeBytes(
  socket: Duplex,
  before: string,
  bytes: Buffer,
  after = '',
  onWritten?: (bytes: Buffer) => void,
): void {
  if (bytes.length <= SMALL_BYTES) {
    const text = bytes.length === 0 ? before + after : before + bytes.toString('latin1') + after;
    if (text !== '') socket.write(text, 'latin1');
    return;
  }
  socket.cork();
  if (before !== '') socket.write(before, 'latin1');
  // After a failed write the system may still use the bytes.
  socket.write(bytes, (error) => {
    if (error == null) onWritten?.(bytes);
  });
  if (after !== '') socket.write(after, 'latin1');
  socket.uncork();
}
