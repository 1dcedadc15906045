import type { Duplex, Readable } from 'node:stream';
import type { RawHeaders } from './raw-headers.ts';
import type { ResponseHead } from './response-head.ts';

/** A request to an upstream. */
export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  /** All headers except `Connection`, `Upgrade` and the framing headers, which the connection writes. */
  readonly headers: RawHeaders;
  /** True for a WebSocket handshake (RFC 6455 section 4.1). */
  readonly isHandshake: boolean;
  /** Bytes of the body; `undefined`: no body; `'chunked'`: a body of unknown length. */
  readonly length: number | 'chunked' | undefined;
  readonly body: Buffer | Readable | null;
  /** True if the connection limits the time until the response begins. */
  readonly hasResponseTimeout: boolean;
}

/** Controls the response that a connection delivers. */
export interface FlowControl {
  /** Ends the exchange with this error, and closes the connection. */
  abort(reason: Error): void;
  /** Suspends reading. */
  pause(): void;
  resume(): void;
  /** Replaces the idle timeout until this response ends. @param ms 0 for no limit */
  limitIdle(ms: number): void;
}

/** Receives the events of one exchange. An error that `onHead` or `onData` throws ends the exchange with that error. */
export interface ResponseSink {
  /** The connection begins to write the request. */
  onRequestStart(): void;
  /** The connection closed before it sent a byte of the request, so the caller can send the request on another connection. */
  onStale(): void;
  /** A head arrived: of the response, or of an informational (1xx) response other than 100 (RFC 9110 section 15.2). */
  onHead(head: ResponseHead, connection: FlowControl): void;
  onData(bytes: Buffer, connection: FlowControl): void;
  /** The sink has received all bytes that were read, and the body continues. */
  onReadComplete(): void;
  /** The response is complete. The connection can carry another exchange if its `isIdle` is true. */
  onEnd(trailers: RawHeaders): void;
  /** The connection became a tunnel. The sink now owns the socket. */
  onUpgrade(head: ResponseHead, socket: Duplex): void;
  /** The exchange failed, and the connection is closed. No other event follows. */
  onError(error: Error): void;
}
