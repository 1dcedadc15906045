import type { LookupAddress } from 'node:dns';
import { createRequire } from 'node:module';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { HostAddress } from '../dns/address-list.ts';
import type { HostName } from '../dns/host-name.ts';
import { type NameResolver, systemResolver } from '../dns/name-resolver.ts';
import { RestartableTimeout } from './event-loop.ts';
import { Http1Error } from './http1-error.ts';
import { reusedReadBuffer } from './read-buffers.ts';

/** Loads the TLS library with the first connection that needs it: it takes 6 MB. */
const require = createRequire(import.meta.url);
const loadTls = (): typeof import('node:tls') => require('node:tls');

/** Receives the bytes of a socket. The socket's own events report its failure and its end. */
export interface SocketHandler {
  /** The socket is connected. @param address the address of the host name; `undefined` if the host is an IP address */
  onOpen(address?: HostAddress): void;
  /** The handler owns the bytes. */
  onBytes(bytes: Buffer): void;
}

/**
 * Opens a socket to a server.
 *
 * @param isStream true if a tunnel may take over the socket as a stream. Otherwise reads bypass the stream, which is faster
 */
export type Dial = (handler: SocketHandler, isStream: boolean) => Duplex;

const KEEP_ALIVE_PROBE_MS = 60_000;
/** The longest attempt to connect to one of several addresses (connection attempt delay, RFC 8305 section 5). */
const MAX_ATTEMPT_MS = 1_000;
/** The longest attempt as a share of the connect timeout, so that most of the timeout remains for the last address. */
const ATTEMPT_SHARE = 1 / 8;

export interface ServerAddress {
  /** Scheme, host and port. */
  readonly url: URL;
  /** The server name for TLS; `undefined` for an IP address. */
  readonly serverName: string | undefined;
}

export interface DialOptions {
  readonly connectTimeoutMs: number;
  /** Returns certificates and keys; called for each connection, because a reload may change them. */
  readonly tls: () => TlsOptions;
  /** Opens connections in memory instead of on the network. */
  readonly connect?: ((origin: string) => Duplex) | undefined;
}

/** Returns the function that opens the sockets of a server, which share TLS sessions. The connect timeout includes the lookup. */
export function createDial(
  { url, serverName }: ServerAddress,
  { connect, connectTimeoutMs, tls }: DialOptions,
  resolver: NameResolver = systemResolver,
): Dial {
  if (connect !== undefined)
    return (handler) => dialInMemory(connect(isUnixSocket(url) ? url.href : url.origin), handler);
  const isTls = url.protocol === 'https:';
  const port = Number(url.port) || (isTls ? 443 : 80);
  const host = hostOf(url);
  const isName = isIP(host) === 0;
  const autoSelectFamilyAttemptTimeout = Math.min(Math.ceil(connectTimeoutMs * ATTEMPT_SHARE), MAX_ATTEMPT_MS);
  const familySelection = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout };
  const tcpOptions = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS };
  const socketOptions = isUnixSocket(url) ? { path: url.pathname } : tcpOptions;
  let session: Buffer | undefined;

  const open = (handler: SocketHandler, isStream: boolean, hostDial: HostDial | undefined): Socket => {
    const readOptions = isStream ? socketOptions : { ...socketOptions, onread: reusedReadBuffer(handler) };
    const options =
      hostDial === undefined ? readOptions : { ...readOptions, ...familySelection, lookup: hostDial.lookup };
    if (!isTls) return connectTcp(options);
    // RFC 6066 section 3: no server name for an IP address, and no dot at the end of a name.
    const servername = (serverName ?? '').replace(/\.$/, '');
    const peerOptions = { servername, ALPNProtocols: ['http/1.1'], rejectUnauthorized: true };
    const sessionOptions = session === undefined ? {} : { session };
    const socket = loadTls().connect({ ...options, ...peerOptions, ...tls(), ...sessionOptions });
    return socket.on('session', (next) => {
      session = next;
    });
  };

  return (handler, isStream) => {
    const hostDial = isName ? new HostDial(resolver.hostName(host)) : undefined;
    const socket = open(handler, isStream, hostDial);
    hostDial?.watch(socket);
    if (isStream) socket.on('data', (bytes: Buffer) => handler.onBytes(bytes));
    const onTimeout = () => void socket.destroy(new Http1Error('connect_timeout'));
    const timeout = new RestartableTimeout(connectTimeoutMs, onTimeout).start();
    socket.on('close', () => timeout.close());
    return socket.once(isTls ? 'secureConnect' : 'connect', () => {
      timeout.close();
      handler.onOpen(hostDial?.onOpen());
    });
  };
}

/** Returns the host of a URL, an IPv6 address without its brackets. A unix socket is on this machine, and has no name to resolve. */
export function hostOf(url: URL): string {
  return isUnixSocket(url) ? '127.0.0.1' : url.hostname.replace(/^\[|\]$/g, '');
}

function isUnixSocket({ protocol }: URL): boolean {
  return protocol === 'unix:';
}

/** Returns the `Host` of a server. A unix socket has none of its own. */
export function hostHeaderOf({ host }: URL): string {
  return host || 'localhost';
}

function dialInMemory(socket: Duplex, handler: SocketHandler): Duplex {
  setImmediate(() => handler.onOpen());
  return socket.on('data', (bytes: Buffer) => handler.onBytes(bytes));
}

type Callback = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** Connects one socket to a host name: resolves it, and records the addresses that fail. */
class HostDial {
  readonly #name: HostName;
  readonly #failed = new Set<HostAddress>();
  #addresses: readonly HostAddress[] = [];
  #current: HostAddress | undefined;
  #isOpen = false;
  #cancelLookup: (() => void) | undefined;

  constructor(name: HostName) {
    this.#name = name;
  }

  /** Replaces `dns.lookup`, which blocks one of the few threads of the process until it returns. */
  readonly lookup = (_host: string, _options: unknown, callback: Callback): void => {
    this.#cancelLookup = this.#name.resolve((error, addresses) => {
      this.#addresses = addresses;
      this.#current = addresses[0];
      callback(
        error ?? null,
        addresses.map(({ ip, family }) => ({ address: ip, family })),
      );
    });
  };

  watch(socket: Socket): void {
    socket
      .on('connectionAttempt', (ip) => {
        this.#current = this.#find(ip);
      })
      .on('connectionAttemptFailed', (ip) => this.#fail(this.#find(ip)))
      .on('connectionAttemptTimeout', (ip) => this.#fail(this.#find(ip)))
      .on('close', (hadError) => {
        this.#cancelLookup?.();
        if (this.#isOpen) this.#name.connections -= 1;
        else if (hadError) this.#fail(this.#current);
      });
  }

  /** The socket is connected. @returns its address */
  onOpen(): HostAddress | undefined {
    this.#isOpen = true;
    this.#name.connections += 1;
    this.#current?.recordSuccess();
    return this.#current;
  }

  #find(ip: string): HostAddress | undefined {
    return this.#addresses.find((address) => address.ip === ip);
  }

  #fail(address: HostAddress | undefined): void {
    if (address === undefined || this.#failed.has(address)) return;
    this.#failed.add(address);
    address.recordFailure();
    this.#name.onUnreachable();
  }
}
