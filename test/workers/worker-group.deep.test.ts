import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pause } from '../support/pause.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { startVersionLoad, versionManifest } from '../support/version-load.ts';
import { startGroup, type TestGroup } from '../support/worker-group.ts';

const LATE_MS = 30;

let upstream: Upstream;
let test: TestGroup;

beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  await test.close();
  await upstream.close();
});

// The deep tests of this folder have more of both.
it('two workers serve each plan after its reload, and one that ends is replaced by one with the latest plan', async () => {
  const text = (version: number) => versionManifest(upstream.url, version, 2);
  test = await startGroup(text(1), 2);
  expect(test.group.status).toMatchObject({ serving: 2, count: 2, failures: 0 });
  const [thread] = test.threads as [Worker];
  // The worker learns of each phase late, as on a busy machine.
  const post = thread.postMessage.bind(thread);
  vi.spyOn(thread, 'postMessage').mockImplementation((message) => void pause(LATE_MS).then(() => post(message)));
  const load = startVersionLoad(test.port, 8);
  for (let version = 2; version <= 6; version += 1) {
    await test.reload(text(version));
    load.least = version;
  }
  load.allowsLosses = true;
  await thread.terminate();
  await test.reload(text(7));
  load.least = 7;
  await eventually('both serve', () => test.threads.length === 2 && test.group.status.serving === 2);
  await load.stop();
  expect(load.failures).toEqual([]);
  expect(test.group.status).toMatchObject({ serving: 2, failures: 1 });
});
