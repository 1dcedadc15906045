import type { Socket } from 'node:net';
import { type Log, ThrottledWarning } from '../../log/log.ts';
import type { ServerSettings } from '../../settings/server.ts';
import type { WorkerCounter } from '../../shared-memory/buffer-parts.ts';
import { clientKey } from '../fairness/client-key.ts';
import type { ClientRegistry, ClientServer, HeldConnection } from './client-server.ts';
import { peerAddress, UNIX_PEER } from './gateway-connection.ts';

/** The most connections over the limit at one moment, until the system has closed those that the limit ends. */
const MAX_OVER = 64;

/** The connections of one client in this worker. */
type Held = ReadonlySet<HeldConnection>;

/**
 * Limits the client connections of all workers together. Beyond the limit, a new connection replaces an idle one of the peer that
 * holds the most, so that no client keeps out the others. The client that holds the most gets no new connection itself.
 */
export class ClientLimit {
  /** The most connections at one time. */
  limit = Number.POSITIVE_INFINITY;
  readonly #connections: WorkerCounter;
  readonly #refused: WorkerCounter;
  readonly #warning: ThrottledWarning;
  /** Connections that still count, although the limit has closed them. */
  #closing = 0;

  /** `connections` counts the open connections, and `refused` those that were closed because of the limit. */
  constructor(logger: Log['logger'], connections: WorkerCounter, refused: WorkerCounter) {
    this.#connections = connections;
    this.#refused = refused;
    this.#warning = new ThrottledWarning(logger, 'connections over the limit were closed');
  }

  /**
   * Applies the limit to a server that counts its connections already.
   *
   * @param trustedProxies each of them speaks for many clients, as a unix socket does, so it loses only idle connections, also to its own
   *   new ones
   */
  apply(
    server: ClientServer,
    holders: ClientRegistry['holders'],
    trustedProxies: () => ServerSettings['trustedProxies'],
  ): void {
    // Node reads it for each connection that it accepts, and compares it with the connections of this worker.
    const get = () => this.limit - this.#connections.others + MAX_OVER;
    Object.defineProperty(server, 'maxConnections', { get });
    server.on('drop', () => this.#count(undefined));
    server.on('connection', (socket: Socket) => {
      if (this.#connections.total - this.#closing <= this.limit) return;
      const isTrusted = trustedProxies();
      const isProxy = ([first]: Held) => {
        const peer = first?.peer;
        return peer === UNIX_PEER || (peer !== undefined && isTrusted?.(peer) === true);
      };
      // The other listeners prepare the connection first.
      this.#closing += 1;
      const client = clientKey(peerAddress(socket, server) ?? '');
      process.nextTick(() => this.#makeRoom(socket, client, holders, isProxy));
    });
  }

  #makeRoom(
    socket: Socket,
    client: string,
    holders: ClientRegistry['holders'],
    isProxy: (held: Held) => boolean,
  ): void {
    const own = holders.get(client);
    const ownSize = own === undefined || isProxy(own) ? 0 : own.size;
    const rivals = [...holders.values()].filter((held) => held.size >= ownSize && (held !== own || isProxy(held)));
    let largest: Held | undefined;
    for (const held of rivals) if (held.size > (largest?.size ?? 0)) largest = held;
    const victim = largest && this.#findVictim(largest, rivals, isProxy);
    this.#count(largest ?? own);
    const onClose = () => {
      this.#closing -= 1;
    };
    if (victim !== undefined) victim.evict(onClose);
    else if (socket.destroyed) onClose();
    else socket.once('close', onClose).destroy();
  }

  /** Prefers an idle connection of the largest holder. A client with more than half of the connections loses a busy one too. */
  #findVictim(largest: Held, rivals: readonly Held[], isProxy: (held: Held) => boolean): HeldConnection | undefined {
    for (const held of [largest, ...rivals])
      for (const connection of held) if (connection.isReplaceable) return connection;
    if (isProxy(largest) || largest.size * 2 <= this.#connections.own) return undefined;
    return [...largest].find(({ isEvictable }) => isEvictable);
  }

  #count(held: Held | undefined): void {
    const [first] = held ?? [];
    this.#refused.add(1);
    this.#warning.add(held && { holder: first?.peer, held: held.size });
  }
}
