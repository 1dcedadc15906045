import { ChunkedDecoder } from './chunked-decoder.ts';
import { Http1Error } from './http1-error.ts';
import { hasConnectionClose, isPartialHead, parseResponseHead, type ResponseHead } from './response-head.ts';

/** What is told of an answer while it comes. */
export interface ResponseParserCallbacks {
  /** Also of each answer before the answer (RFC 9110 section 15.2). */
  onHead(head: ResponseHead): void;
  onData(bytes: Buffer): void;
  /**
   * @param isKept the connection may carry another exchange
   * @param keepAlive for how long, as it was written
   */
  onEnd(trailers: readonly string[], isKept: boolean, keepAlive: string | undefined): void;
  /** The connection changed its protocol, whose first bytes these are. */
  onUpgrade(head: ResponseHead, first: Buffer): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const MAX_HEAD_BYTES = 16_384;
/** Informational (1xx) responses to one request, 100 included. */
const MAX_INFORMATIONAL = 100;
const NONE: readonly string[] = [];

/** Reads the answers that come on a connection, one for each `begin` (RFC 9112). It forgives nothing. */
export class ResponseParser {
  readonly #sink: ResponseParserCallbacks;
  #state: 'idle' | 'head' | 'counted' | 'chunked' | 'until the end' = 'idle';
  #isToHead = false;
  #informational = 0;
  #isKept = false;
  #keepAlive: string | undefined;
  /** Of a head that has not come whole. */
  #pending: Buffer | undefined;
  /** Bytes of a counted body that have not come. */
  #left = 0;
  #chunks: ChunkedDecoder | undefined;

  constructor(sink: ResponseParserCallbacks) {
    this.#sink = sink;
  }

  /** The head has come, and the body has not come whole. */
  get isInBody(): boolean {
    return this.#state !== 'head' && this.#state !== 'idle';
  }

  /** Pieces of chunks in the bytes that came last. */
  get pieces(): number {
    return this.#chunks?.pieces ?? 0;
  }

  /** An answer is expected from now on. @param method of the request: to HEAD, no body comes */
  begin(method: string): void {
    this.#state = 'head';
    this.#isToHead = method === 'HEAD';
    this.#informational = 0;
  }

  /** Nothing more is told. */
  stop(): void {
    this.#state = 'idle';
  }

  /**
   * Takes what came. Nothing may come beyond an answer: where it does, the connection is not kept.
   *
   * @throws WireError
   */
  parse(bytes: Buffer): void {
    let at = 0;
    let rest = bytes;
    if (this.#pending !== undefined) {
      rest = Buffer.concat([this.#pending, bytes]);
      this.#pending = undefined;
    }
    while (this.#state === 'head') {
      const end = rest.indexOf(HEAD_END, at);
      if ((end === -1 ? rest.length : end) - at > MAX_HEAD_BYTES) throw new Http1Error('response_head_too_large');
      if (end === -1) {
        this.#hold(rest, at);
        return;
      }
      const head = parseResponseHead(rest.toString('latin1', at, end + 2));
      at = end + HEAD_END.length;
      this.#begun(head, rest, at);
    }
    if (this.#state === 'counted') this.#takeCounted(rest, at);
    else if (this.#state === 'chunked') this.#takeChunks(rest, at);
    else if (this.#state === 'until the end' && at < rest.length) this.#sink.onData(rest.subarray(at));
  }

  /** No more comes. False: it was owed. */
  end(): boolean {
    if (this.#state !== 'until the end') return false;
    this.#finish(NONE, false);
    return true;
  }

  /** What can be no beginning of a head is told of at once, and not when the time is over. */
  #hold(bytes: Buffer, at: number): void {
    if (at === bytes.length) return;
    if (!isPartialHead(bytes.toString('latin1', at))) throw new Http1Error('response_malformed');
    this.#pending = bytes.subarray(at);
  }

  #begun(head: ResponseHead, bytes: Buffer, at: number): void {
    if (head.status === 101) {
      this.#state = 'idle';
      this.#sink.onUpgrade(head, bytes.subarray(at));
      return;
    }
    if (head.status >= 200) this.#frame(head);
    // Each of them restarts the response time limit, so a server could hold an exchange for ever.
    else if (++this.#informational > MAX_INFORMATIONAL) throw new Http1Error('informational_too_many');
    this.#sink.onHead(head);
  }

  /** RFC 9112 section 6.3. */
  #frame({ status, isPersistent, keepAlive, isChunked, contentLength }: ResponseHead): void {
    const isBodiless = this.#isToHead || status === 204 || status === 304;
    // Some send the body all the same that they state, and late: it would be read as the answer to the next request.
    const mayBeFollowed = isBodiless && (isChunked || contentLength > 0);
    this.#isKept = isPersistent && !mayBeFollowed;
    this.#keepAlive = keepAlive;
    if (isBodiless || !Number.isNaN(contentLength)) {
      this.#state = 'counted';
      this.#left = isBodiless ? 0 : contentLength;
    } else if (isChunked) {
      this.#state = 'chunked';
      this.#chunks = new ChunkedDecoder((bytes) => {
        if (this.#state === 'chunked') this.#sink.onData(bytes);
      });
    } else {
      this.#state = 'until the end';
    }
  }

  #takeCounted(bytes: Buffer, at: number): void {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (end > at) this.#sink.onData(end - at === bytes.length ? bytes : bytes.subarray(at, end));
    // It may have been stopped by then.
    if (this.#left === 0 && this.#state === 'counted') this.#finish(NONE, this.#isKept && end === bytes.length);
  }

  #takeChunks(bytes: Buffer, at: number): void {
    const chunks = this.#chunks as ChunkedDecoder;
    const end = chunks.decode(bytes, at);
    if (!chunks.isComplete || this.#state !== 'chunked') return;
    const { trailers } = chunks;
    this.#chunks = undefined;
    this.#finish(trailers, this.#isKept && end === bytes.length && !hasConnectionClose(trailers));
  }

  #finish(trailers: readonly string[], isKept: boolean): void {
    this.#state = 'idle';
    this.#sink.onEnd(trailers, isKept, this.#keepAlive);
  }
}
