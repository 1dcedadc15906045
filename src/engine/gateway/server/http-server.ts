import * as http from 'node:http';
import type * as https from 'node:https';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ServerSettings } from '../../settings/server.ts';
import type { ServerTls } from '../../settings/tls.ts';
import type { WorkerCounter } from '../../shared-memory/worker-counter.ts';
import { ClientConnection, type RefusalHandler } from './client-connection.ts';

/** Loads the TLS library only for plans with a certificate: it takes 6 MB. */
const require = createRequire(import.meta.url);
const loadHttps = (): typeof https => require('node:https');

/** The interval at which Node checks its request time limits. The default is 30 s. */
const CHECK_MS = 1_000;
const TLS_HANDSHAKE_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_PROBE_MS = 60_000;

export type HttpServer = http.Server | https.Server;

/** Creates a server that does not listen yet. A reload cannot turn TLS on or off. */
export function createHttpServer(
  settings: ServerSettings,
  shouldUpgradeCallback: http.ServerOptions['shouldUpgradeCallback'],
): HttpServer {
  const options: http.ServerOptions = {
    connectionsCheckingInterval: CHECK_MS,
    // The gateway refuses a missing Host when it reads the request head.
    requireHostHeader: false,
    // Otherwise a machine that disappears would hold its WebSocket or its quiet event stream forever.
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    // Node then creates no stream for a request without a body.
    optimizeEmptyRequests: true,
    shouldUpgradeCallback,
  };
  const server =
    settings.tls === undefined
      ? http.createServer(options)
      : loadHttps().createServer({
          ...options,
          ...tlsOptions(settings.tls),
          handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
          ALPNProtocols: ['http/1.1'],
        });
  // Node would silently drop headers beyond its own limit. The gateway counts them when it reads the request head.
  server.maxHeadersCount = 0;
  applyLimits(server, settings);
  return server;
}

/**
 * Activates the settings of another plan. The header limit and the certificate apply to new connections, the time limits to
 * all.
 */
export function activateServerSettings(server: HttpServer, settings: ServerSettings, previous: ServerSettings): void {
  applyLimits(server, settings);
  if (isSecure(server) && settings.tls !== undefined && settings.keys.tls !== previous.keys.tls)
    server.setSecureContext(tlsOptions(settings.tls));
}

/** The open client connections. */
export interface ClientRegistry {
  /** By the socket that carries HTTP: the TLS socket if the server has TLS. */
  readonly connections: ReadonlyMap<Duplex, ClientConnection>;
  /** The connections by the fairness key of their peer. */
  readonly holders: ReadonlyMap<string, ReadonlySet<ClientConnection>>;
  /** The TCP sockets, including those in a TLS handshake and those of tunnels, which the server itself does not track. */
  readonly sockets: ReadonlySet<Socket>;
}

/**
 * Tracks the connections of a server.
 *
 * @param refuse refuses bytes that are not a valid request
 * @param count counts the sockets of all workers
 */
export function trackClientConnections(
  server: HttpServer,
  refuse: RefusalHandler,
  count: WorkerCounter,
): ClientRegistry {
  const connections = new Map<Duplex, ClientConnection>();
  const holders = new Map<string, Set<ClientConnection>>();
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    count.add(1);
    socket.on('close', () => {
      sockets.delete(socket);
      count.add(-1);
    });
  });
  server.on(isSecure(server) ? 'secureConnection' : 'connection', (socket: Socket) => {
    const connection = new ClientConnection(socket, refuse);
    const { client } = connection;
    const held = holders.get(client) ?? new Set();
    connections.set(socket, connection);
    holders.set(client, held.add(connection));
    socket.on('close', () => {
      connections.delete(socket);
      held.delete(connection);
      if (held.size === 0) holders.delete(client);
    });
  });
  // Node's implementation would also cut a response whose last bytes are not yet sent.
  server.closeIdleConnections = () => {
    for (const connection of connections.values()) if (connection.isIdle) connection.closeGracefully();
  };
  server.on('timeout', (socket: Socket) => connections.get(socket)?.closeGracefully());
  return { connections, holders, sockets };
}

function isSecure(server: HttpServer): server is https.Server {
  return 'setSecureContext' in server;
}

function applyLimits(server: HttpServer, settings: ServerSettings): void {
  server.headersTimeout = settings.headersTimeoutMs;
  server.requestTimeout = settings.requestTimeoutMs;
  server.keepAliveTimeout = settings.keepAliveTimeoutMs;
  // Node documents this as an option only, but reads it for each connection.
  Object.assign(server, { maxHeaderSize: settings.headerLimitBytes });
}

function tlsOptions({ pem }: ServerTls) {
  return { ...pem(), minVersion: 'TLSv1.2' } as const;
}
