import { withoutCors } from './cors.ts';
import type { Exchange } from './exchange.ts';
import { toRefusal } from './failure.ts';
import { responseHeaders } from './headers.ts';
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
export abstract class Receiver {
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
    refuse(this.exchange, toRefusal(error));
  }
}

class ClientGone extends Error {}

/**
 * Less what an answer without a body, or one that is not chunked, cannot have: Node throws where trailers are
 * announced and cannot follow, and a 204 with a length could be read in two ways (RFC 9110 section 8.6).
 */
export function fittingHeaders(
  raw: Buffer[],
  { request, response, cors }: Exchange,
  status: number,
): readonly string[] {
  let headers: readonly string[] = responseHeaders(raw);
  if (cors !== undefined) headers = withoutCors(headers);
  const isBodiless = request.method === 'HEAD' || status === 204 || status === 304;
  if (isBodiless || !response.useChunkedEncodingByDefault) headers = without(headers, 'trailer');
  return status === 204 ? without(headers, 'content-length') : headers;
}

export function without(headers: readonly string[], name: string): readonly string[] {
  return headers.filter((_, index) => headers[index - (index % 2)]?.toLowerCase() !== name);
}
