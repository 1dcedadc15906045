import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { STATUS_REASONS } from '../engine/gateway/response/refusal.ts';
import {
  type ClientHandler,
  ClientRegistry,
  closeLateClients,
  createClientServer,
  type HeldConnection,
} from '../engine/gateway/server/client-server.ts';
import type { Plan } from '../engine/plan/plan.ts';
import type { AdminMetrics } from './admin-metrics.ts';

/** The address, the certificate and the token of the admin API. */
export type AdminListener = NonNullable<Plan['admin']>;

type Parts = Parameters<ClientHandler['onRequest']>;

export type HttpResponse = Parts[2];

/** A request of HTTP, and its response. */
export interface AdminExchange {
  readonly connection: Parts[0];
  readonly request: Parts[1];
  readonly response: HttpResponse;
}

const REQUEST_TIMEOUT_MS = 10_000;
const LIMITS: ClientHandler['limits'] = {
  headerLimitBytes: 16_384,
  headersTimeoutMs: REQUEST_TIMEOUT_MS,
  requestTimeoutMs: REQUEST_TIMEOUT_MS,
  keepAliveTimeoutMs: 5_000,
  maxRequestsPerConnection: Number.POSITIVE_INFINITY,
};
/** The most requests that a client sends without waiting for a response. Ordinary clients of the admin API do not pipeline. */
const MAX_PIPELINED = 8;

/**
 * Listens for the requests of the admin API. It accepts every new connection, so that probes always get a response. Beyond the limit it
 * closes a connection of the client that holds the most: an idle one, or else the oldest. A connection serves one request at a time, in a
 * turn of the event loop of its own.
 *
 * @param limit the most connections at one time
 * @param stalledMs closes a connection whose client makes no progress for this time
 */
export function createAdminListener(
  settings: AdminListener,
  metrics: AdminMetrics,
  serve: (exchange: AdminExchange) => Promise<void>,
  limit: number,
  stalledMs: number,
) {
  /** The number of pipelined requests of each connection since it was last idle. */
  const pipelined = new WeakMap<AdminExchange['connection'], number>();
  const handler: ClientHandler = {
    limits: LIMITS,
    onRequest: (connection, request, response) => {
      const count = connection.ahead === undefined ? 1 : (pipelined.get(connection) ?? 0) + 1;
      pipelined.set(connection, count);
      if (count === MAX_PIPELINED) response.isPersistent = false;
      serve({ connection, request, response }).catch((error: Error) => {
        metrics.failed.add({ reason: error.message });
        connection.reset();
      });
    },
    onRequestError: refuseBytes,
  };
  const count = {
    add: (amount: number) => {
      metrics.connections += amount;
    },
  };
  const clients = new ClientRegistry(handler, count);
  const server = createClientServer(settings);
  // The new connection does not count yet, so it is never the one to close.
  server.on('connection', () => {
    if (clients.sockets.size >= limit) makeRoom();
  });
  clients.attach(server, (_error, socket) => void socket.destroy());
  const stopChecks = closeLateClients(clients.connections, () => stalledMs);
  return { listen, close };

  function makeRoom(): void {
    let largest = new Set<HeldConnection>();
    for (const held of clients.holders.values()) if (held.size > largest.size) largest = held;
    const all = [...largest];
    // One that closes already has its response. A new one may be a probe that has not sent its request yet.
    const victim = all.find((one) => !one.isEvictable) ?? all.find((one) => one.isReplaceable) ?? all[0];
    if (victim === undefined) return;
    largest.delete(victim);
    metrics.evicted.add({ peer: victim.peer });
    victim.evict(() => undefined);
  }

  async function listen(): Promise<AddressInfo> {
    server.listen(settings.port, settings.host);
    await once(server, 'listening');
    // Without a listener, an error of `accept` would end the process, for example when no file descriptor is free.
    server.on('error', ({ code: reason }: NodeJS.ErrnoException) => metrics.unaccepted.add({ reason }));
    return server.address() as AddressInfo;
  }

  async function close(): Promise<void> {
    stopChecks();
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of clients.sockets) socket.destroy();
    await closed;
  }
}

/** The status of an error that is not a malformed message. */
const ERROR_STATUSES: Readonly<Record<string, number>> = { too_large: 431, late: 408 };

const refuseBytes: ClientHandler['onRequestError'] = (connection, kind) => {
  const status = ERROR_STATUSES[kind] ?? 400;
  // A client that has sent nothing expects no response.
  if (connection.isUnused) connection.socket.destroy();
  else if (connection.response?.hasBegun === true) connection.reset();
  else connection.refuseInput(`HTTP/1.1 ${status} ${STATUS_REASONS[status]}\r\nConnection: close\r\n\r\n`);
};
