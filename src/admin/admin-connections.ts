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
export class AdminConnections {
  /** By the address and port of the peer, the least recently active first. */
  readonly #connections = new Map<string, AdminConnection>();
  readonly #metrics: AdminMetrics;
  readonly #limit: number;

  constructor(server: Server, metrics: AdminMetrics, limit: number) {
    this.#metrics = metrics;
    this.#limit = limit;
    server.on('connection', (socket: Socket) => this.#add(socket));
  }

  /** Serves the requests of one connection in order, one at a time. */
  serve(request: IncomingMessage, response: ServerResponse, serve: () => Promise<void>): void {
    const connection = this.#connections.get(keyOf(request.socket));
    if (connection === undefined || connection.requests >= MAX_PIPELINED) return void request.socket.destroy();
    connection.requests += 1;
    this.#touch(connection);
    connection.last = connection.last.then(async () => {
      if (connection.socket.destroyed) return;
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      response.once('close', resolve);
      connection.abandon = resolve;
      await serve().catch((error: Error) => {
        this.#metrics.failed.add({ reason: error.message });
        connection.socket.destroy();
      });
      await ended;
      connection.requests -= 1;
      this.#touch(connection);
    });
  }

  close(): void {
    for (const { socket } of this.#connections.values()) socket.destroy();
  }

  #add(socket: Socket): void {
    const key = keyOf(socket);
    const connection: AdminConnection = {
      key,
      socket,
      client: clientKey(socket.remoteAddress ?? ''),
      requests: 0,
      last: Promise.resolve(),
      abandon: undefined,
    };
    this.#connections.set(key, connection);
    this.#metrics.connections = this.#connections.size;
    socket.on('close', () => {
      connection.abandon?.();
      if (this.#connections.get(key) === connection) this.#connections.delete(key);
      this.#metrics.connections = this.#connections.size;
    });
    if (this.#connections.size > this.#limit) this.#evict(connection);
  }

  #touch(connection: AdminConnection): void {
    if (this.#connections.get(connection.key) !== connection) return;
    this.#connections.delete(connection.key);
    this.#connections.set(connection.key, connection);
  }

  #evict(newest: AdminConnection): void {
    const others = [...this.#connections.values()].filter((other) => other !== newest);
    const byClient = [...Map.groupBy(others, ({ client }) => client).values()];
    const largest = byClient.reduce((one, other) => (other.length > one.length ? other : one));
    const victim = largest.find(({ requests }) => requests === 0) ?? largest[0];
    if (victim === undefined) return;
    this.#connections.delete(victim.key);
    this.#metrics.evicted.add({ peer: plainAddress(victim.socket.remoteAddress ?? '') });
    victim.socket.destroy();
  }
}

/** Identifies a connection by its peer, because requests over TLS name the TLS socket instead of the TCP socket. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
