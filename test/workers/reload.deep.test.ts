import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TIME_LIMITS, turns } from '../support/pause.ts';
import { cases } from '../support/runs.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { startVersionLoad, versionManifest, versionOf } from '../support/version-load.ts';
import { startGroup, type TestGroup } from '../support/worker-group.ts';

let upstream: Upstream;
let test: TestGroup;

beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  vi.useRealTimers();
  await test.close();
  await upstream.close();
});

const text = (version: number, workers: number) => versionManifest(upstream.url, version, workers);

async function start(count: number): Promise<void> {
  test = await startGroup(text(1, count), count);
}

/** Returns the versions of many new connections, which reach all workers. */
async function servedVersions(): Promise<Set<number>> {
  const responses = await Promise.all(Array.from({ length: 50 }, () => versionOf(test.port, false)));
  return new Set(responses.map(([version]) => version));
}

/** Makes worker 1 hang: it receives no further message, so it never responds. */
function hang(): void {
  const [thread] = test.threads;
  if (thread === undefined) throw new Error('no thread');
  vi.spyOn(thread, 'postMessage').mockImplementation(() => undefined);
}

const allServe = () => eventually('all workers serve', () => test.group.status.serving === test.group.status.count);

describe('reloads under load', () => {
  it.each([1, 2, 4])('never serve an old plan after a new one, and lose no request: %i workers', async (count) => {
    await start(count);
    const load = startVersionLoad(test.port, 8);
    const last = 1 + cases(500 / count);
    for (let version = 2; version <= last; version += 1) {
      await test.reload(text(version, count));
      load.least = version;
      // With one worker this loop would otherwise leave no turn to the requests.
      await turns(5);
    }
    await load.stop();
    expect(load.failures.slice(0, 5)).toEqual([]);
    expect(load.sent).toBeGreaterThan(8);
    expect(await servedVersions()).toEqual(new Set([last]));
    expect(test.group.status.failures).toBe(0);
  });
});

describe('a worker that ends', () => {
  it('while it compiles a plan, keeps all workers on the active plan and is replaced', async () => {
    await start(3);
    const load = startVersionLoad(test.port, 6);
    load.allowsLosses = true;
    const planned = test.plan(text(2, 3));
    // It ends before it can handle the message.
    void test.threads[0]?.terminate();
    const prepared = test.group.prepare(planned);
    await expect(prepared).rejects.toThrow('worker 1 cannot compile the manifest: the thread ended with exit code 1');
    await allServe();
    expect(await servedVersions()).toEqual(new Set([1]));
    // The next reload finds workers that have compiled the rejected plan.
    await test.reload(text(3, 3));
    load.least = 3;
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(await servedVersions()).toEqual(new Set([3]));
  });

  it('between the two phases, is replaced by one that serves the new plan', async () => {
    await start(2);
    const load = startVersionLoad(test.port, 6);
    load.allowsLosses = true;
    const planned = test.plan(text(2, 2));
    await test.group.prepare(planned);
    await test.threads[0]?.terminate();
    await test.group.activate(planned);
    load.least = 2;
    await allServe();
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(await servedVersions()).toEqual(new Set([2]));
  });

  it('while it activates a plan, serves no request by the old plan after the activation', async () => {
    await start(2);
    const load = startVersionLoad(test.port, 6);
    load.allowsLosses = true;
    const planned = test.plan(text(2, 2));
    await test.group.prepare(planned);
    void test.threads[0]?.terminate();
    await test.group.activate(planned);
    load.least = 2;
    await allServe();
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(await servedVersions()).toEqual(new Set([2]));
  });

  it('during reloads, is replaced by one with the latest plan', async () => {
    await start(2);
    const load = startVersionLoad(test.port, 6);
    load.allowsLosses = true;
    const [thread] = test.threads;
    if (thread === undefined) throw new Error('no thread');
    const ended = once(thread, 'exit');
    void thread.terminate();
    await ended;
    // The replacement needs longer to load its code than these reloads take.
    for (let version = 2; version <= 10; version += 1) {
      await test.reload(text(version, 2));
      load.least = version;
    }
    await allServe();
    for (let version = 11; version <= 20; version += 1) {
      await test.reload(text(version, 2));
      load.least = version;
    }
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(await servedVersions()).toEqual(new Set([20]));
    expect(test.group.status).toMatchObject({ serving: 2, failures: 1 });
    expect(test.entries.filter(({ msg }) => msg === 'a worker ended unexpectedly and is replaced')).toMatchObject([
      { level: 50, worker: 1, err: { message: 'the thread ended with exit code 1' } },
    ]);
  });
});

describe('a worker that hangs', () => {
  it('while it compiles a plan, is replaced after a minute, and the active plan stays', async () => {
    await start(2);
    hang();
    vi.useFakeTimers(TIME_LIMITS);
    const prepared = test.group.prepare(test.plan(text(2, 2)));
    prepared.catch(() => undefined);
    vi.advanceTimersByTime(60_000);
    await expect(prepared).rejects.toThrow('worker 1 cannot compile the manifest');
    vi.useRealTimers();
    await allServe();
    expect(await servedVersions()).toEqual(new Set([1]));
  });

  it('while it activates a plan, is replaced after a minute by one that serves the new plan', async () => {
    await start(2);
    const planned = test.plan(text(2, 2));
    await test.group.prepare(planned);
    vi.useFakeTimers(TIME_LIMITS);
    hang();
    const activated = test.group.activate(planned);
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    await activated;
    // The old worker has ended, so nobody serves the old plan, also before the new worker listens.
    expect(await servedVersions()).toEqual(new Set([2]));
    await allServe();
    expect(await servedVersions()).toEqual(new Set([2]));
  });
});

describe('a stop', () => {
  it('ends a reload that waits for a worker', async () => {
    await start(2);
    hang();
    const prepared = test.group.prepare(test.plan(text(2, 2)));
    const rejected = expect(prepared).rejects.toThrow('worker 1 cannot compile the manifest');
    // The hung worker does not close either, and is terminated a second after the grace period.
    await test.group.close(100);
    await rejected;
  });
});
