import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ServerSettings } from '../../plan/settings/server.ts';
import type { ServerTls } from '../../plan/settings/tls.ts';
import { ClientConnection, type RefusalHandler } from './client-connection.ts';

/** How soon what is late is noticed. Node would look every 30 s. */
const CHECK_MS = 1_000;
const HANDSHAKE_MS = 10_000;

export type HttpServer = http.Server | https.Server;

/** Makes the server of these rules, which does not listen yet. Whether it speaks TLS cannot be changed any more. */
export function createHttpServer(
  rules: ServerSettings,
  shouldUpgradeCallback: http.ServerOptions['shouldUpgradeCallback'],
): HttpServer {
  const options: http.ServerOptions = {
    connectionsCheckingInterval: CHECK_MS,
    // A missing Host is refused like everything else, where the head is read.
    requireHostHeader: false,
    // A request without a body needs no stream that ends.
    optimizeEmptyRequests: true,
    shouldUpgradeCallback,
  };
  const server =
    rules.tls === undefined
      ? http.createServer(options)
      : https.createServer({
          ...options,
          ...tlsOptions(rules.tls),
          handshakeTimeout: HANDSHAKE_MS,
          ALPNProtocols: ['http/1.1'],
        });
  // Node drops the headers above its own count in silence; the head is counted where it is read.
  server.maxHeadersCount = 0;
  applyLimits(server, rules);
  return server;
}

/** Puts other rules in force: for connections that are opened from now on, and most of them at once. */
export function activateServerRules(server: HttpServer, rules: ServerSettings, previous: ServerSettings): void {
  applyLimits(server, rules);
  if (isSecure(server) && rules.tls !== undefined && rules.keys.tls !== previous.keys.tls)
    server.setSecureContext(tlsOptions(rules.tls));
}

/** Who is connected. */
export interface ClientRegistry {
  /** By the sockets that speak HTTP. */
  readonly connections: ReadonlyMap<Duplex, ClientConnection>;
  /** Those that carry them, in the middle of a TLS handshake too: the server itself forgets what was upgraded. */
  readonly sockets: ReadonlySet<Socket>;
}

/** @param refuse refuses bytes that are no request */
export function trackClientConnections(server: HttpServer, refuse: RefusalHandler): ClientRegistry {
  const connections = new Map<Duplex, ClientConnection>();
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on(isSecure(server) ? 'secureConnection' : 'connection', (socket: Socket) => {
    connections.set(socket, new ClientConnection(socket, refuse));
    socket.on('close', () => connections.delete(socket));
  });
  // Node's own would also cut a response whose last bytes still wait for the client.
  server.closeIdleConnections = () => {
    for (const connection of connections.values()) if (connection.isIdle) connection.closeGracefully();
  };
  server.on('timeout', (socket: Socket) => connections.get(socket)?.closeGracefully());
  return { connections, sockets };
}

function isSecure(server: HttpServer): server is https.Server {
  return 'setSecureContext' in server;
}

function applyLimits(server: HttpServer, rules: ServerSettings): void {
  server.headersTimeout = rules.headersTimeoutMs;
  server.requestTimeout = rules.requestTimeoutMs;
  server.keepAliveTimeout = rules.keepAliveTimeoutMs;
  // Known as an option; read anew for each connection.
  Object.assign(server, { maxHeaderSize: rules.headerLimitBytes });
}

function tlsOptions({ pem }: ServerTls) {
  return { ...pem(), minVersion: 'TLSv1.2' } as const;
}
