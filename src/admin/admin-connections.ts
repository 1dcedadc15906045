import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientKey } from '../fairness/client-key.ts';
import type { AdminMetrics } from './admin-metrics.ts';

/** Requests of one connection that wait for the responses before them. No tool for operators sends requests ahead. */
const MAX_PIPELINED = 8;

interface AdminConnection {
  readonly key: string;
  /** Below TLS. */
  readonly socket: Socket;
  readonly client: string;
  /** Requests that have no whole response yet. */
  requests: number;
  last: Promise<void>;
  /** Ends the wait for the response that is being written. */
  abandon: (() => void) | undefined;
}

/**
 * The connections of the admin API. A new connection is always accepted, so that a probe is answered: beyond the limit the
 * client that holds the most connections loses one, an idle one first, else the one that has been active least recently.
 */
export class AdminConnections {
  /** By the address and port of the peer; the least recently active one first. */
  readonly #all = new Map<string, AdminConnection>();
  readonly #counts: AdminMetrics;
  readonly #limit: number;

  constructor(server: Server, counts: AdminMetrics, limit: number) {
    this.#counts = counts;
    this.#limit = limit;
    server.on('connection', (socket: Socket) => this.#add(socket));
  }

  /** Serves the requests of one connection one after the other, in their order. */
  serve(request: IncomingMessage, response: ServerResponse, serve: () => Promise<void>): void {
    const connection = this.#all.get(keyOf(request.socket));
    if (connection === undefined || connection.requests >= MAX_PIPELINED) return void request.socket.destroy();
    connection.requests += 1;
    this.#touch(connection);
    connection.last = connection.last.then(async () => {
      if (connection.socket.destroyed) return;
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      response.once('close', resolve);
      connection.abandon = resolve;
      await serve().catch((error: Error) => {
        this.#counts.recordResponseError(error);
        connection.socket.destroy();
      });
      await ended;
      connection.requests -= 1;
      this.#touch(connection);
    });
  }

  close(): void {
    for (const { socket } of this.#all.values()) socket.destroy();
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
    this.#all.set(key, connection);
    this.#counts.connections = this.#all.size;
    socket.on('close', () => {
      connection.abandon?.();
      if (this.#all.get(key) === connection) this.#all.delete(key);
      this.#counts.connections = this.#all.size;
    });
    if (this.#all.size > this.#limit) this.#evict(connection);
  }

  #touch(connection: AdminConnection): void {
    if (this.#all.get(connection.key) !== connection) return;
    this.#all.delete(connection.key);
    this.#all.set(connection.key, connection);
  }

  #evict(newest: AdminConnection): void {
    const others = [...this.#all.values()].filter((other) => other !== newest);
    const byClient = [...Map.groupBy(others, ({ client }) => client).values()];
    const most = byClient.reduce((one, other) => (other.length > one.length ? other : one));
    const victim = most.find(({ requests }) => requests === 0) ?? most[0];
    if (victim === undefined) return;
    this.#all.delete(victim.key);
    this.#counts.recordEviction(victim.socket.remoteAddress ?? '');
    victim.socket.destroy();
  }
}

/** A TLS socket and the socket that carries it have the same peer. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
