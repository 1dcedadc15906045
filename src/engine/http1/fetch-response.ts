import { createDial, type DialOptions, type ServerAddress } from './dial.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { Http1Error } from './http1-error.ts';
import type { RawHeaders } from './raw-headers.ts';
import { UpstreamConnection } from './upstream-connection.ts';
import type { ResponseSink } from './upstream-request.ts';

/** A request whose body, if any, is in memory. */
interface FetchRequest {
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

interface FetchOptions {
  /** A larger body rejects with `ResponseTooLargeError`. */
  readonly maxBytes: number;
  /** Aborts the exchange at any stage. The promise then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** The options of callers whose signal limits the complete exchange: name lookup, connection, TLS, request and response. */
export const NO_CONNECTION_TIMEOUTS = {
  connectTimeoutMs: 2 ** 31 - 1,
  responseTimeoutMs: 0,
  idleTimeoutMs: 0,
} as const;

/** Opens a connection, sends a request, returns the complete response and closes the connection. Rejects as `fetchResponse` does. */
export async function fetchOnce(
  server: ServerAddress & Pick<DialOptions, 'tls'>,
  request: FetchRequest,
  options: FetchOptions & { readonly signal: AbortSignal },
): Promise<FetchResponse> {
  options.signal.throwIfAborted();
  const connection = new UpstreamConnection({
    ...NO_CONNECTION_TIMEOUTS,
    dial: createDial(server, { ...NO_CONNECTION_TIMEOUTS, tls: server.tls }),
    isForTunnel: false,
    onClosed: () => undefined,
  });
  try {
    return await fetchResponse(connection, request, options);
  } finally {
    connection.destroy();
  }
}

/**
 * Sends a request on a connection and returns the complete response. Follows no redirect. The caller releases the connection
 * afterwards, and may send the request on another one if this one `mayHaveBeenStale`.
 *
 * @throws ResponseTooLargeError, Http1Error, the reason of an abort, or an error of the system
 */
export async function fetchResponse(
  connection: UpstreamConnection,
  request: FetchRequest,
  { maxBytes, signal }: FetchOptions,
): Promise<FetchResponse> {
  const abort = () => connection.abort(signal?.reason);
  signal?.addEventListener('abort', abort);
  try {
    const options = { length: request.body?.length, isHandshake: false, hasResponseTimeout: true };
    return await new Promise((resolve, reject) =>
      connection.send({ ...request, ...options, ...readResponse(maxBytes, resolve, reject) }),
    );
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

function readResponse(
  maxBytes: number,
  resolve: (response: FetchResponse) => void,
  reject: (error: unknown) => void,
): ResponseSink {
  const body = new GrowingBuffer(maxBytes);
  let status = 0;
  let headers: RawHeaders = [];
  return {
    onRequestStart: () => {},
    onStale: () => reject(new Http1Error('connection_closed')),
    onHead: (head) => {
      ({ status, headers } = head);
    },
    onData: (bytes) => {
      if (!body.add(bytes)) throw new ResponseTooLargeError(status);
    },
    onReadComplete: () => {},
    onEnd: () => resolve({ status, headers, body: body.bytes() }),
    onUpgrade: (_head, socket) => {
      socket.destroy();
      reject(new Http1Error('upgrade_unexpected'));
    },
    onError: reject,
  };
}
