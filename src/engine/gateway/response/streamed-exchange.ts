import { getHeader, type RawHeaders } from '../../http1/raw-headers.ts';
import { releaseReadBuffer } from '../../http1/read-buffers.ts';
import type { ResponseHead } from '../../http1/upstream-request.ts';
import type { Exchange } from '../exchange.ts';
import { forwardResponseHeaders, forwardTrailers } from '../upstream/proxy-headers.ts';
import { UpstreamExchange } from '../upstream/upstream-exchange.ts';

/** The gateway pauses the upstream when the client has this much unread. At Node's default it would pause after each read. */
const MAX_WAITING_BYTES = 262_144;

/** An exchange with an upstream that streams the response to the client. */
export class StreamedExchange extends UpstreamExchange {
  /** Bytes of the body still to come; NaN if the head has no length. */
  #remaining = Number.NaN;
  /** True once the gateway has ended the response itself. */
  #isEndedEarly = false;

  onHead(head: ResponseHead): void {
    const { exchange } = this;
    const now = performance.now();
    this.recordHead(head.status, now);
    if (head.status < 200) {
      sendInformational(exchange, head);
      return;
    }
    this.respondedAt = now;
    this.#remaining = head.contentLength;
    exchange.writeHead(head.status, head.reason, forwardResponseHeaders(head, exchange));
    // Only a response without a length can continue forever.
    if (!Number.isNaN(this.#remaining) || !isEventStream(head.headers)) return;
    this.connection?.limitIdle(exchange.route.upstream.eventStreamTimeoutMs);
    // If the gateway is stopping, this ends the response right after its head.
    exchange.trackLongLived(() => this.#endEarly());
  }

  onData(bytes: Buffer): void {
    const { response } = this.exchange;
    if (this.#isEndedEarly) return;
    this.exchange.sentBytes += bytes.length;
    this.#remaining -= bytes.length;
    if (this.#remaining === 0) {
      response.end(bytes, releaseReadBuffer);
      return;
    }
    response.write(bytes, releaseReadBuffer);
    if (response.waitingBytes < MAX_WAITING_BYTES) return;
    this.connection?.pause();
    response.pausedSource = this.connection;
  }

  /** Sends a head that arrived without body bytes. A head and body bytes that arrive together are sent in one write. */
  onReadComplete(): void {
    const { response, sentBytes } = this.exchange;
    if (sentBytes === 0 && !response.isEnded && !response.isOver) response.flushHead();
  }

  onEnd(trailers: RawHeaders): void {
    const { response } = this.exchange;
    // When the client has read everything, the connection may already carry another exchange.
    response.pausedSource = undefined;
    try {
      if (trailers.length > 0 && !response.isEnded) response.setTrailers(forwardTrailers(trailers, this.exchange));
      if (!response.isEnded) response.end();
    } catch (error) {
      this.onError(error);
      return;
    }
    this.complete();
  }

  /** Ends the response as if the upstream had ended it. A client of an event stream reconnects. */
  #endEarly(): void {
    this.#isEndedEarly = true;
    this.exchange.endsWork = true;
    this.exchange.response.end();
  }
}

/** True for server-sent events (HTML standard, section 9.2). */
function isEventStream(headers: RawHeaders): boolean {
  return getHeader(headers, 'content-type')?.toLowerCase().startsWith('text/event-stream') === true;
}

/** Sends an informational (1xx) response at once. HTTP/1.0 has none (RFC 9110 section 15.2). */
function sendInformational(exchange: Exchange, head: ResponseHead): void {
  const { request, response } = exchange;
  if (request.httpVersion === '1.0' || !exchange.maySendInformational) return;
  response.writeInformation(head.status, head.reason, forwardResponseHeaders(head, exchange));
}
