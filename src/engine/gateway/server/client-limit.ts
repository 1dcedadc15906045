import type { Duplex } from 'node:stream';
import { type Log, ThrottledWarning } from '../../log/log.ts';
import type { WorkerCounter } from '../../shared-memory/worker-counter.ts';
import type { HttpServer } from './http-server.ts';

/** Limits the client connections of all workers together. */
export class ClientLimit {
  /** The most connections at one time. */
  limit = Number.POSITIVE_INFINITY;
  readonly #connections: WorkerCounter;
  readonly #refused: WorkerCounter;
  readonly #warning: ThrottledWarning;

  /**
   * @param connections counts the open connections
   * @param refused counts the connections that were closed because of the limit
   */
  constructor(logger: Log['logger'], connections: WorkerCounter, refused: WorkerCounter) {
    this.#connections = connections;
    this.#refused = refused;
    this.#warning = new ThrottledWarning(logger, 'connections over the limit were closed');
  }

  /** Applies the limit to a server that counts its connections already. */
  apply(server: HttpServer): void {
    // Node reads it for each connection that it accepts, and compares it with the connections of this worker.
    Object.defineProperty(server, 'maxConnections', { get: () => this.limit - this.#connections.others });
    server.on('drop', () => this.#countRefused());
    server.on('connection', (socket: Duplex) => {
      // Two workers may accept the last connection at the same time.
      if (this.#connections.others === 0 || this.#connections.total <= this.limit) return;
      this.#countRefused();
      // The other listeners prepare the connection first.
      process.nextTick(() => socket.destroy());
    });
  }

  #countRefused(): void {
    this.#refused.add(1);
    this.#warning.add();
  }
}
