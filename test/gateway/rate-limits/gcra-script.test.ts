import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NameResolver } from '../../../src/engine/dns/name-resolver.ts';
import { COUNT, RELEASE, runScript, type Script } from '../../../src/engine/rate-limits/redis/gcra-script.ts';
import { openRedis } from '../../../src/engine/rate-limits/redis/redis-connection.ts';
import type { RedisConnection } from '../../../src/engine/rate-limits/redis/redis-link.ts';
import { hasRedis, type Redis, startRedis, stopRedis } from '../../support/redis.ts';
import { runs } from '../../support/runs.ts';

/** A script whose clock is in its arguments, in seconds and microseconds. */
function withClock({ text, results }: Script, position: number): Script {
  const clocked = text.replace("redis.call('TIME')", `{ARGV[${position}], ARGV[${position + 1}]}`);
  return { text: clocked, sha: '0'.repeat(40), results };
}

const count = withClock(COUNT, 4);
const release = withClock(RELEASE, 4);
/** Far enough in the future that the server does not delete keys during the test. */
const START_S = 2_000_000_000;

/** The rest of an interval, which runs down after those before it. */
interface Interval {
  restUs: number;
}

/** The reference: a queue of intervals. */
class IntervalQueue {
  readonly #intervalUs: number;
  readonly #burst: number;
  #queue: Interval[] = [];

  constructor(intervalUs: number, burst: number) {
    this.#intervalUs = intervalUs;
    this.#burst = burst;
  }

  get #aheadUs(): number {
    return this.#queue.reduce((sum, { restUs }) => sum + restUs, 0);
  }

  advance(us: number): void {
    let left = us;
    for (const interval of this.#queue) {
      const passed = Math.min(left, interval.restUs);
      interval.restUs -= passed;
      left -= passed;
    }
    this.#queue = this.#queue.filter(({ restUs }) => restUs > 0);
  }

  count(): { waitUs: number; aheadUs: number; interval?: Interval } {
    const aheadUs = this.#aheadUs;
    const waitUs = aheadUs + this.#intervalUs - this.#burst * this.#intervalUs;
    if (waitUs > 0) return { waitUs, aheadUs };
    const interval = { restUs: this.#intervalUs };
    this.#queue.push(interval);
    return { waitUs: 0, aheadUs: aheadUs + this.#intervalUs, interval };
  }

  remove(interval: Interval): void {
    interval.restUs = 0;
    this.#queue = this.#queue.filter(({ restUs }) => restUs > 0);
  }
}

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

  it('counts and takes back as a queue of intervals does', async () => {
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
      fc.constantFrom(60_000, 1_000_000, 60_000_000, 600_000_000),
      fc.array(step, { maxLength: 60 }),
      async (burst, intervalUs, steps) => {
        keys += 1;
        const key = `sg:rl:test:${keys}`;
        const queue = new IntervalQueue(intervalUs, burst);
        const pending: { position: number; counter: number; interval: Interval }[] = [];
        let nowUs = 0;
        for (const { pauseUs, release: index } of steps) {
          nowUs += pauseUs;
          queue.advance(pauseUs);
          const [taken] = index === undefined ? [] : pending.splice(index % (pending.length || 1), 1);
          if (taken !== undefined) {
            queue.remove(taken.interval);
            await runScript(connection, release, key, [intervalUs, taken.position, taken.counter, ...clock(nowUs)]);
            continue;
          }
          const expected = queue.count();
          const reply = await runScript(connection, count, key, [intervalUs, burst, 1, ...clock(nowUs)]);
          const [, waitUs = 0, aheadUs = 0, position = 0, counter = 0] = reply;
          expect({ waitUs, aheadUs }).toEqual({ waitUs: expected.waitUs, aheadUs: expected.aheadUs });
          if (expected.interval !== undefined) pending.push({ position, counter, interval: expected.interval });
        }
      },
    );
    await fc.assert(property, { numRuns: runs(300) });
  });

  it('lets slow successes take back no failures of later requests', async () => {
    const key = 'sg:rl:test:slow';
    const second = 1_000_000;
    const countAt = (nowUs: number) => runScript(connection, count, key, [second, 10, 1, ...clock(nowUs)]);
    const releaseAt = (nowUs: number, [, , , position = 0, counter = 0]: readonly number[]) =>
      runScript(connection, release, key, [second, position, counter, ...clock(nowUs)]);
    const successes = [];
    for (let index = 0; index < 10; index += 1) successes.push(await countAt(0));
    for (const success of successes.slice(0, 5)) expect(await releaseAt(0, success)).toEqual([1]);
    // The other five would have passed by now.
    for (let index = 0; index < 10; index += 1) expect((await countAt(5 * second))[0]).toBe(1);
    for (const success of successes.slice(5)) expect(await releaseAt(5 * second, success)).toEqual([0]);
    expect((await countAt(5 * second)).slice(0, 2)).toEqual([0, second]);
  });

  it('takes all of two requests back if the later one ends first', async () => {
    const key = 'sg:rl:test:order';
    const [, , , first = 0, counter = 0] = await runScript(connection, count, key, [1_000_000, 5, 1, ...clock(0)]);
    const [, , , second = 0] = await runScript(connection, count, key, [1_000_000, 5, 1, ...clock(0)]);
    for (const position of [second, first])
      expect(await runScript(connection, release, key, [1_000_000, position, counter, ...clock(0)])).toEqual([1]);
    expect(await redis.run('EXISTS', key)).toBe('0');
  });

  it('remembers a bounded number of released intervals', async () => {
    const key = 'sg:rl:test:released';
    await runScript(connection, count, key, [1_000_000, 100, 1, ...clock(0)]);
    for (let index = 0; index < 100; index += 1) {
      const [, , , position = 0, counter = 0] = await runScript(connection, count, key, [
        1_000_000,
        100,
        1,
        ...clock(0),
      ]);
      await runScript(connection, release, key, [1_000_000, position, counter, ...clock(0)]);
    }
    expect((await redis.run('GET', key)).split(' ')).toHaveLength(3 + 2 * 32);
    expect((await runScript(connection, count, key, [1_000_000, 100, 1, ...clock(0)]))[2]).toBe(2_000_000);
  });

  it('counts several requests as it counts them one after the other', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.record({ pauseUs: fc.nat(5_000_000), requests: fc.integer({ min: 1, max: 9 }) }), { maxLength: 8 }),
      async (burst, steps) => {
        keys += 1;
        const queue = new IntervalQueue(1_000_000, burst);
        let nowUs = 0;
        for (const { pauseUs, requests } of steps) {
          nowUs += pauseUs;
          queue.advance(pauseUs);
          const expected = Array.from({ length: requests }, () => queue.count());
          const values = [1_000_000, burst, requests, ...clock(nowUs)];
          const [allowed, waitUs] = await runScript(connection, count, `sg:rl:test:${keys}`, values);
          expect(allowed).toBe(expected.filter((result) => result.waitUs === 0).length);
          expect(waitUs).toBe(expected.at(-1)?.waitUs);
        }
      },
    );
    await fc.assert(property, { numRuns: runs(200) });
  });

  it('limits a counter that lies too far ahead, after the clock of the server was set back', async () => {
    const key = 'sg:rl:test:ahead';
    await runScript(connection, count, key, [1_000_000, 2, 1, ...clock(900_000_000)]);
    const [, waitUs, aheadUs] = await runScript(connection, count, key, [1_000_000, 2, 1, ...clock(0)]);
    expect([waitUs, aheadUs]).toEqual([1_000_000, 2_000_000]);
    const [, wait] = await runScript(connection, count, key, [1_000_000, 2, 1, ...clock(1_000_000)]);
    expect(wait).toBe(0);
  });

  it('returns safe integers after very many releases', async () => {
    const key = 'sg:rl:test:sum';
    await runScript(connection, count, key, [1_000_000, 2, 1, ...clock(0)]);
    const [arrival = '', created = ''] = (await redis.run('GET', key)).split(' ');
    await redis.run('SET', key, `${arrival} ${created} ${2 ** 53}`);
    const [, waitUs, aheadUs] = await runScript(connection, count, key, [1_000_000, 2, 1, ...clock(0)]);
    expect([waitUs, aheadUs]).toEqual([0, 2_000_000]);
  });

  it('counts again if its key holds no number', async () => {
    await redis.run('SET', 'sg:rl:test:text', 'text');
    const [, wait] = await runScript(connection, COUNT, 'sg:rl:test:text', [1_000_000, 2, 1]);
    expect(wait).toBe(0);
  });

  it('takes nothing back from a counter that is gone', async () => {
    expect(await runScript(connection, RELEASE, 'sg:rl:test:gone', [1_000_000, 1, 1])).toEqual([0]);
    expect(await redis.run('EXISTS', 'sg:rl:test:gone')).toBe('0');
  });
});
