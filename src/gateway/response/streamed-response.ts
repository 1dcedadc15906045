import type { ServerResponse } from 'node:http';
import { releaseReadBuffer } from '../../http1/read-buffers.ts';
import type { ResponseHead } from '../../http1/response-head.ts';
import type { Exchange } from '../exchange.ts';
import { applyTrailerRules } from '../upstream/header-rules.ts';
import { forwardResponseHeaders } from '../upstream/proxy-headers.ts';
import { type ClientResponse, clientResponseHeaders, type FlowControl } from './client-response.ts';

/** An answer that goes to the client as it comes. */
export class StreamedResponse implements ClientResponse {
  protected readonly exchange: Exchange;
  /** Bytes of the body still to come; NaN when the upstream did not say. */
  #remaining = Number.NaN;
  #isEnding = false;
  /** What waits until the client has taken what there is. */
  #held: FlowControl | undefined;

  constructor(exchange: Exchange) {
    this.exchange = exchange;
  }

  onHead(_control: FlowControl, head: ResponseHead): void {
    if (head.status < 200) {
      sendInformational(this.exchange, head);
      return;
    }
    this.exchange.respondedAfterMs = this.exchange.elapsedMs();
    this.#remaining = head.contentLength;
    const headers = clientResponseHeaders(head, this.exchange);
    this.exchange.writeHead(head.status, head.reason, headers);
    // Only what has no length may go on without end. Where the gateway stops it ends at once, behind its head.
    if (Number.isNaN(this.#remaining) && isEventStream(headers)) this.exchange.trackLongLived(() => this.#endEarly());
  }

  onData(control: FlowControl, bytes: Buffer): void {
    const { response } = this.exchange;
    if (this.#isEnding) return;
    this.exchange.sentBytes += bytes.length;
    this.#remaining -= bytes.length;
    if (this.#remaining === 0) {
      endResponse(response, bytes);
      return;
    }
    response.write(bytes, (error) => onWritten(bytes, error));
    if (response.writableLength < MAX_WAITING_BYTES || this.#held !== undefined) return;
    control.pause();
    this.#held = control;
    response.once('drain', () => {
      this.#held?.resume();
      this.#held = undefined;
    });
  }

  /** A body that came along with the head leaves with it in one write; a head that came alone leaves alone. */
  onWaiting(): void {
    const { response, sentBytes } = this.exchange;
    if (sentBytes === 0 && !response.writableEnded && !response.destroyed) response.flushHeaders();
  }

  onEnd(trailers: readonly string[]): void {
    const { response, route } = this.exchange;
    // By the time that the client has taken all, it is another exchange's.
    this.#held = undefined;
    if (response.writableEnded) return;
    if (trailers.length > 0)
      response.addTrailers(pairs(applyTrailerRules(forwardResponseHeaders(trailers), route?.responseHeaders)));
    response.end();
  }

  /** Ends it as if the upstream had; a client of an event stream asks again. */
  #endEarly(): void {
    this.#isEnding = true;
    const { response, onClientDisconnected } = this.exchange;
    response.end(() => onClientDisconnected?.());
  }
}

/** See the HTML standard's server-sent events. */
function isEventStream(headers: readonly string[]): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    const isType = headers[index]?.length === 12 && headers[index]?.toLowerCase() === 'content-type';
    if (isType) return headers[index + 1]?.toLowerCase().startsWith('text/event-stream') === true;
  }
  return false;
}

/** Passes an answer before the answer on at once; HTTP/1.0 knows none (RFC 9110 section 15.2). */
function sendInformational(exchange: Exchange, head: ResponseHead): void {
  const { request, response } = exchange;
  if (request.httpVersion === '1.0' || !exchange.maySendInformational) return;
  response.writeInformation(head.status, clientResponseHeaders(head, exchange));
}

/** Of an answer that the client does not read. Pausing at the first full buffer would stop and start at every bytes. */
const MAX_WAITING_BYTES = 262_144;

/** Up to this a body is copied into the head's own write rather than written beside it. */
const SMALL_BYTES = 16_384;

/** The system has them. After a fault it may be about to take them still. */
function onWritten(bytes: Buffer, error: Error | null | undefined): void {
  if (error == null) releaseReadBuffer(bytes);
}

function endResponse(response: ServerResponse, last: Buffer): void {
  // Node joins a string to the head that still waits; bytes it would write on their own.
  if (last.length <= SMALL_BYTES) response.end(last.toString('latin1'), 'latin1');
  else response.end(last, (error?: Error | null) => onWritten(last, error));
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [
    flat[2 * index] as string,
    flat[2 * index + 1] as string,
  ]);
}
