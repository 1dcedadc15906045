import type { Server } from 'node:net';
import { type CarrierSocket, ClientConnection } from '../../http1/client-connection.ts';
import type { ClientSocket, RequestHandler } from '../../http1/request-reader.ts';
import type { ServerSettings } from '../../settings/server.ts';
import { clientKey, plainAddress } from '../fairness/client-key.ts';

/** Stands for the address of a client of a unix socket, which has none. */
export const UNIX_PEER = 'unix';

/** Returns the address of the peer; `undefined` once the socket is closed. @param server the one that accepted the socket */
export function peerAddress({ remoteAddress }: ClientSocket, server?: Server): string | undefined {
  if (remoteAddress !== undefined) return plainAddress(remoteAddress);
  return typeof server?.address() === 'string' ? UNIX_PEER : undefined;
}

/** The connection of a client, with the facts that the gateway needs about its peer. */
export class GatewayConnection extends ClientConnection {
  readonly protocol: 'http' | 'https';
  readonly peer: string | undefined;
  /** The fairness key of the peer. */
  readonly client: string;
  readonly handler: RequestHandler<this>;
  #trustCheck: ServerSettings['trustedProxies'];
  #isTrusted = false;

  /** @param carrier the socket of TCP below that of TLS */
  constructor(
    socket: ClientSocket,
    carrier: CarrierSocket,
    handler: RequestHandler<GatewayConnection>,
    server?: Server,
  ) {
    super(socket, carrier);
    this.protocol = 'encrypted' in socket ? 'https' : 'http';
    this.peer = peerAddress(socket, server);
    this.client = clientKey(this.peer ?? '');
    this.handler = handler;
  }

  /** True if the peer is a trusted proxy. The result is cached for each plan. */
  isTrustedProxy(isTrusted: NonNullable<ServerSettings['trustedProxies']>): boolean {
    if (isTrusted !== this.#trustCheck) {
      this.#trustCheck = isTrusted;
      this.#isTrusted = this.peer !== undefined && isTrusted(this.peer);
    }
    return this.#isTrusted;
  }
}
