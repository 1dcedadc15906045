import { FIELD_LINES } from './grammar.ts';
import { type HeaderFields, parseFields } from './header-fields.ts';
import { REQUEST_METHODS } from './http-methods.ts';

/** The request line and the header lines of a request (RFC 9112 sections 3 and 5). */
export interface RequestLines extends HeaderFields {
  readonly method: string;
  readonly target: string;
  /** For example `1.1`. */
  readonly version: string;
}

/** The part of a head that is malformed: the form of the request line, or anything else in the message. */
export type MalformedPart = 'request_line' | 'message';

/** `too_large`: the head exceeds its limit; `body`: the framing of the body is broken; `late`: the request did not arrive in time. */
export type RequestErrorKind = MalformedPart | 'too_large' | 'body' | 'late';

const REQUEST_LINE = '([^\\0-\\x20\\x7f]+) ([^\\0-\\x20\\x7f]+) HTTP/(\\d\\.\\d)\\r\\n';
/** Matches a complete head without its empty line. A head that does not match is invalid, or can be read in two ways. */
const HEAD = new RegExp(`^${REQUEST_LINE}${FIELD_LINES}$`);
const LINE = new RegExp(`^${REQUEST_LINE}`);
const FIELDS = new RegExp(`^${FIELD_LINES}$`);
const PARTIAL_LINE = /^([^\0-\x20\x7f]*)(?: (?:[^\0-\x20\x7f]+(?: (.*))?)?)?$/s;
/** Matches the origin, absolute and asterisk forms (RFC 9112 section 3.2). */
const TARGET_START = /^(?:\/|[A-Za-z]+:\/\/|\*$)/;
const VERSION_SHAPE = 'HTTP/0.0\r';

/** One empty line may precede a request (RFC 9112 section 2.2). */
export function withoutEmptyLine(text: string): string {
  return text.startsWith('\r\n') ? text.slice(2) : text;
}

/**
 * Parses a head, in latin-1, without the empty line after it. The request line has exactly one space between its parts.
 */
export function parseRequestLines(head: string): RequestLines | MalformedPart {
  const text = withoutEmptyLine(head);
  const [, name, target, version] = HEAD.exec(text) ?? [];
  if (name === undefined || target === undefined || version === undefined)
    return LINE.test(text) ? 'message' : 'request_line';
  const method = REQUEST_METHODS.get(name);
  if (method === undefined || !(method === 'CONNECT' || TARGET_START.test(target))) return 'message';
  const { headers, known } = parseFields(text, text.indexOf('\n') + 1);
  return { method, target, version: version === '1.1' ? '1.1' : version, headers, known };
}

/** Checks a complete request line, or the first part of one. Returns `undefined` if it is valid or may become so. */
export function checkRequestLine(text: string): MalformedPart | undefined {
  if (text.endsWith('\n')) return LINE.test(text) ? undefined : 'request_line';
  if (text === '\r') return undefined;
  const [match, method = '', version = ''] = PARTIAL_LINE.exec(text) ?? [];
  if (match === undefined || !VERSION_SHAPE.startsWith(version.replaceAll(/\d/g, '0'))) return 'request_line';
  const isKnown = text.length === method.length ? isMethodStart(method) : REQUEST_METHODS.has(method);
  return isKnown ? undefined : 'message';
}

/** Checks complete field lines. */
export function checkFieldLines(text: string): MalformedPart | undefined {
  return FIELDS.test(text) ? undefined : 'message';
}

function isMethodStart(text: string): boolean {
  return REQUEST_METHODS.keys().some((method) => method.startsWith(text));
}
