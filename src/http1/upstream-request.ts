import type { Duplex, Readable } from 'node:stream';
import type { ResponseHead } from './response-head.ts';

/** A request as it goes out on a connection. */
export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn; all but those that speak of the connection and of the framing. */
  readonly headers: readonly string[];
  /** A handshake of WebSockets (RFC 6455 section 4.1). */
  readonly isHandshake: boolean;
  /** Bytes of the body; `undefined`: there is none; `'chunked'`: of unknown length. */
  readonly length: number | 'chunked' | undefined;
  readonly body: Buffer | Readable | null;
  /** Whether the connection's limit for the beginning of an answer holds. */
  readonly hasResponseTimeout: boolean;
}

/** What hears of an exchange as it goes on. What `onHead` or `onData` throws ends it with that error. */
export interface ResponseSink {
  /** It goes out from now on. */
  onRequestStart(): void;
  /** The connection ended before a byte went out: it takes another one. */
  onStale(): void;
  /** Also of each answer before the answer, but for 100. */
  onHead(head: ResponseHead): void;
  onData(bytes: Buffer): void;
  /** What has come of the body was told; more is awaited. */
  onReadComplete(): void;
  /** The answer is whole; the connection's `isFree` tells whether it may be used again. */
  onEnd(trailers: readonly string[]): void;
  /** The connection became a tunnel, and is the user's. */
  onUpgrade(head: ResponseHead, socket: Duplex): void;
  /** In place of the end; the connection is closed. */
  onError(error: Error): void;
}
