import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls';
import type { HostAddress } from '../dns/host-address.ts';
import type { NameResolver } from '../dns/name-resolver.ts';
import { systemResolver } from '../dns/system-resolver.ts';
import { HostDial } from './host-dial.ts';
import { Http1Error } from './http1-error.ts';
import { acquireReadBuffer, lendReadBuffer, READ_BUFFER_BYTES } from './read-buffers.ts';

/** Receives the connection and the bytes of a socket. The socket's own events report its failure and its end. */
export interface SocketHandler {
  /** @param address the one that the host name resolved to; none for an IP address */
  onOpen(address?: HostAddress): void;
  /** These bytes are the user's own from then on. */
  onBytes(bytes: Buffer): void;
}

/**
 * Opens a socket to a target.
 *
 * @param isStream it is read by the events of a stream, and may be handed on as one; otherwise past the stream, which is faster
 */
export type Dial = (user: SocketHandler, isStream: boolean) => Duplex;

const KEEP_ALIVE_PROBE_MS = 60_000;
/** The longest time for one address of several (RFC 8305 section 5, the connection attempt delay). */
const MAX_ATTEMPT_MS = 1_000;
/** The same as a share of the whole time, so that the last address tried has most of it. */
const ATTEMPT_SHARE = 1 / 8;

/** A server that sockets are opened to. */
export interface ServerAddress {
  /** Scheme, host and port. */
  readonly url: URL;
  /** The name that TLS asks for; `undefined` for an address. */
  readonly serverName: string | undefined;
}

export interface DialOptions {
  readonly connectTimeoutMs: number;
  /** Certificates and keys. */
  readonly tls: () => TlsOptions;
  /** Opens a connection in memory instead of on the network. */
  readonly connect?: ((origin: string) => Duplex) | undefined;
}

/**
 * Creates the function that opens the sockets of a server; TLS sessions are shared among them. The time limit for connecting
 * includes the look-up of a name.
 */
export function createDial(
  { url, serverName }: ServerAddress,
  { connect, connectTimeoutMs, tls }: DialOptions,
  resolver: NameResolver = systemResolver,
): Dial {
  if (connect !== undefined) return (user) => dialInMemory(connect(url.origin), user);
  const isTls = url.protocol === 'https:';
  const port = Number(url.port) || (isTls ? 443 : 80);
  const host = hostOf(url);
  const isName = isIP(host) === 0;
  const autoSelectFamilyAttemptTimeout = Math.min(Math.ceil(connectTimeoutMs * ATTEMPT_SHARE), MAX_ATTEMPT_MS);
  const several = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout };
  const network = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS };
  let session: Buffer | undefined;

  const open = (user: SocketHandler, isStream: boolean, named: HostDial | undefined): Socket => {
    const reading = isStream ? network : { ...network, onread: reusedReadBuffer(user) };
    const options = named === undefined ? reading : { ...reading, ...several, lookup: named.lookup };
    if (!isTls) return connectTcp(options);
    // An address is no name that could be asked for, and a name has no dot at its end there (RFC 6066 section 3).
    const servername = (serverName ?? '').replace(/\.$/, '');
    const names = { servername, ALPNProtocols: ['http/1.1'], rejectUnauthorized: true };
    const resumed = session === undefined ? {} : { session };
    const socket = connectTls({ ...options, ...names, ...tls(), ...resumed });
    return socket.on('session', (fresh) => {
      session = fresh;
    });
  };

  return (user, isStream) => {
    const named = isName ? new HostDial(resolver.hostName(host)) : undefined;
    const socket = open(user, isStream, named);
    named?.watch(socket);
    if (isStream) socket.on('data', (bytes: Buffer) => user.onBytes(bytes));
    const timer = setTimeout(() => socket.destroy(new Http1Error('connect_timeout')), connectTimeoutMs);
    socket.on('close', () => clearTimeout(timer));
    return socket.once(isTls ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      user.onOpen(named?.onOpen());
    });
  };
}

/** The host of a URL; an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function dialInMemory(socket: Duplex, user: SocketHandler): Duplex {
  setImmediate(() => user.onOpen());
  return socket.on('data', (bytes: Buffer) => user.onBytes(bytes));
}

/** Most responses are smaller, and most connections have nothing to read. */
const FIRST_READ_BYTES = 16_384;

/** Reads into memory that is used again, unless so much has come that copying it would cost more than new memory. */
function reusedReadBuffer(user: SocketHandler) {
  let memory: Buffer<ArrayBufferLike> = Buffer.allocUnsafeSlow(FIRST_READ_BYTES);
  return {
    buffer: () => memory,
    callback: (size: number): boolean => {
      const bytes = memory.subarray(0, size);
      if (size === memory.length || size > READ_BUFFER_BYTES / 2) {
        if (memory.length === READ_BUFFER_BYTES) lendReadBuffer(memory);
        memory = acquireReadBuffer();
        user.onBytes(bytes);
      } else {
        user.onBytes(Buffer.from(bytes));
      }
      return true;
    },
  };
}
