import type { RawHeaders } from '../raw-headers.ts';
import { Http1Error } from './http1-error.ts';
import type { ResponseHead } from './response-head.ts';
import type { ResponseSink } from './response-sink.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

/** A request whose body, if any, is in memory. */
export interface FetchRequest {
  readonly method: string;
  readonly path: string;
  /** Includes `Host`. */
  readonly headers: RawHeaders;
  readonly body: Buffer | null;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

/** The body of the response exceeds the caller's limit. */
export class ResponseTooLargeError extends Error {
  readonly status: number;

  constructor(status: number) {
    super('the body of the response exceeds the size limit');
    this.status = status;
  }
}

/** The server closed a reused connection before the request was sent, so the request can go out on another connection. */
export class StaleConnectionError extends Error {}

/**
 * Sends a request on a connection and returns the complete response. Follows no redirect. The caller limits the time of the
 * exchange with `connection.abort`, and releases the connection afterwards.
 *
 * @throws ResponseTooLargeError, StaleConnectionError, Http1Error, the reason of an abort, or an error of the system
 */
export function fetchResponse(
  connection: UpstreamConnection,
  request: FetchRequest,
  maxBytes: number,
): Promise<FetchResponse> {
  return new Promise((resolve, reject) => {
    const upstreamRequest = { ...request, length: request.body?.length, isHandshake: false, hasResponseTimeout: true };
    connection.send(upstreamRequest, new ResponseReader(maxBytes, resolve, reject));
  });
}

class ResponseReader implements ResponseSink {
  readonly #maxBytes: number;
  readonly #resolve: (response: FetchResponse) => void;
  readonly #reject: (error: Error) => void;
  #status = 0;
  #headers: RawHeaders = [];
  /** One buffer that grows: a server may send packets of one byte, and a buffer for each would take a hundred bytes. */
  #memory = Buffer.alloc(0);
  #size = 0;

  constructor(maxBytes: number, resolve: (response: FetchResponse) => void, reject: (error: Error) => void) {
    this.#maxBytes = maxBytes;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(): void {}

  onStale(): void {
    this.#reject(new StaleConnectionError());
  }

  onHead({ status, headers }: ResponseHead): void {
    this.#status = status;
    this.#headers = headers;
  }

  onData(bytes: Buffer): void {
    const size = this.#size + bytes.length;
    if (size > this.#maxBytes) throw new ResponseTooLargeError(this.#status);
    if (size > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(this.#maxBytes, 2 * size));
      this.#memory.copy(larger, 0, 0, this.#size);
      this.#memory = larger;
    }
    bytes.copy(this.#memory, this.#size);
    this.#size = size;
  }

  onReadComplete(): void {}

  onEnd(): void {
    this.#resolve({ status: this.#status, headers: this.#headers, body: this.#memory.subarray(0, this.#size) });
  }

  onUpgrade(_head: unknown, socket: { destroy(): void }): void {
    socket.destroy();
    this.#reject(new Http1Error('upgrade_unexpected'));
  }

  onError(error: Error): void {
    this.#reject(error);
  }
}
