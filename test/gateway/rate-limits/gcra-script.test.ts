import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NameResolver } from '../../../src/dns/name-resolver.ts';
import { LocalCounters } from '../../../src/gateway/rate-limits/local-counters.ts';
import { COUNT, RELEASE, runScript, type Script } from '../../../src/gateway/rate-limits/redis/gcra-script.ts';
import { openRedis, type RedisConnection } from '../../../src/gateway/rate-limits/redis/redis-connection.ts';
import type { RateLimit } from '../../../src/plan/rate-limits/rate-limit.ts';
import { hasRedis, type Redis, startRedis, stopRedis } from '../../support/redis.ts';
import { runs } from '../../support/runs.ts';

/** A script whose clock is in its arguments, in seconds and microseconds. */
function withClock({ text, results }: Script, position: number): Script {
  const clocked = text.replace("redis.call('TIME')", `{ARGV[${position}], ARGV[${position + 1}]}`);
  return { text: clocked, sha: '0'.repeat(40), results };
}

const count = withClock(COUNT, 3);
const release = withClock(RELEASE, 3);
/** Far enough in the future that the server does not delete keys during the test. */
const START_S = 2_000_000_000;

let redis: Redis;
let connection: RedisConnection;
let keys = 0;

const clock = (us: number) => [START_S + Math.floor(us / 1_000_000), us % 1_000_000];

describe.skipIf(!hasRedis)('the script that counts', () => {
  beforeAll(async () => {
    redis = await startRedis();
    connection = await openRedis(
      {
        kind: 'server',
        urls: [redis.url],
        name: undefined,
        database: 0,
        username: undefined,
        password: undefined,
        sentinelUser: undefined,
        ca: undefined,
      },
      { resolver: new NameResolver(), connectTimeoutMs: 5_000, signal: new AbortController().signal },
    );
  });

  afterAll(async () => {
    connection.close();
    await stopRedis();
  });

  it('counts and takes back as the counters of a process do', async () => {
    const step = fc.record({
      // Most often no time, so that limits are reached.
      pauseUs: fc.oneof(
        fc.constant(0),
        fc.integer({ min: 0, max: 3_000_000 }),
        fc.integer({ min: 0, max: 200_000_000 }),
      ),
      release: fc.option(fc.nat(), { nil: undefined, freq: 2 }),
    });
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom(60, 1_000, 60_000, 600_000),
      fc.array(step, { maxLength: 40 }),
      async (burst, intervalMs, steps) => {
        keys += 1;
        const key = `sg:rl:test:${keys}`;
        let nowUs = 0;
        const local = new LocalCounters(() => nowUs / 1_000);
        const limit = { id: 'test', key: 'test', intervalMs, burst } as RateLimit;
        const counted: { us: number; local: ReturnType<LocalCounters['count']> }[] = [];
        const intervalUs = intervalMs * 1_000;
        for (const { pauseUs, release: index } of steps) {
          nowUs += pauseUs;
          const [taken] = index === undefined ? [] : counted.splice(index % (counted.length || 1), 1);
          if (taken !== undefined) {
            local.release(limit, 'a', taken.local);
            await runScript(connection, release, key, [intervalUs, taken.us, ...clock(nowUs)]);
            continue;
          }
          const expected = local.count(limit, 'a');
          const reply = await runScript(connection, count, key, [intervalUs, burst, ...clock(nowUs)]);
          const [waitUs = 0, aheadUs = 0, arrivalUs = 0] = reply;
          expect(waitUs / 1_000).toBeCloseTo(expected.waitMs, 2);
          expect(aheadUs / 1_000).toBeCloseTo(expected.resetMs, 2);
          if (waitUs === 0) counted.push({ us: arrivalUs, local: expected });
        }
      },
    );
    await fc.assert(property, { numRuns: runs(300) });
  });

  it('limits a counter that lies too far ahead, after the clock of the server was set back', async () => {
    const key = 'sg:rl:test:ahead';
    const [, , arrival = 0] = await runScript(connection, count, key, [1_000_000, 2, ...clock(900_000_000)]);
    expect(arrival).toBe((START_S + 901) * 1_000_000);
    expect(await runScript(connection, count, key, [1_000_000, 2, ...clock(0)])).toEqual([
      1_000_000,
      2_000_000,
      (START_S + 3) * 1_000_000,
    ]);
    const [wait] = await runScript(connection, count, key, [1_000_000, 2, ...clock(1_000_000)]);
    expect(wait).toBe(0);
  });

  it('counts again if its key holds no number', async () => {
    await redis.run('SET', 'sg:rl:test:text', 'text');
    const [wait] = await runScript(connection, COUNT, 'sg:rl:test:text', [1_000_000, 2]);
    expect(wait).toBe(0);
  });

  it('takes nothing back from a counter that is gone', async () => {
    expect(await runScript(connection, RELEASE, 'sg:rl:test:gone', [1_000_000, 1])).toEqual([0]);
    expect(await redis.run('EXISTS', 'sg:rl:test:gone')).toBe('0');
  });
});
