import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ManifestRequests } from '../../src/process/reload/manifest-thread.ts';
import { WorkerThread } from '../../src/process/reload/worker-thread.ts';
import { bodyRoute, manifestOf } from '../manifest/support.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it('names the thread that does not respond in time', async () => {
  const properties = Object.fromEntries(Array.from({ length: 1_900 }, (_, index) => [`p${index}`, { type: 'string' }]));
  const schema = JSON.stringify({ type: 'object', properties, unevaluatedProperties: false });
  const folder = temporaryFolder('worker-thread', { 'gateway.yaml': manifestOf('', bodyRoute(schema)) });
  const data = { path: join(folder, 'gateway.yaml'), env: {}, overrides: {} };
  const task = 'checks and compiles the manifest';
  // The check takes seconds.
  const thread = new WorkerThread<ManifestRequests>({ file: 'manifest-worker', task, data, timeoutMs: 0 });
  await expect(thread.request('read', undefined)).rejects.toThrow(`the thread that ${task} did not respond for 0.5 s`);
  expect(thread.hangs).toBe(1);
});
