import type { CounterStore } from '../counter-store.ts';
import { Deadlines } from './deadlines.ts';
import { COUNT, runScript } from './gcra-script.ts';
import { type OpenOptions, openRedis } from './redis-connection.ts';
import type { RedisConnection } from './redis-link.ts';
import { StoreError } from './store-error.ts';

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
  const deadlines = new Deadlines(timeoutMs);
  let settle = () => {};
  const expired = new Promise((_resolve, reject) => {
    settle = deadlines.add({ expire: () => reject(new StoreError('timeout')) });
  });
  const runs = connection.probeKeys.map((key) => runScript(connection, COUNT, key, PROBE_VALUES));
  try {
    await Promise.race([Promise.all(runs), expired]);
  } finally {
    settle();
  }
}
