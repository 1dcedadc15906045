import { Http1Error } from './http1-error.ts';
import type { ResponseSink } from './response-sink.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

/** A request whose body, if any, is in memory. */
export interface FetchRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn, `Host` included. */
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

export interface FetchResponse {
  readonly status: number;
  /** Names and values in turn, as the server sent them. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** The response has a longer body than the caller takes. */
export class ResponseTooLargeError extends Error {
  readonly status: number;

  constructor(status: number) {
    super('the body of the response is too long');
    this.status = status;
  }
}

/** The server closed a kept connection before the request went out on it: it is safe to send it on another one. */
export class StaleConnectionError extends Error {}

/**
 * Sends one request on a connection and reads the whole response. Follows no redirect. The caller limits the time of the
 * whole exchange by `connection.abort`, and releases the connection afterwards.
 *
 * Rejects with `TooLong`, `Stale`, the reason of an abort, a `WireError`, or the system's own error.
 */
export function fetchResponse(
  connection: UpstreamConnection,
  request: FetchRequest,
  maxBytes: number,
): Promise<FetchResponse> {
  return new Promise((resolve, reject) => {
    const call = { ...request, length: request.body?.length, isHandshake: false, hasResponseTimeout: true };
    connection.send(call, new ResponseReader(maxBytes, resolve, reject));
  });
}

class ResponseReader implements ResponseSink {
  readonly #maxBytes: number;
  readonly #resolve: (response: FetchResponse) => void;
  readonly #reject: (error: Error) => void;
  #status = 0;
  #headers: readonly string[] = [];
  /** One buffer that grows: a server may send one byte in each packet, and a buffer of its own for each would take a hundred. */
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

  onHead({ status, headers }: { readonly status: number; readonly headers: readonly string[] }): void {
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
