import type { Socket } from 'node:net';
import { ConnectionPool } from '../../http1/connection-pool.ts';
import { createDial, type Dial } from '../../http1/dial.ts';
import { StaleConnectionError } from '../../http1/fetch-response.ts';
import type { IdentityEndpoint } from './identity-endpoint.ts';
import type { IdentityRequest, IdentityResponse } from './identity-request.ts';
import {
  abortErrorOf,
  NO_CONNECTION_TIMEOUTS,
  sendIdentityRequestOn,
  toIdentityError,
} from './send-identity-request.ts';

/** The kept connections to the servers of one endpoint. The caller limits how many are in use at once. */
export class IdentityConnectionPools {
  readonly #pools: readonly ConnectionPool[];

  constructor({ endpoints, tls }: IdentityEndpoint, connectionLimit: number) {
    this.#pools = endpoints.map(
      (target) =>
        new ConnectionPool(unreferenced(createDial(target, { ...NO_CONNECTION_TIMEOUTS, tls: () => tls })), {
          ...NO_CONNECTION_TIMEOUTS,
          connectionLimit,
        }),
    );
  }

  /**
   * Asks one server. Where a kept connection ends before a byte of the response came, the server may have closed it before the
   * request arrived: then once more, on a new connection.
   *
   * @param index of the server among the endpoint's targets
   * @throws NoAnswer
   */
  async send(index: number, question: IdentityRequest, signal: AbortSignal): Promise<IdentityResponse> {
    const pool = this.#pools[index] as ConnectionPool;
    try {
      if (signal.aborted) throw abortErrorOf(signal);
      const kept = pool.acquire();
      try {
        return await sendThrough(pool, kept, question, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof StaleConnectionError || kept.mayHaveBeenStale)) throw error;
      }
      return await sendThrough(pool, pool.open(false), question, signal);
    } catch (error) {
      throw toIdentityError(error);
    }
  }
}

async function sendThrough(
  pool: ConnectionPool,
  connection: ReturnType<ConnectionPool['acquire']>,
  question: IdentityRequest,
  signal: AbortSignal,
): Promise<IdentityResponse> {
  try {
    const reply = await sendIdentityRequestOn(connection, question, signal);
    pool.release(connection);
    return reply;
  } catch (error) {
    pool.discard(connection);
    throw error;
  }
}

/** A kept connection must not keep a process alive that has nothing else to do; the question's own timer does while it runs. */
function unreferenced(dial: Dial): Dial {
  return (user, isStream) => {
    const socket = dial(user, isStream);
    (socket as Partial<Socket>).unref?.();
    return socket;
  };
}
