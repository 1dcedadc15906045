import type { Duplex } from 'node:stream';
import type { AnswerHead } from '../http1/answer-head.ts';
import { withoutCors } from './cors.ts';
import type { Exchange } from './exchange.ts';
import { ruledHeaders } from './header-rules.ts';
import { responseHeaders } from './headers.ts';

/** What an exchange with an upstream can be told while it runs. */
export interface AnswerControl {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** What takes an upstream's answer, piece by piece. That there is none, or no whole one, it does not hear. */
export interface AnswerReceiver {
  /** Also of each answer before the answer (RFC 9110 section 15.2), but for 100. */
  onHead(control: AnswerControl, head: AnswerHead): void;
  onData(control: AnswerControl, bytes: Buffer): void;
  /** What has come of the body was told; more is awaited. */
  onWaiting?(): void;
  /** @param trailers names and values in turn */
  onEnd(trailers: readonly string[]): void;
  onSwitch?(head: AnswerHead, upstream: Duplex): void;
}

/**
 * Less what an answer without a body, or one that is not chunked, cannot have: Node throws where trailers are
 * announced and cannot follow, and a 1xx or 204 with a length could be read in two ways (RFC 9110 section 8.6).
 */
export function fittingHeaders(
  { status, headers: written }: AnswerHead,
  { request, response, route, cors }: Exchange,
): readonly string[] {
  let headers: readonly string[] = ruledHeaders(responseHeaders(written), route?.responseHeaders);
  if (cors !== undefined) headers = withoutCors(headers);
  const isBodiless = request.method === 'HEAD' || status < 200 || status === 204 || status === 304;
  if (isBodiless || !response.useChunkedEncodingByDefault) headers = without(headers, 'trailer');
  return status < 200 || status === 204 ? without(headers, 'content-length') : headers;
}

export function without(headers: readonly string[], name: string): readonly string[] {
  return headers.filter((_, index) => headers[index - (index % 2)]?.toLowerCase() !== name);
}
