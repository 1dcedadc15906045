import type { RedisClientOptions } from '@redis/client';
import type { NameResolver } from '../../dns/name-resolver.ts';
import type { RedisSettings } from '../compile-stores.ts';
import { inTime } from './deadline.ts';
import { StoreError, storeErrorOf } from './store-error.ts';

type CreateClient = Awaited<ReturnType<typeof importRedis>>;
type Client = ReturnType<CreateClient>;
type ClientOptions = Omit<RedisClientOptions, 'RESP' | 'modules' | 'functions' | 'scripts'>;

/** The oldest protocol, which proxies for Redis understand too. */
const PROTOCOL = 2;

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

export interface LinkOptions {
  readonly isTls: boolean;
  readonly settings: Pick<RedisSettings, 'ca' | 'username' | 'password' | 'database'>;
  readonly resolver: NameResolver;
  /** The time limit of the connection with its TLS handshake, its authentication and its first response. */
  readonly connectTimeoutMs: number;
  /** Ends an attempt to connect. */
  readonly signal: AbortSignal;
}

let created: Promise<CreateClient> | undefined;

/** Loads the library, which takes 30 MB and a tenth of a second, with the first store. */
export function loadRedis(): Promise<CreateClient> {
  created ??= importRedis();
  return created;
}

/**
 * Returns a function that creates clients of one class. `createClient` of the library creates a class with all commands for each
 * other address, which blocks the process for tens of milliseconds.
 */
async function importRedis() {
  const { RedisClient } = await import('@redis/client');
  const createClient = RedisClient.factory({ RESP: PROTOCOL });
  // The client reads the protocol from its own options too, which their type does not say.
  return (options: ClientOptions) => createClient({ ...options, ...{ RESP: PROTOCOL } });
}

/** An open connection to a store: to one server, to the primary behind Sentinel, or to all primaries of a cluster. */
export interface RedisConnection {
  /** Called once, when the connection or a part of it fails. */
  onLost: (error: StoreError) => void;
  /** Keys of which each server has at least one. */
  readonly probeKeys: readonly string[];
  /** Sends a command to the server of a key. @throws an error for `storeErrorOf` */
  send(command: readonly string[], key: string): Promise<unknown>;
  close(): void;
}

/** No value of a limit has this key. */
const PROBE_KEY = 'sg:rl:@probe';

/**
 * One connection to one server. It never reconnects: after an error it is closed, and every command that waits for a response
 * fails. Nothing is queued while there is no connection.
 */
export class RedisLink implements RedisConnection {
  readonly probeKeys = [PROBE_KEY];
  onLost: (error: StoreError) => void = () => undefined;
  readonly #client: Client;
  readonly #timeoutMs: number;
  #error: StoreError | undefined;

  private constructor(client: Client, timeoutMs: number) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
    // The library reports bytes that are no Redis protocol here too. Later responses could then belong to other commands.
    client.on('error', (error) => this.#fail(storeErrorOf(error)));
  }

  /** Opens a connection. @throws StoreError */
  static async open(address: RedisAddress, options: LinkOptions): Promise<RedisLink> {
    const { signal, connectTimeoutMs } = options;
    const createClient = await loadRedis();
    if (signal.aborted) throw new StoreError('closed');
    const link = new RedisLink(createClient(clientOptions(address, options)), connectTimeoutMs);
    const close = () => link.close();
    signal.addEventListener('abort', close);
    try {
      await link.#inTime(link.#client.connect());
      return link;
    } finally {
      signal.removeEventListener('abort', close);
    }
  }

  /** Sends a command. @throws the error of the server, for `storeErrorOf`, or a `StoreError` if the connection fails */
  async send(command: readonly string[]): Promise<unknown> {
    try {
      return await this.#client.sendCommand(command);
    } catch (error) {
      throw this.#error ?? error;
    }
  }

  /** Sends a command, and closes the connection if there is no response within the time to connect. @throws StoreError */
  sendInTime(command: readonly string[]): Promise<unknown> {
    return this.#inTime(this.send(command));
  }

  close(): void {
    this.#fail(new StoreError('closed'));
  }

  /** The library waits without a limit for a server that accepts the connection and never responds. */
  async #inTime<Value>(work: Promise<Value>): Promise<Value> {
    try {
      const value = await inTime(work, this.#timeoutMs);
      if (this.#error !== undefined) throw this.#error;
      return value;
    } catch (error) {
      this.#fail(storeErrorOf(error));
      throw this.#error;
    }
  }

  #fail(error: StoreError): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.#client.destroy();
    this.onLost(error);
  }
}

function clientOptions({ host, port }: RedisAddress, options: LinkOptions): ClientOptions {
  const { isTls, settings, resolver, connectTimeoutMs } = options;
  const { ca, username, password, database } = settings;
  const socket = {
    host,
    port,
    connectTimeout: connectTimeoutMs,
    reconnectStrategy: false as const,
    lookup: (name: string, _options: unknown, callback: LookupCallback) => {
      resolver.hostName(name).resolve((error, addresses) => {
        callback(
          error ?? null,
          addresses.map(({ ip, family }) => ({ address: ip, family })),
        );
      });
    },
  };
  return {
    socket: isTls ? { ...socket, tls: true, ...(ca === undefined ? {} : { ca }) } : socket,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    database,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // Each decision has a time limit of its own.
    commandOptions: { timeout: 0 },
  };
}

type LookupCallback = (error: Error | null, addresses: { address: string; family: number }[]) => void;
