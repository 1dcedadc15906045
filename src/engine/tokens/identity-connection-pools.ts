import type { Socket } from 'node:net';
import { ConnectionPool } from '../http1/connection-pool.ts';
import { createDial, type Dial } from '../http1/dial.ts';
import { NO_CONNECTION_TIMEOUTS, StaleConnectionError } from '../http1/fetch-response.ts';
import type { UpstreamConnection } from '../http1/upstream-connection.ts';
import type { IdentityEndpoint } from './identity-endpoint.ts';
import type { IdentityRequest, IdentityResponse } from './identity-request.ts';
import { sendIdentityRequestOn, toIdentityError } from './send-identity-request.ts';

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
      try {
        return await sendThrough(pool, connection, request, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof StaleConnectionError || connection.mayHaveBeenStale)) throw error;
      }
      return await sendThrough(pool, acquired(pool.open(false)), request, signal);
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
): Promise<IdentityResponse> {
  try {
    const response = await sendIdentityRequestOn(connection, request, signal);
    pool.release(connection);
    return response;
  } catch (error) {
    pool.discard(connection);
    throw error;
  }
}

/** Lets the process exit while a connection is idle. During an exchange the timer of the request keeps the process alive. */
function unreferenced(dial: Dial): Dial {
  return (user, isStream) => {
    const socket = dial(user, isStream);
    (socket as Partial<Socket>).unref?.();
    return socket;
  };
}
