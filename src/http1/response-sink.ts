import type { Duplex } from 'node:stream';
import type { RawHeaders } from '../raw-headers.ts';
import type { ResponseHead } from './response-head.ts';

/** Controls the response that a connection delivers. */
export interface FlowControl {
  /** Ends the exchange with this error, and closes the connection. */
  abort(reason: Error): void;
  /** Stops reading. */
  pause(): void;
  resume(): void;
}

/** Receives the events of one exchange. An error that `onHead` or `onData` throws ends the exchange with that error. */
export interface ResponseSink {
  /** The connection begins to write the request. */
  onRequestStart(): void;
  /** The connection closed before it sent a byte. The request can go out on another connection. */
  onStale(): void;
  /** Reports each head: informational (1xx) responses too, except 100 (RFC 9110 section 15.2). */
  onHead(head: ResponseHead, connection: FlowControl): void;
  onData(bytes: Buffer, connection: FlowControl): void;
  /** All bytes read so far were delivered, and the body goes on. */
  onReadComplete(): void;
  /** The response is complete. The connection's `isIdle` tells if it carries another exchange. */
  onEnd(trailers: RawHeaders): void;
  /** The connection became a tunnel. The socket belongs to the sink from here on. */
  onUpgrade(head: ResponseHead, socket: Duplex): void;
  /** The exchange failed, and the connection is closed. No other event follows. */
  onError(error: Error): void;
}
