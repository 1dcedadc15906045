import type { Readable } from 'node:stream';
import type { RawHeaders } from './raw-headers.ts';

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
