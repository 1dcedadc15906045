import type { ServerResponse } from 'node:http';
import type { Exchange } from './exchange.ts';
import { responseHeaders } from './headers.ts';
import { Refusal } from './refusal.ts';
import { refuse } from './refuse.ts';

/** What an exchange with an upstream can be told while it runs. */
export interface AnswerControl {
  readonly rawHeaders?: unknown;
  readonly rawTrailers?: unknown;
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** What takes an upstream's answer, piece by piece; called by the HTTP client. */
export interface AnswerReceiver {
  onRequestStart(control: AnswerControl): void;
  onResponseStart(control: AnswerControl, status: number, headers: unknown, statusMessage?: string): void;
  onResponseData(control: AnswerControl, chunk: Buffer): void;
  onResponseEnd(control: AnswerControl): void;
  onResponseError(control: AnswerControl | undefined, error: Error): void;
}

/** What both receivers share: the client that leaves, and the upstream that fails. */
abstract class Receiver {
  protected readonly exchange: Exchange;
  #control: AnswerControl | undefined;
  #isGone = false;

  constructor(exchange: Exchange) {
    this.exchange = exchange;
    exchange.onClientGone = () => {
      this.#isGone = true;
      this.#control?.abort(new ClientGone());
    };
  }

  onRequestStart(control: AnswerControl): void {
    this.#control = control;
    // The client left while the request waited for a connection.
    if (this.#isGone) control.abort(new ClientGone());
  }

  onResponseError(_control: AnswerControl | undefined, error: Error): void {
    if (this.#isGone) return;
    // Once the answer has begun, a cut connection is the only way to say that it is not whole.
    refuse(this.exchange, failure(error));
  }
}

class ClientGone extends Error {}

/** An answer that goes to the client as it comes. */
export class StreamedAnswer extends Receiver implements AnswerReceiver {
  /** Bytes of the body still to come; NaN when the upstream did not say. */
  #remaining = Number.NaN;

  onResponseStart(control: AnswerControl, status: number, _headers: unknown, statusMessage = ''): void {
    if (status < 200) return;
    this.exchange.answeredAt = this.exchange.elapsedMs();
    const headers = fittingHeaders(control.rawHeaders as Buffer[], this.exchange, status);
    this.#remaining = contentLength(headers);
    this.exchange.writeHead(status, statusMessage, headers);
    // A body that came along with the head leaves with it in one write; a head that came alone leaves alone.
    process.nextTick(flush, this.exchange);
  }

  onResponseData(control: AnswerControl, chunk: Buffer): void {
    const { response } = this.exchange;
    this.#remaining -= chunk.length;
    if (this.#remaining === 0) endWith(response, chunk);
    else if (!response.write(chunk)) {
      control.pause();
      response.once('drain', () => control.resume());
    }
  }

  onResponseEnd(control: AnswerControl): void {
    const { response } = this.exchange;
    if (response.writableEnded) return;
    const trailers = control.rawTrailers as Buffer[] | undefined;
    if (trailers !== undefined && trailers.length > 0) response.addTrailers(pairs(responseHeaders(trailers)));
    response.end();
  }
}

/** A whole answer that something must be learnt from before it goes on. */
export interface Answer {
  readonly status: number;
  readonly statusMessage: string;
  readonly headers: readonly string[];
  /** As the upstream sent it, content encoding included. */
  readonly body: Buffer;
}

/** An answer that is held back until `judge` has let it pass; `judge` throws a refusal otherwise. */
export class HeldAnswer extends Receiver implements AnswerReceiver {
  readonly #judge: (answer: Answer) => Promise<void>;
  readonly #limitBytes: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #status = 0;
  #statusMessage = '';
  #headers: readonly string[] = [];

  constructor(exchange: Exchange, limitBytes: number, judge: (answer: Answer) => Promise<void>) {
    super(exchange);
    this.#limitBytes = limitBytes;
    this.#judge = judge;
  }

  onResponseStart(control: AnswerControl, status: number, _headers: unknown, statusMessage = ''): void {
    if (status < 200) return;
    this.#status = status;
    this.#statusMessage = statusMessage;
    this.#headers = without(fittingHeaders(control.rawHeaders as Buffer[], this.exchange, status), 'trailer');
  }

  onResponseData(control: AnswerControl, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#limitBytes) control.abort(new AnswerTooLong());
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    void this.#finish();
  }

  async #finish(): Promise<void> {
    const { exchange } = this;
    exchange.answeredAt = exchange.elapsedMs();
    const answer = {
      status: this.#status,
      statusMessage: this.#statusMessage,
      headers: this.#headers,
      body: Buffer.concat(this.#chunks),
    };
    try {
      await this.#judge(answer);
      exchange.writeHead(answer.status, answer.statusMessage, answer.headers);
      exchange.response.end(answer.body);
    } catch (error) {
      refuse(exchange, error instanceof Refusal ? error : new Refusal('internal_error', { reason: String(error) }));
    }
  }
}

class AnswerTooLong extends Error {}

/** The body that the client sends is longer than its route takes. */
export class BodyTooLong extends Error {}

const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);
const UNAVAILABLE = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

function failure(error: Error & { code?: string }): Refusal {
  if (error instanceof BodyTooLong) return new Refusal('body_too_large');
  if (error instanceof AnswerTooLong) return new Refusal('login_answer_refused', { reason: 'login_answer_too_long' });
  const code = error.code ?? error.name;
  const reason = `upstream_${code.toLowerCase()}`;
  if (TIMEOUTS.has(code)) return new Refusal('upstream_timeout', { reason });
  if (UNREACHABLE.has(code)) return new Refusal('upstream_unreachable', { reason });
  if (UNAVAILABLE.has(code)) return new Refusal('upstream_unavailable', { reason, headers: { 'Retry-After': '1' } });
  return new Refusal('upstream_broken', { reason });
}

/**
 * Less what an answer without a body, or one that is not chunked, cannot have: Node throws where trailers are
 * announced and cannot follow, and a 204 with a length could be read in two ways (RFC 9110 section 8.6).
 */
function fittingHeaders(raw: Buffer[], { request, response }: Exchange, status: number): readonly string[] {
  let headers: readonly string[] = responseHeaders(raw);
  const isBodiless = request.method === 'HEAD' || status === 204 || status === 304;
  if (isBodiless || !response.useChunkedEncodingByDefault) headers = without(headers, 'trailer');
  return status === 204 ? without(headers, 'content-length') : headers;
}

function without(headers: readonly string[], name: string): readonly string[] {
  return headers.filter((_, index) => headers[index - (index % 2)]?.toLowerCase() !== name);
}

/** Up to this a body is copied into the head's own write rather than written beside it. */
const SMALL_BYTES = 16_384;

function endWith(response: ServerResponse, last: Buffer): void {
  // Node joins a string to the head that still waits; bytes it would write on their own.
  if (last.length <= SMALL_BYTES) response.end(last.toString('latin1'), 'latin1');
  else response.end(last);
}

function flush({ response }: Exchange): void {
  if (!response.writableEnded && !response.destroyed && response.headersSent) response.flushHeaders();
}

function contentLength(headers: readonly string[]): number {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.length === 14 && headers[index]?.toLowerCase() === 'content-length')
      return Number(headers[index + 1]);
  }
  return Number.NaN;
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [
    flat[2 * index] as string,
    flat[2 * index + 1] as string,
  ]);
}
