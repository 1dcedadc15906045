import type { CounterStore, RedisSettings } from '../compile-stores.ts';
import { inTime } from './deadline.ts';
import { COUNT, runScript } from './gcra-script.ts';
import { openCluster } from './redis-cluster.ts';
import { type LinkOptions, type RedisAddress, type RedisConnection, RedisLink } from './redis-link.ts';
import { StoreError, storeErrorOf } from './store-error.ts';

type OpenOptions = Omit<LinkOptions, 'isTls' | 'settings'>;

/** A port without a number in the URL. */
const DEFAULT_PORTS = { server: 6379, sentinel: 26379, cluster: 6379 } as const;

/** Opens a connection to a store, by the first of its URLs that works. @throws StoreError */
export async function openRedis(settings: RedisSettings, options: OpenOptions): Promise<RedisConnection> {
  let failure = new StoreError('unreachable');
  for (const text of settings.urls) {
    const url = new URL(text);
    // URL keeps the brackets of an IPv6 address.
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const address = { host, port: Number(url.port) || DEFAULT_PORTS[settings.kind] };
    const linkOptions = { ...options, settings, isTls: url.protocol === 'rediss:' };
    try {
      return await OPENERS[settings.kind](address, linkOptions, settings);
    } catch (error) {
      failure = storeErrorOf(error);
    }
  }
  throw failure;
}

type Opener = (address: RedisAddress, options: LinkOptions, settings: RedisSettings) => Promise<RedisConnection>;

const OPENERS: Readonly<Record<RedisSettings['kind'], Opener>> = {
  server: (address, options) => RedisLink.open(address, options),
  sentinel: async (address, options, settings) =>
    RedisLink.open(await findPrimary(address, options, settings), options),
  cluster: openCluster,
};

/** Returns the address of the primary that a Sentinel server names. @throws StoreError */
async function findPrimary(
  sentinel: RedisAddress,
  options: LinkOptions,
  { ca, name = '', sentinelUser }: RedisSettings,
): Promise<RedisAddress> {
  const settings = { ca, database: 0, username: sentinelUser?.username, password: sentinelUser?.password };
  const link = await RedisLink.open(sentinel, { ...options, settings });
  try {
    const response = await link.sendInTime(['SENTINEL', 'get-master-addr-by-name', name]);
    const [host, port] = Array.isArray(response) ? response : [];
    if (typeof host !== 'string' || !(Number(port) > 0)) throw new StoreError('primary');
    return { host, port: Number(port) };
  } finally {
    link.close();
  }
}

/** The time limit of each step of a connection. */
const CONNECT_TIMEOUT_MS = 1_000;
/** An interval of one second, which is over by itself soon after. */
const PROBE_VALUES = [1_000_000, 1_000_000, 1];

/** Opens a connection whose servers make decisions in time. @throws an error for `storeErrorOf` */
export async function openResponsive(
  { redis, timeoutMs }: CounterStore,
  options: Pick<OpenOptions, 'resolver' | 'signal'>,
): Promise<RedisConnection> {
  const connectTimeoutMs = Math.max(CONNECT_TIMEOUT_MS, timeoutMs);
  const connection = await openRedis(redis(), { ...options, connectTimeoutMs });
  try {
    // The first run may have to send the script.
    await probe(connection, connectTimeoutMs);
    await probe(connection, timeoutMs);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Makes a decision on each server. @throws an error for `storeErrorOf` */
async function probe(connection: RedisConnection, timeoutMs: number): Promise<void> {
  const runs = connection.probeKeys.map((key) => runScript(connection, COUNT, key, PROBE_VALUES));
  await inTime(Promise.all(runs), timeoutMs);
}
