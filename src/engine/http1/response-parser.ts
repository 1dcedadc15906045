import { ChunkedDecoder } from './chunked-decoder.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { Http1Error } from './http1-error.ts';
import { checkPartialHead, hasConnectionClose, parseResponseHead, type ResponseHead } from './message-head.ts';
import type { RawHeaders } from './raw-headers.ts';
import type { FlowControl, ResponseSink } from './upstream-request.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const NO_BYTES = Buffer.alloc(0);
const DEFAULT_HEAD_LIMIT_BYTES = 16_384;
/** The most informational (1xx) responses to one request, including 100. */
const MAX_INFORMATIONAL = 100;
const NO_TRAILERS: RawHeaders = [];

/** `complete`: until the next `begin`. `upgraded`: the connection has switched to another protocol. */
type ParserState = 'idle' | 'head' | 'counted' | 'chunked' | 'until close' | 'complete' | 'upgraded';

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
  /** The trailers of a complete response. */
  trailers = NO_TRAILERS;
  /** True if the connection may carry another exchange after a complete response. */
  isReusable = false;
  readonly #connection: FlowControl;
  readonly #headLimitBytes: number;
  #isHeadRequest = false;
  #informational = 0;
  /** The beginning of an incomplete head. */
  #partial: GrowingBuffer | undefined;
  /** The number of its bytes whose lines are checked. */
  #checked = 0;
  /** After an upgrade, the bytes after the head. */
  #pending: Buffer | undefined;
  /** Bytes of a counted body still to come. */
  #remaining = 0;
  #decoder: ChunkedDecoder | undefined;

  /** @param connection is passed to the sink with each event */
  constructor(connection: FlowControl, headLimitBytes = DEFAULT_HEAD_LIMIT_BYTES) {
    this.#connection = connection;
    this.#headLimitBytes = headLimitBytes;
  }

  /** True from the head of a response to the end of its body. */
  get isInBody(): boolean {
    return this.state === 'counted' || this.state === 'chunked' || this.state === 'until close';
  }

  /** The first bytes of the new protocol of an upgraded connection. */
  get bytesAfterUpgrade(): Buffer {
    return this.#pending ?? NO_BYTES;
  }

  /** The chunks with data in the latest read, incomplete ones included; 0 if the body is not chunked. */
  get chunkCount(): number {
    return this.#decoder?.chunkCount ?? 0;
  }

  /** Prepares for the response to a request. @param method the method of the request: a response to HEAD has no body */
  begin(method: string): void {
    this.state = 'head';
    this.#isHeadRequest = method === 'HEAD';
    this.#informational = 0;
    this.head = undefined;
    this.trailers = NO_TRAILERS;
  }

  /** Delivers nothing more to a sink. */
  stop(): void {
    this.state = 'idle';
  }

  /**
   * Parses the next bytes. Bytes after the response make the connection unusable for another exchange.
   *
   * @throws Http1Error, and errors of the sink
   */
  parse(bytes: Buffer, sink: ParserSink): void {
    let at = 0;
    let unread = bytes;
    let searched = 0;
    if (this.#partial !== undefined) {
      searched = this.#partial.bytes().length;
      this.#partial.add(bytes);
      unread = this.#partial.bytes();
    }
    while (this.state === 'head') {
      const end = unread.indexOf(HEAD_END, Math.max(at, searched - HEAD_END.length + 1));
      if ((end === -1 ? unread.length : end) - at > this.#headLimitBytes)
        throw new Http1Error('response_head_too_large');
      if (end === -1) {
        if (at < unread.length) this.#checkPartialHead(unread, at, searched);
        return;
      }
      this.#partial = undefined;
      this.#checked = 0;
      const head = parseResponseHead(unread.toString('latin1', at, end + 2));
      at = end + HEAD_END.length;
      this.#acceptHead(head, unread, at, sink);
    }
    if (this.state === 'counted') this.#parseCounted(unread, at, sink);
    else if (this.state === 'chunked') this.#parseChunks(unread, at);
    else if (this.state === 'until close' && at < unread.length) sink.onData(unread.subarray(at), this.#connection);
  }

  /** Ends the input: the upstream closed its side. Returns false if the response is not complete. */
  end(): boolean {
    if (this.state !== 'until close') return false;
    this.#finish(NO_TRAILERS, false);
    return true;
  }

  /** Stores an incomplete head. Rejects one that cannot become valid at once instead of at the time limit. */
  #checkPartialHead(bytes: Buffer, at: number, searched: number): void {
    this.#checked = checkPartialHead(bytes.subarray(at), Math.max(0, searched - at), this.#checked);
    if (this.#partial !== undefined) return;
    this.#partial = new GrowingBuffer(Number.POSITIVE_INFINITY);
    this.#partial.add(bytes.subarray(at));
  }

  #acceptHead(head: ResponseHead, bytes: Buffer, at: number, sink: ParserSink): void {
    // The gateway sends no `Expect`, so 100 has no meaning here (RFC 9110 section 15.2.1).
    if (head.status !== 100) this.head = head;
    if (head.status === 101) {
      this.state = 'upgraded';
      this.#pending = bytes.subarray(at);
      return;
    }
    if (head.status >= 200) this.#frameBody(head, sink);
    // Each informational response restarts the response time limit, so a server could hold an exchange open forever.
    else if (++this.#informational > MAX_INFORMATIONAL) throw new Http1Error('informational_too_many');
    if (head.status !== 100) sink.onHead(head, this.#connection);
  }

  /** Determines how the body ends (RFC 9112 section 6.3). */
  #frameBody({ status, isPersistent, isChunked, contentLength }: ResponseHead, sink: ParserSink): void {
    const isBodiless = this.#isHeadRequest || status === 204 || status === 304;
    // Some servers send a body although this response must not have one. The next exchange would read it as its response.
    const mayHaveLateBody = isBodiless && (isChunked || contentLength > 0);
    this.isReusable = isPersistent && !mayHaveLateBody;
    if (isBodiless || !Number.isNaN(contentLength)) {
      this.state = 'counted';
      this.#remaining = isBodiless ? 0 : contentLength;
    } else if (isChunked) {
      this.state = 'chunked';
      this.#decoder = new ChunkedDecoder((bytes) => {
        if (this.state === 'chunked') sink.onData(bytes, this.#connection);
      }, 'response_malformed');
    } else {
      this.state = 'until close';
    }
  }

  #parseCounted(bytes: Buffer, at: number, sink: ParserSink): void {
    const end = Math.min(bytes.length, at + this.#remaining);
    this.#remaining -= end - at;
    if (end > at) sink.onData(end - at === bytes.length ? bytes : bytes.subarray(at, end), this.#connection);
    // The sink may have stopped the parser.
    if (this.#remaining === 0 && this.state === 'counted') this.#finish(NO_TRAILERS, end === bytes.length);
  }

  #parseChunks(bytes: Buffer, at: number): void {
    const decoder = this.#decoder as ChunkedDecoder;
    const end = decoder.decode(bytes, at);
    if (!decoder.isComplete || this.state !== 'chunked') return;
    const { trailers } = decoder;
    this.#decoder = undefined;
    this.#finish(trailers, end === bytes.length && !hasConnectionClose(trailers));
  }

  #finish(trailers: RawHeaders, isReusable: boolean): void {
    this.state = 'complete';
    this.trailers = trailers;
    this.isReusable &&= isReusable;
  }
}
