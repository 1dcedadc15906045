import { constants } from 'node:crypto';
import { createRequire } from 'node:module';
import { createServer, type Server, type ServerOpts, type Socket } from 'node:net';
import type * as tls from 'node:tls';
import type { CarrierSocket } from '../../http1/client-connection.ts';
import type { ClientSocket, RequestHandler } from '../../http1/request-reader.ts';
import type { ServerSettings } from '../../settings/server.ts';
import type { ServerTls } from '../../settings/tls.ts';
import type { WorkerCounter } from '../../shared-memory/buffer-parts.ts';
import { clientKey } from '../fairness/client-key.ts';
import { GatewayConnection, peerAddress } from './gateway-connection.ts';

/** Loads the TLS library only for plans with a certificate: it takes 6 MB. */
const require = createRequire(import.meta.url);
const loadTls = (): typeof tls => require('node:tls');

const TLS_HANDSHAKE_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_PROBE_MS = 60_000;

/** A server of `node:net` or `node:tls` that accepts the connections of clients. */
export type ClientServer = Server | tls.Server;

/** Serves the requests of clients. */
export type ClientHandler = RequestHandler<GatewayConnection>;

/** Creates a server that does not listen yet. A reload cannot turn TLS on or off. */
export function createClientServer({ tls }: Pick<ServerSettings, 'tls'>): ClientServer {
  const options: ServerOpts = {
    noDelay: true,
    // Otherwise a machine that disappears would hold its WebSocket or its quiet event stream forever.
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
  };
  if (tls === undefined) return createServer({ ...options, allowHalfOpen: true });
  // A client that closes its side during the handshake has left.
  return loadTls().createServer({
    ...options,
    ...tlsOptions(tls),
    handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
    ALPNProtocols: ['http/1.1'],
  });
}

/** Activates the certificate of another plan, for new connections. */
export function activateServerSettings(server: ClientServer, settings: ServerSettings, previous: ServerSettings): void {
  if (isSecure(server) && settings.tls !== undefined && settings.keys.tls !== previous.keys.tls)
    server.setSecureContext(tlsOptions(settings.tls));
}

/** The most connections of the admin API. */
export const ADMIN_CONNECTIONS = 256;

/** Returns the connection limit of the admin API. @param limit the file descriptor limit of the process */
export function adminConnectionLimit(limit: number): number {
  return Math.min(ADMIN_CONNECTIONS, Math.floor(limit / 8));
}

/** A connection that counts for its peer, and that the limit of connections may close. */
export type HeldConnection = Pick<GatewayConnection, 'peer' | 'isReplaceable' | 'isEvictable' | 'evict'>;

/** The open client connections. */
export class ClientRegistry {
  readonly connections = new Set<GatewayConnection>();
  /** The connections by the fairness key of their peer, including those in a TLS handshake. */
  readonly holders = new Map<string, Set<HeldConnection>>();
  /** The TCP sockets, including those in a TLS handshake and those of tunnels. */
  readonly sockets = new Set<ClientSocket>();
  readonly #handler: ClientHandler;
  readonly #count: Pick<WorkerCounter, 'add'>;

  /** @param count counts the sockets of all workers */
  constructor(handler: ClientHandler, count: Pick<WorkerCounter, 'add'>) {
    this.#handler = handler;
    this.#count = count;
  }

  /** Tracks and serves the connections of a server. @param onTlsError called for a TLS handshake that failed */
  attach(server: ClientServer, onTlsError: (error: NodeJS.ErrnoException, socket: Socket) => void): void {
    if (!isSecure(server)) {
      server.on('connection', (socket) => this.accept(socket, server));
      return;
    }
    /** Node tells no TCP socket of a TLS socket, but both have the same addresses. */
    const carriers = new Map<string, { readonly socket: Socket; readonly release: () => void }>();
    server.on('connection', (socket) => {
      const key = addressesOf(socket);
      const carrier = { socket, release: this.#hold(handshakeOn(socket), socket) };
      carriers.set(key, carrier);
      socket.on('close', () => {
        // Another connection may have the same addresses already.
        if (carriers.get(key) === carrier) carriers.delete(key);
      });
      this.#track(socket);
    });
    server.on('secureConnection', (socket) => {
      const carrier = carriers.get(addressesOf(socket));
      carrier?.release();
      // A connection that has just been reset has no addresses.
      if (carrier === undefined) socket.destroy();
      else this.#serve(socket, carrier.socket);
    });
    server.on('tlsClientError', onTlsError);
  }

  /** Serves the requests on a connection. If the server has TLS, its handshake is over. @param server the one that accepted it */
  accept(socket: CarrierSocket, server?: Server): void {
    this.#track(socket);
    this.#serve(socket, socket, server);
  }

  closeIdle(): void {
    for (const connection of this.connections) if (connection.isIdle) connection.closeGracefully();
  }

  #track(socket: ClientSocket): void {
    this.sockets.add(socket);
    this.#count.add(1);
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.#count.add(-1);
    });
  }

  #serve(socket: ClientSocket, carrier: CarrierSocket, server?: Server): void {
    const connection = new GatewayConnection(socket, carrier, this.#handler, server);
    this.connections.add(connection);
    socket.on('close', () => this.connections.delete(connection));
    this.#hold(connection, socket);
  }

  /** Counts a connection for its peer until its socket closes. Returns a function that ends this earlier. */
  #hold(connection: HeldConnection, socket: ClientSocket): () => void {
    const client = clientKey(connection.peer ?? '');
    const held = this.holders.get(client) ?? new Set();
    this.holders.set(client, held.add(connection));
    const release = () => {
      held.delete(connection);
      if (held.size === 0 && this.holders.get(client) === held) this.holders.delete(client);
    };
    socket.on('close', release);
    return release;
  }
}

/** Returns a TCP connection in its TLS handshake. It has no request, so another connection may replace it. */
function handshakeOn(socket: Socket): HeldConnection {
  return {
    peer: peerAddress(socket),
    get isReplaceable() {
      return !socket.destroyed;
    },
    get isEvictable() {
      return !socket.destroyed;
    },
    evict: (onClose) => void socket.once('close', onClose).destroy(),
  };
}

function addressesOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}

function isSecure(server: ClientServer): server is tls.Server {
  return 'setSecureContext' in server;
}

function tlsOptions({ pem }: ServerTls) {
  // Clients without a certificate may connect too, because probes have none.
  const clientAuth = { requestCert: pem().ca !== undefined, rejectUnauthorized: false };
  // A new handshake on the same connection would cost a client far less than the gateway. TLS 1.3 has none.
  return { ...pem(), ...clientAuth, minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const;
}

/** The number of checks within the time limit. */
const CHECKS = 8;
const MAX_INTERVAL_MS = 5_000;
/** The interval between checks of the time limits of requests. */
const TIMEOUT_CHECK_MS = 1_000;

/**
 * Closes the connections of clients that make no progress within the limit, and those that exceed the time limits of requests or of idle
 * connections. It checks all connections at intervals, because a timer would add a cost to every request.
 *
 * @returns a function that stops the checks
 */
export function closeLateClients(connections: Iterable<GatewayConnection>, limitMs: () => number): () => void {
  const intervalMs = () => Math.min(limitMs() / CHECKS, MAX_INTERVAL_MS);
  // It counts checks instead of time. Otherwise a process that was itself blocked would consider all clients stalled.
  const checkProgress = () => {
    const maxChecks = limitMs() / intervalMs();
    for (const connection of connections) {
      if (connection.checkProgress() < maxChecks) continue;
      connection.isStalled = true;
      connection.reset();
    }
    progressTimer = schedule();
  };
  const schedule = () => setTimeout(checkProgress, intervalMs()).unref();
  let progressTimer = schedule();
  const checkTimeouts = () => {
    const nowMs = performance.now();
    for (const connection of connections) connection.checkTimeouts(nowMs);
  };
  // All sockets are read first, because their bytes may have waited while the process stood still.
  const timer = setInterval(() => setImmediate(checkTimeouts), TIMEOUT_CHECK_MS).unref();
  return () => {
    clearTimeout(progressTimer);
    clearInterval(timer);
  };
}
