import { FIELD_LINES } from './grammar.ts';
import { Http1Error } from './http1-error.ts';

/** The head of an upstream's answer (RFC 9112 section 4), its text as latin-1. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  /** Bytes of the body as stated; NaN where that is not, since it is chunked, or ends with the connection. */
  readonly contentLength: number;
  readonly isChunked: boolean;
  /** The connection may carry another exchange (RFC 9112 section 9.3). */
  readonly isPersistent: boolean;
  /** Value of `Keep-Alive`. */
  readonly keepAlive: string | undefined;
}

/** The whole head but for the empty line: what does not match has no reading, or more than one. */
const HEAD = new RegExp(`^HTTP/1\\.([01]) ([1-9]\\d\\d)(?: ([\\t\\x20-\\x7e\\x80-\\xff]*))?\\r\\n${FIELD_LINES}$`);
const FIELDS = new RegExp(`^${FIELD_LINES}$`);
/** A line that has not come whole. */
const PARTIAL_LINE = /^[\t\x20-\x7e\x80-\xff]*\r?$/;
const VERSION = 'HTTP/1.';
const FRAMING_NAME = /^(?:transfer-encoding|content-length)$/i;
const CONTENT_LENGTH = /^\d{1,15}$/;

/**
 * Reads a head, without its empty line. Framing is believed when it is stated once and in one way (RFC 9112 section 6.3).
 *
 * @throws WireError `response_malformed`
 */
export function parseResponseHead(text: string): ResponseHead {
  const [, minor, code, reason = ''] = HEAD.exec(text) ?? [];
  if (code === undefined) throw malformed();
  const status = Number(code);
  const headers = parseFields(text, text.indexOf('\n') + 1);
  let contentLength = Number.NaN;
  let isChunked = false;
  let connection: string | undefined;
  let keepAlive: string | undefined;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    // To fold the letter case of every name would show in the throughput.
    if (name.length === 14 && name.toLowerCase() === 'content-length') {
      if (!Number.isNaN(contentLength) || !CONTENT_LENGTH.test(value)) throw malformed();
      contentLength = Number(value);
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      if (isChunked || value.toLowerCase() !== 'chunked') throw malformed();
      isChunked = true;
    } else if (name.length === 10) {
      if (isConnectionName(name)) connection = connection === undefined ? value : `${connection},${value}`;
      else if (name.toLowerCase() === 'keep-alive') keepAlive = value;
    }
  }
  if (isChunked && (minor === '0' || !Number.isNaN(contentLength))) throw malformed();
  return {
    status,
    reason,
    headers,
    contentLength,
    isChunked,
    isPersistent: isPersistent(minor === '0', connection),
    keepAlive,
  };
}

/**
 * Reads the lines of trailers, without the empty one. The framing has been said by then: to speak of it again is a fault.
 *
 * @throws WireError `response_malformed`
 */
export function parseTrailers(text: string): string[] {
  if (!FIELDS.test(text)) throw malformed();
  const fields = parseFields(text, 0);
  if (fields.some((name, index) => index % 2 === 0 && FRAMING_NAME.test(name))) throw malformed();
  return fields;
}

/** Whether a head may begin like this that has not come whole. */
export function isPartialHead(text: string): boolean {
  const line = text.lastIndexOf('\r\n') + 2;
  if (line === 1) return VERSION.startsWith(text.slice(0, VERSION.length)) && PARTIAL_LINE.test(text);
  return HEAD.test(text.slice(0, line)) && PARTIAL_LINE.test(text.slice(line));
}

/** Whether fields say that the connection closes; trailers may, too. */
export function hasConnectionClose(fields: readonly string[]): boolean {
  return fields.some((text, index) => index % 2 === 0 && isConnectionName(text) && CLOSE.test(fields[index + 1] ?? ''));
}

const CLOSE = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const KEEP_ALIVE = /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/i;

function isPersistent(isOld: boolean, connection: string | undefined): boolean {
  if (connection === undefined || connection === 'keep-alive') return !isOld || connection !== undefined;
  return !CLOSE.test(connection) && (!isOld || KEEP_ALIVE.test(connection));
}

/** Takes lines apart that are known to be fields. */
function parseFields(text: string, start: number): string[] {
  const fields: string[] = [];
  for (let at = start; at < text.length; ) {
    const colon = text.indexOf(':', at);
    const end = text.indexOf('\r', colon);
    let first = colon + 1;
    let last = end;
    while (first < last && isWhitespace(text.charCodeAt(first))) first += 1;
    while (first < last && isWhitespace(text.charCodeAt(last - 1))) last -= 1;
    fields.push(text.slice(at, colon), text.slice(first, last));
    at = end + 2;
  }
  return fields;
}

function isConnectionName(name: string): boolean {
  return name.length === 10 && name.toLowerCase() === 'connection';
}

function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function malformed(): Http1Error {
  return new Http1Error('response_malformed');
}
