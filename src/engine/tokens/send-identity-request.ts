import type { Socket } from 'node:net';
import { ConnectionPool } from '../http1/connection-pool.ts';
import { createDial, type Dial } from '../http1/dial.ts';
import {
  type FetchResponse,
  fetchOnce,
  fetchResponse,
  NO_CONNECTION_TIMEOUTS,
  ResponseTooLargeError,
  StaleConnectionError,
} from '../http1/fetch-response.ts';
import { getAllHeaders } from '../http1/raw-headers.ts';
import type { UpstreamConnection } from '../http1/upstream-connection.ts';
import { serverNameOf } from '../settings/upstream.ts';
import type { IdentityEndpoint } from './identity-endpoint.ts';
import { IdentityError, type IdentityRequest, type IdentityResponse } from './identity-request.ts';

const MAX_BYTES = 262_144;

/**
 * Sends a request on a new connection and reads the complete response. Does not follow redirects.
 *
 * @param signal limits the complete exchange
 * @throws IdentityError
 */
export async function sendIdentityRequest(request: IdentityRequest, signal: AbortSignal): Promise<IdentityResponse> {
  const { url } = request;
  const server = { url, serverName: serverNameOf(url, undefined), tls: () => ({}) };
  try {
    return toIdentityResponse(await fetchOnce(server, toFetchRequest(request), { maxBytes: MAX_BYTES, signal }));
  } catch (error) {
    throw toIdentityError(error);
  }
}

/** The connection pools of an identity service, one per server. The caller limits how many connections are in use. */
export class IdentityConnectionPools {
  readonly #pools: readonly ConnectionPool[];

  constructor({ endpoints, tls }: IdentityEndpoint, connectionLimit: number) {
    this.#pools = endpoints.map((endpoint) => {
      const dial = createDial(endpoint, { ...NO_CONNECTION_TIMEOUTS, tls: () => tls });
      return new ConnectionPool(unreferenced(dial), { ...NO_CONNECTION_TIMEOUTS, connectionLimit });
    });
  }

  /**
   * Sends a request to one server. If a kept-alive connection closes before the first byte of the response, the server may
   * have closed it before the request arrived; the request is then sent once more on a new connection.
   *
   * @param index of the server among the endpoints
   * @throws IdentityError
   */
  async send(index: number, request: IdentityRequest, signal: AbortSignal): Promise<IdentityResponse> {
    const pool = this.#pools[index] as ConnectionPool;
    try {
      signal.throwIfAborted();
      const connection = acquired(pool.acquire());
      const response = await sendThrough(pool, connection, request, signal).catch((error) => {
        if (signal.aborted || !(error instanceof StaleConnectionError || connection.mayHaveBeenStale)) throw error;
        return sendThrough(pool, acquired(pool.open(false)), request, signal);
      });
      return toIdentityResponse(response);
    } catch (error) {
      throw toIdentityError(error);
    }
  }
}

/** A pool always has room, because the caller limits the connections in use. */
function acquired(connection: UpstreamConnection | undefined): UpstreamConnection {
  if (connection === undefined) throw new Error('more connections are in use than the limit');
  return connection;
}

async function sendThrough(
  pool: ConnectionPool,
  connection: UpstreamConnection,
  request: IdentityRequest,
  signal: AbortSignal,
): Promise<FetchResponse> {
  try {
    const response = await fetchResponse(connection, toFetchRequest(request), { maxBytes: MAX_BYTES, signal });
    pool.release(connection);
    return response;
  } catch (error) {
    pool.discard(connection);
    throw error;
  }
}

/** Lets the process exit while a connection is idle. During an exchange the connection of the client keeps the process alive. */
function unreferenced(dial: Dial): Dial {
  return (user, isStream) => {
    const socket = dial(user, isStream);
    (socket as Partial<Socket>).unref?.();
    return socket;
  };
}

/** Returns the error of a failed exchange, with a code that may be logged. */
function toIdentityError(error: unknown): IdentityError {
  if (error instanceof IdentityError) return error;
  if (error instanceof ResponseTooLargeError) return new IdentityError('response_too_long');
  return new IdentityError(error instanceof Error && 'code' in error ? String(error.code) : 'connection_failed');
}

function toFetchRequest({ url, headers, form }: IdentityRequest) {
  return {
    method: form === undefined ? 'GET' : 'POST',
    path: url.pathname + url.search,
    headers: ['Host', url.host, ...Object.entries(headers).flat()],
    body: form === undefined ? null : Buffer.from(form, 'latin1'),
  };
}

function toIdentityResponse({ status, headers, body }: FetchResponse): IdentityResponse {
  return { status, mediaType: mediaTypeOf(headers), body };
}

/** Returns the media type without its parameters. With two `Content-Type` headers it is empty, since either could apply. */
function mediaTypeOf(headers: readonly string[]): string {
  const types = getAllHeaders(headers, 'content-type');
  const [type = ''] = types.length === 1 ? (types[0] as string).split(';') : [];
  return type.trim().toLowerCase();
}
