import { hash } from 'node:crypto';
import type { RedisConnection } from './redis-connection.ts';
import { StoreError } from './store-error.ts';

/** A Lua script with one key. */
export interface Script {
  readonly text: string;
  /** The name of the script once the server has it. */
  readonly sha: string;
  /** The number of integers that it returns. */
  readonly results: number;
}

/**
 * The clock of the server, so that the clocks of the gateways do not matter. All times are microseconds. A counter that lies
 * further ahead than the limit permits comes from before a change of the clock or of the limit: it would otherwise block for
 * that difference.
 */
const PREAMBLE = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local interval = tonumber(ARGV[1])
local function set(arrival)
  redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000))
end
local stored = tonumber(redis.call('GET', KEYS[1]) or '')
`;

/**
 * Counts a request as `LocalCounters.count` does. Arguments: interval and burst. Returns the time to wait (0 if the request is
 * allowed), the time until the counter is back at its start, and the arrival time of the request.
 */
export const COUNT = scriptOf(
  3,
  `${PREAMBLE}
local most = interval * tonumber(ARGV[2])
local arrival = math.max(stored or now, now)
if arrival > now + most then
  arrival = now + most
  set(arrival)
end
local after = arrival + interval
if after > now + most then return {after - now - most, arrival - now, after} end
set(after)
return {0, after - now, after}
`,
);

/** Takes a request back as `LocalCounters.release` does. Arguments: interval, and the arrival time of the request. */
export const RELEASE = scriptOf(
  1,
  `${PREAMBLE}
local unused = math.min(math.max(tonumber(ARGV[2]) - now, 0), interval)
if not stored or unused == 0 then return {0} end
if stored - unused > now then set(stored - unused) else redis.call('DEL', KEYS[1]) end
return {1}
`,
);

function scriptOf(results: number, text: string): Script {
  return { text, sha: hash('sha1', text), results };
}

/** Runs a script. Sends its text only if the server does not have it. @throws an error for `storeErrorOf` */
export async function runScript(
  connection: RedisConnection,
  script: Script,
  key: string,
  values: readonly number[],
): Promise<readonly number[]> {
  const rest = ['1', key, ...values.map(String)];
  let reply: unknown;
  try {
    reply = await connection.send(key, ['EVALSHA', script.sha, ...rest]);
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    reply = await connection.send(key, ['EVAL', script.text, ...rest]);
  }
  if (isIntegers(reply) && reply.length === script.results) return reply;
  throw new StoreError('reply');
}

function isIntegers(reply: unknown): reply is readonly number[] {
  return Array.isArray(reply) && reply.every(Number.isSafeInteger);
}
