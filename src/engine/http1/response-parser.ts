import { Http1Error } from './http1-error.ts';
import { FIELD_LINES, isPersistent, type MalformedPart, parseFields } from './message-head.ts';
import { BodyDecoder, HeadReader } from './message-reader.ts';
import type { ResponseHead, ResponseSink } from './upstream-request.ts';

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
function parseResponseHead(text: string): ResponseHead {
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
    isPersistent: connection === undefined ? minor === '1' : isPersistent(minor === '0', connection),
    keepAlive,
  };
}

/** Checks a complete status line, or the first part of one. Returns `undefined` if it is valid or may become so. */
function checkStatusLine(text: string): MalformedPart | undefined {
  const isValid = text.endsWith('\n') ? RESPONSE_HEAD.test(text) : VERSION.startsWith(text.slice(0, VERSION.length));
  return isValid ? undefined : 'message';
}

const DEFAULT_HEAD_LIMIT_BYTES = 16_384;
/** The limit does not count the end of the last line. */
const LINE_END_BYTES = 2;
/** The most informational (1xx) responses to one request, including 100. */
const MAX_INFORMATIONAL = 100;

/** `idle`: delivers nothing to a sink. `complete`: until the next `begin`. `upgraded`: the connection has switched to another protocol. */
type ParserState = 'idle' | 'head' | 'body' | 'complete' | 'upgraded';

type ParserSink = Pick<ResponseSink, 'onHead' | 'onData'>;

/**
 * Parses the responses on a connection, one for each call of `begin` (RFC 9112). Rejects every response that is invalid or
 * can be read in two ways. Delivers heads and body to the sink. The connection reads all other results from the parser after each
 * call of `parse`.
 */
export class ResponseParser {
  state: ParserState = 'idle';
  /** The latest head, of informational (1xx) responses too, except 100; `undefined` before the first one. */
  head: ResponseHead | undefined;
  readonly body = new BodyDecoder();
  /** True if the connection may carry another exchange after a complete response. */
  isReusable = false;
  /** The first bytes of the new protocol of an upgraded connection. */
  bytesAfterUpgrade: Buffer | undefined;
  readonly #headLimitBytes: number;
  readonly #heads = new HeadReader(checkStatusLine);
  #isHeadRequest = false;
  #informational = 0;

  constructor(headLimitBytes = DEFAULT_HEAD_LIMIT_BYTES) {
    this.#headLimitBytes = headLimitBytes + LINE_END_BYTES;
  }

  /** Prepares for the response to a request. @param method the method of the request: a response to HEAD has no body */
  begin(method: string): void {
    this.state = 'head';
    this.#isHeadRequest = method === 'HEAD';
    this.#informational = 0;
    this.head = undefined;
  }

  /**
   * Parses the next bytes. Bytes after the response make the connection unusable for another exchange.
   *
   * @throws Http1Error, and errors of the sink
   */
  parse(bytes: Buffer, sink: ParserSink): void {
    let at = 0;
    while (this.state === 'head' && at < bytes.length) {
      const text = this.#heads.read(bytes, at, this.#headLimitBytes);
      if (this.#heads.error === 'too_large') throw new Http1Error('response_head_too_large');
      if (this.#heads.error !== undefined) throw malformed();
      if (text === '') return;
      at = this.#heads.end;
      this.#acceptHead(parseResponseHead(text), sink);
    }
    if (this.state === 'upgraded' && at < bytes.length) this.bytesAfterUpgrade = bytes.subarray(at);
    if (this.state !== 'body') return;
    const { body } = this;
    const data = body.decode(bytes, at);
    if (body.error !== undefined) throw malformed();
    if (data.length > 0) sink.onData(data);
    // The sink may have stopped the parser.
    if (!body.isComplete || (this.state as ParserState) !== 'body') return;
    this.state = 'complete';
    const { connection } = body.trailers.known;
    const mayContinue = connection === undefined || isPersistent(false, connection);
    this.isReusable &&= mayContinue && body.end === bytes.length;
  }

  /** Ends the input: the upstream closed its side. Returns false if the response is not complete. */
  end(): boolean {
    if (this.state !== 'body' || !this.body.isUntilClose) return false;
    this.state = 'complete';
    this.isReusable = false;
    return true;
  }

  #acceptHead(head: ResponseHead, sink: ParserSink): void {
    // The gateway sends no `Expect`, so 100 has no meaning here (RFC 9110 section 15.2.1).
    if (head.status !== 100) this.head = head;
    if (head.status === 101) {
      this.state = 'upgraded';
      return;
    }
    if (head.status >= 200) {
      const { isPersistent: mayPersist, isChunked, contentLength } = head;
      const isBodiless = this.#isHeadRequest || head.status === 204 || head.status === 304;
      const length = isChunked ? 'chunked' : Number.isNaN(contentLength) ? Number.POSITIVE_INFINITY : contentLength;
      // Some servers send a body although this response must not have one. The next exchange would read it as its response.
      const mayHaveLateBody = isBodiless && (isChunked || contentLength > 0);
      this.isReusable = mayPersist && !mayHaveLateBody;
      this.state = 'body';
      this.body.begin(isBodiless ? 0 : length);
    }
    // Each informational response restarts the response time limit, so a server could hold an exchange open forever.
    else if (++this.#informational > MAX_INFORMATIONAL) throw new Http1Error('informational_too_many');
    if (head.status !== 100) sink.onHead(head);
  }
}

function malformed(): Http1Error {
  return new Http1Error('response_malformed');
}
