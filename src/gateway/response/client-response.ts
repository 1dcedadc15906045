import type { Duplex } from 'node:stream';
import type { ResponseHead } from '../../http1/response-head.ts';
import type { Exchange } from '../exchange.ts';
import { applyHeaderRules } from '../upstream/header-rules.ts';
import { forwardResponseHeaders } from '../upstream/proxy-headers.ts';
import { withoutCorsHeaders } from './cors.ts';

/** What an exchange with an upstream can be told while it runs. */
export interface FlowControl {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** What takes an upstream's answer, piece by piece. That there is none, or no whole one, it does not hear. */
export interface ClientResponse {
  /** Also of each answer before the answer (RFC 9110 section 15.2), but for 100. */
  onHead(control: FlowControl, head: ResponseHead): void;
  onData(control: FlowControl, bytes: Buffer): void;
  /** What has come of the body was told; more is awaited. */
  onWaiting?(): void;
  /** @param trailers names and values in turn */
  onEnd(trailers: readonly string[]): void;
  onSwitch?(head: ResponseHead, upstream: Duplex): void;
}

/**
 * Less what an answer without a body, or one that is not chunked, cannot have: Node throws where trailers are
 * announced and cannot follow, and a 1xx or 204 with a length could be read in two ways (RFC 9110 section 8.6).
 */
export function clientResponseHeaders(
  { status, headers: written }: ResponseHead,
  { request, response, route, cors }: Exchange,
): readonly string[] {
  let headers: readonly string[] = applyHeaderRules(forwardResponseHeaders(written), route?.responseHeaders);
  if (cors !== undefined) headers = withoutCorsHeaders(headers);
  const isBodiless = request.method === 'HEAD' || status < 200 || status === 204 || status === 304;
  if (isBodiless || !response.useChunkedEncodingByDefault) headers = withoutHeader(headers, 'trailer');
  return status < 200 || status === 204 ? withoutHeader(headers, 'content-length') : headers;
}

export function withoutHeader(headers: readonly string[], name: string): readonly string[] {
  return headers.filter((_, index) => headers[index - (index % 2)]?.toLowerCase() !== name);
}
