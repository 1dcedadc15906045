import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientKey, plainAddress } from '../engine/gateway/fairness/client-key.ts';
import type { AdminMetrics } from './admin-metrics.ts';

/** The most pipelined requests of one connection. Ordinary clients of the admin API do not pipeline. */
const MAX_PIPELINED = 8;

interface AdminConnection {
  readonly key: string;
  /** The TCP socket, below TLS. */
  readonly socket: Socket;
  readonly client: string;
  /** Requests without a complete response. */
  requests: number;
  last: Promise<void>;
  /** Ends the wait for the response that is being written. */
  abandon: (() => void) | undefined;
}

/**
 * The connections of the admin API. It accepts every new connection, so that probes always get a response. Beyond the
 * limit it closes a connection of the client that holds the most: an idle one, or else the least recently active one.
 */
export function createAdminConnections(server: Server, metrics: AdminMetrics, limit: number) {
  /** By the address and port of the peer, the least recently active first. */
  const connections = new Map<string, AdminConnection>();
  server.on('connection', add);
  return { serve, close: () => connections.values().forEach(({ socket }) => void socket.destroy()) };

  /** Serves the requests of one connection in order, one at a time. */
  function serve(request: IncomingMessage, response: ServerResponse, respond: () => Promise<void>): void {
    const connection = connections.get(keyOf(request.socket));
    if (connection === undefined || connection.requests >= MAX_PIPELINED) return void request.socket.destroy();
    connection.requests += 1;
    touch(connection);
    connection.last = connection.last.then(async () => {
      if (connection.socket.destroyed) return;
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      response.once('close', resolve);
      connection.abandon = resolve;
      await respond().catch((error: Error) => {
        metrics.failed.add({ reason: error.message });
        connection.socket.destroy();
      });
      await ended;
      connection.requests -= 1;
      touch(connection);
    });
  }

  function add(socket: Socket): void {
    const key = keyOf(socket);
    const connection: AdminConnection = {
      key,
      socket,
      client: clientKey(socket.remoteAddress ?? ''),
      requests: 0,
      last: Promise.resolve(),
      abandon: undefined,
    };
    connections.set(key, connection);
    metrics.connections = connections.size;
    socket.on('close', () => {
      connection.abandon?.();
      if (connections.get(key) === connection) connections.delete(key);
      metrics.connections = connections.size;
    });
    if (connections.size > limit) evict(connection);
  }

  function touch(connection: AdminConnection): void {
    if (connections.get(connection.key) !== connection) return;
    connections.delete(connection.key);
    connections.set(connection.key, connection);
  }

  function evict(newest: AdminConnection): void {
    const others = [...connections.values()].filter((other) => other !== newest);
    const byClient = [...Map.groupBy(others, ({ client }) => client).values()];
    const largest = byClient.reduce((one, other) => (other.length > one.length ? other : one));
    const victim = largest.find(({ requests }) => requests === 0) ?? largest[0];
    if (victim === undefined) return;
    connections.delete(victim.key);
    metrics.evicted.add({ peer: plainAddress(victim.socket.remoteAddress ?? '') });
    victim.socket.destroy();
  }
}

/** Identifies a connection by its peer, because requests over TLS name the TLS socket instead of the TCP socket. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
