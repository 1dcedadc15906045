import { FIELD_LINES } from './grammar.ts';
import { parseFields } from './header-fields.ts';
import { Http1Error } from './http1-error.ts';
import { getAllHeaders, type RawHeaders } from './raw-headers.ts';

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
const HEAD = new RegExp(`^HTTP/1\\.([01]) ([1-9]\\d\\d)(?: ([\\t\\x20-\\x7e\\x80-\\xff]*))?\\r\\n${FIELD_LINES}$`);
const FIELDS = new RegExp(`^${FIELD_LINES}$`);
/** The first byte may end a line that was checked before. */
const PARTIAL_TEXT = /^\n?[\t\x20-\x7e\x80-\xff]*(?:\r\n[\t\x20-\x7e\x80-\xff]*)*\r?$/;
const VERSION = 'HTTP/1.';
const CONTENT_LENGTH = /^\d{1,15}$/;

/**
 * Parses a head without its empty line. Rejects repeated or conflicting framing headers (RFC 9112 section 6.3).
 *
 * @throws Http1Error `response_malformed`
 */
export function parseResponseHead(text: string): ResponseHead {
  const [, minor, code, reason = ''] = HEAD.exec(text) ?? [];
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

/** Parses trailers without the empty line. Returns `undefined` for malformed ones and for framing headers, which mean nothing here. */
export function parseTrailers(text: string): RawHeaders | undefined {
  if (!FIELDS.test(text)) return undefined;
  const { headers, known } = parseFields(text, 0);
  return known.transferEncoding === undefined && known.contentLength === undefined ? headers : undefined;
}

/**
 * Checks an incomplete head whose last read begins at `start`, so that one that cannot become valid fails at once. Looks at each byte once,
 * however small the reads are. Returns the number of bytes whose lines are checked.
 *
 * @param checked the result for the read before
 * @throws Http1Error `response_malformed`
 */
export function checkPartialHead(bytes: Buffer, start: number, checked: number): number {
  const before = Math.max(0, start - 1);
  const text = bytes.toString('latin1', before);
  const isBegun = checked > 0 || VERSION.startsWith(bytes.toString('latin1', 0, VERSION.length));
  if (!isBegun || !PARTIAL_TEXT.test(text)) throw malformed();
  const end = before + text.lastIndexOf('\n') + 1;
  if (!text.includes('\n') || end <= checked) return checked;
  if (!(checked === 0 ? HEAD : FIELDS).test(bytes.toString('latin1', checked, end))) throw malformed();
  return end;
}

/** True if headers or trailers close the connection. */
export function hasConnectionClose(headers: RawHeaders): boolean {
  return getAllHeaders(headers, 'connection').some((value) => CLOSE.test(value));
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
