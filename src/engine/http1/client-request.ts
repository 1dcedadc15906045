import type { PacedSource } from './event-loop.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { REQUEST_METHODS } from './http-methods.ts';
import { FIELD_LINES, type HeaderFields, type KnownHeaders, type MalformedPart, parseFields } from './message-head.ts';
import { getAllHeaders } from './raw-headers.ts';

/** Receives a request body. */
export interface BodySink {
  onBodyData(bytes: Buffer): void;
  onBodyEnd(): void;
  /** The client disconnected before the end of the body. */
  onBodyClose(): void;
}

/** The connection that reads a request body. */
export interface BodyConnection extends PacedSource {
  /** Parses the part of the body that was read together with the head. */
  parseBody(): void;
}

/** Receives the bytes of a request body as they arrive, and does not affect their flow. */
export interface BodyTap {
  add(bytes: Buffer): void;
  /** Called after the last byte of a complete body. */
  end(): void;
}

/**
 * The framing of a body (RFC 9112 section 6.3): its length in bytes, or `chunked`, or `undefined` without a body. Otherwise the reason why
 * the end of the message is unknown.
 */
type BodyFraming = number | 'chunked' | 'transfer_encoding' | 'content_length' | undefined;

const CONTENT_LENGTH = /^(?:0|[1-9]\d{0,15})$/;
/** The connection stops reading while this much of a body waits for its reader. */
const MAX_WAITING_BYTES = 65_536;

/** A request that a client sends: its head, and its body as it arrives. */
export class ClientRequest {
  readonly method: string;
  /** The request target (RFC 9112 section 3.2), as received. */
  readonly url: string;
  /** For example `1.1`. */
  readonly httpVersion: string;
  readonly rawHeaders: string[];
  readonly known: KnownHeaders;
  readonly framing: BodyFraming;
  /** True once the complete request has arrived. */
  isComplete: boolean;
  readonly #connection: BodyConnection;
  #sink: BodySink | undefined;
  #tap: BodyTap | undefined;
  /** Bytes that arrived before there was a reader, or while it paused. */
  #waiting: GrowingBuffer | undefined;
  #isPaused = false;
  #hasEnded = false;
  #isClosed = false;

  constructor(method: string, url: string, httpVersion: string, fields: HeaderFields, connection: BodyConnection) {
    const { headers, known } = fields;
    this.method = method;
    this.url = url;
    this.httpVersion = httpVersion;
    this.rawHeaders = headers;
    this.known = known;
    this.framing = framingOf(known, httpVersion);
    this.isComplete = this.framing === undefined;
    this.#connection = connection;
  }

  /** Returns all values of a header, joined by commas; `undefined` without one. @param name in lower case */
  header(name: string): string | undefined {
    const values = getAllHeaders(this.rawHeaders, name);
    return values.length === 0 ? undefined : values.join(', ');
  }

  /** True if the connection should read more of the body. */
  get mayRead(): boolean {
    return this.#sink === undefined ? (this.#waiting?.size ?? 0) < MAX_WAITING_BYTES : !this.#isPaused;
  }

  /** True while a reader waits for bytes that the client has not sent. */
  get isAwaited(): boolean {
    return this.#sink !== undefined && !this.#isPaused && !this.isComplete;
  }

  /** Delivers the body to a reader from now on, beginning with the bytes that wait. */
  readBody(sink: BodySink): void {
    this.#sink = sink;
    if (this.#isClosed) {
      sink.onBodyClose();
      return;
    }
    this.resume();
    // Most bodies come in one read with their head. Their readers have them now, and wait for nothing.
    this.#connection.parseBody();
  }

  /** Reads and drops the rest of the body. */
  discardBody(): void {
    this.readBody(DISCARD);
  }

  /** Shows the body to a tap: the bytes that wait now, and the others as they arrive. Called before the body is read. */
  tapBody(tap: BodyTap): void {
    if (this.#waiting !== undefined) tap.add(this.#waiting.bytes());
    if (this.isComplete) tap.end();
    else this.#tap = tap;
  }

  pause(): void {
    if (this.#sink === DISCARD) return;
    this.#isPaused = true;
    this.#connection.updateReads();
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliver();
    this.#connection.updateReads();
  }

  /** The connection has read bytes of the body. */
  receive(bytes: Buffer): void {
    this.#tap?.add(bytes);
    if (this.#sink !== undefined && !this.#isPaused && this.#waiting === undefined) {
      this.#sink.onBodyData(bytes);
      return;
    }
    this.#waiting ??= new GrowingBuffer(Number.POSITIVE_INFINITY);
    this.#waiting.add(bytes);
  }

  /** The connection has read the complete request. */
  complete(): void {
    this.isComplete = true;
    this.#tap?.end();
    this.#tap = undefined;
    this.#deliver();
  }

  /** The client has disconnected. */
  close(): void {
    this.#isClosed = true;
    if (!this.#hasEnded) this.#sink?.onBodyClose();
    this.#tap = undefined;
    this.#waiting = undefined;
  }

  #deliver(): void {
    if (this.#sink === undefined || this.#isPaused) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.#sink.onBodyData(waiting.bytes());
    if (!this.isComplete || this.#isPaused || this.#hasEnded) return;
    this.#hasEnded = true;
    this.#sink.onBodyEnd();
  }
}

const DISCARD: BodySink = { onBodyData: () => {}, onBodyEnd: () => {}, onBodyClose: () => {} };

function framingOf({ contentLength: length, transferEncoding: encoding }: KnownHeaders, version: string): BodyFraming {
  if (encoding !== undefined) {
    const isChunked = length === undefined && version === '1.1' && encoding.toLowerCase() === 'chunked';
    return isChunked ? 'chunked' : 'transfer_encoding';
  }
  if (length === undefined) return undefined;
  if (!CONTENT_LENGTH.test(length)) return 'content_length';
  return length === '0' ? undefined : Number(length);
}

/** One empty line may precede it (RFC 9112 section 2.2). */
const REQUEST_LINE = '(?:\\r\\n)?([^\\0-\\x20\\x7f]+) ([^\\0-\\x20\\x7f]+) HTTP/(\\d\\.\\d)\\r\\n';
/** Matches a complete head without its empty line. A head that does not match is invalid, or can be read in two ways. */
const REQUEST_HEAD = new RegExp(`^${REQUEST_LINE}${FIELD_LINES}$`);
const LINE = new RegExp(`^${REQUEST_LINE}`);
/** Some servers, and llhttp, read no `chunked` before a tab. */
const TAB_BEHIND_CODING = /\ntransfer-encoding:[^\r]*\t *\r/i;
const PARTIAL_LINE = /^(?:\r\n)?([^\0-\x20\x7f]*)(?: (?:[^\0-\x20\x7f]+(?: (.*))?)?)?$/s;
/** Matches the origin, absolute and asterisk forms (RFC 9112 section 3.2). */
const TARGET_START = /^(?:\/|[A-Za-z]+:\/\/|\*$)/;
const VERSION_SHAPE = 'HTTP/0.0\r';
/** Of a longer request line that is not complete, only the characters are checked. */
const MAX_LINE_BYTES = 256;

/** Checks a complete request line, or the first part of one. Returns `undefined` if it is valid or may become so. */
export function checkRequestLine(text: string): MalformedPart | undefined {
  if (text.endsWith('\n') && text !== '\r\n') return LINE.test(text) ? undefined : 'request_line';
  if (text === '\r' || text.length > MAX_LINE_BYTES) return undefined;
  const [match, method = '', version = ''] = PARTIAL_LINE.exec(text) ?? [];
  if (match === undefined || !VERSION_SHAPE.startsWith(version.replaceAll(/\d/g, '0'))) return 'request_line';
  const isKnown = text.includes(' ') ? REQUEST_METHODS.has(method) : isMethodStart(method);
  return isKnown ? undefined : 'message';
}

function isMethodStart(text: string): boolean {
  return REQUEST_METHODS.keys().some((method) => method.startsWith(text));
}

/** Parses a head, in latin-1, without the empty line after it. The request line has exactly one space between its parts. */
export function parseRequest(text: string, connection: BodyConnection): ClientRequest | MalformedPart {
  const [, name, target, version] = REQUEST_HEAD.exec(text) ?? [];
  if (name === undefined || target === undefined || version === undefined)
    return LINE.test(text) ? 'message' : 'request_line';
  const method = REQUEST_METHODS.get(name);
  if (method === undefined || !(method === 'CONNECT' || TARGET_START.test(target))) return 'message';
  // The first two characters may be the empty line.
  const fields = parseFields(text, text.indexOf('\n', 2) + 1);
  if (fields.known.transferEncoding !== undefined && TAB_BEHIND_CODING.test(text)) return 'message';
  return new ClientRequest(method, target, version === '1.1' ? '1.1' : version, fields, connection);
}
