import { hash } from 'node:crypto';
import type { RedisConnection } from './redis-link.ts';
import { StoreError } from './store-error.ts';

/** A Lua script with one key. */
export interface Script {
  readonly text: string;
  /** The name of the script once the server has it. */
  readonly sha: string;
  /** The number of integers that it returns. */
  readonly results: number;
}

/** Released intervals that a counter remembers, for the pending requests before them. */
const MAX_RELEASED = 32;
/** Beyond this sum of released intervals, numbers would lose microseconds. The counter then begins again with its arrival time. */
const MAX_RELEASED_US = 2 ** 52;

/**
 * All times are microseconds of the server's clock, so that the clocks of the gateways do not matter.
 *
 * Imagine the intervals of the counted requests in a queue that runs down with the clock and ends at the arrival time. A counter
 * has the arrival time, its time of creation, the sum of the intervals that were released from it, and for the last ones their
 * position and length. The position of a request is its arrival time if nothing had been released before.
 */
const PREAMBLE = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local interval = tonumber(ARGV[1])
local counter = {}
for text in string.gmatch(redis.call('GET', KEYS[1]) or '', '%S+') do counter[#counter + 1] = tonumber(text) end
local function write()
  local texts = {}
  for index, number in ipairs(counter) do texts[index] = string.format('%.0f', number) end
  redis.call('SET', KEYS[1], table.concat(texts, ' '), 'PX', math.ceil((counter[1] - now) / 1000))
end
`;

/**
 * Counts requests that came at the same time. Arguments: interval, burst and the number of requests. Returns the number of allowed
 * ones, the time that the others have to wait, the time until the counter is back at its start, and the position of the last
 * allowed request with its counter, for its release.
 *
 * A counter that lies further ahead than the limit permits comes from before a change of the clock or of the limit: it would
 * otherwise block for that difference.
 */
export const COUNT = scriptOf(
  5,
  `${PREAMBLE}
local most = now + interval * tonumber(ARGV[2])
local requests = tonumber(ARGV[3])
if #counter < 3 or counter[1] <= now then counter = {now, now, 0} end
if counter[1] > most then
  counter = {most, now, 0}
  write()
end
if counter[3] > ${MAX_RELEASED_US} then counter = {counter[1], now, 0} end
local allowed = math.min(requests, math.floor((most - counter[1]) / interval))
local wait = 0
if allowed > 0 then
  counter[1] = counter[1] + allowed * interval
  write()
end
if allowed < requests then wait = counter[1] + interval - most end
return {allowed, wait, counter[1] - now, counter[1] + counter[3], counter[2]}
`,
);

/**
 * Takes the part of a counted interval that has not passed out of the queue. Arguments: interval, position and counter. The
 * requests behind it move ahead: taking more than that part would take a part of another request, and slow successes would let
 * more failures pass.
 */
export const RELEASE = scriptOf(
  1,
  `${PREAMBLE}
local position = tonumber(ARGV[2])
if #counter < 3 or counter[1] <= now or counter[2] ~= tonumber(ARGV[3]) then return {0} end
local arrival = position - counter[3]
for index = 4, #counter, 2 do
  if counter[index] > position then arrival = arrival + counter[index + 1] end
end
local unused = math.min(math.max(arrival - now, 0), interval)
if unused == 0 then return {0} end
counter[1] = counter[1] - unused
counter[3] = counter[3] + unused
table.insert(counter, position)
table.insert(counter, unused)
-- A forgotten interval moves all pending requests ahead: they then release less.
if #counter > ${3 + 2 * MAX_RELEASED} then
  table.remove(counter, 4)
  table.remove(counter, 4)
end
if counter[1] > now then write() else redis.call('DEL', KEYS[1]) end
return {1}
`,
);

function scriptOf(results: number, text: string): Script {
  return { text, sha: hash('sha1', text), results };
}

/** Runs a script. Sends its text only if the server does not have it. @throws an error for `storeErrorOf` */
export async function runScript(connection: RedisConnection, script: Script, key: string, values: readonly number[]) {
  const rest = ['1', key, ...values.map(String)];
  let response: unknown;
  try {
    response = await connection.send(['EVALSHA', script.sha, ...rest], key);
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    response = await connection.send(['EVAL', script.text, ...rest], key);
  }
  if (Array.isArray(response) && response.every(Number.isSafeInteger) && response.length === script.results)
    return response;
  throw new StoreError('response');
}
