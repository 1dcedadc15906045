import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSandbox } from '../../examples/platform/sandbox.ts';
import { minutesFromNow, openStore } from '../../examples/platform/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { finishedJob, request, tokenOf } from './client.ts';

it('keeps a job queued for a third of the job time, and running for the rest', async () => {
  const file = join(temporaryFolder('jobs'), 'data.sqlite');
  const ports = { identityPort: 0, platformPort: 0 };
  await using resources = new AsyncDisposableStack();
  const sandbox = await createSandbox({ file, ...ports, jobTimeMs: 60 * 60_000 });
  resources.defer(() => sandbox.close());
  const token = await tokenOf(sandbox, 'user@acme.example');
  const json = { folder_id: sandbox.samples.folderId };
  const start = async () => (await request(sandbox.platformUrl, 'POST /api/edm/export', { token, json })).body.data;
  const [first, second] = [await start(), await start()];
  const line = ({ id }: { id: string }) => `GET /api/edm/export/${id}`;
  const show = async (job: { id: string }) => (await request(sandbox.platformUrl, line(job), { token })).body.data;

  // A second connection to the database makes the first job older, in place of a wait.
  const store = resources.adopt(openStore(file), (database) => database.close());
  const startedBefore = (minutes: number) =>
    store.run('UPDATE job SET created_at = ? WHERE id = ?', minutesFromNow(-minutes), first.id);
  expect([first.status, second.status]).toEqual(['queued', 'queued']);
  startedBefore(19);
  expect(await show(first)).toEqual({ id: first.id, status: 'queued' });
  startedBefore(21);
  await expect.poll(() => show(first)).toEqual({ id: first.id, status: 'running' });
  startedBefore(61);
  expect(await finishedJob(sandbox.platformUrl, line(first), token)).toMatchObject({ status: 'completed' });
  expect(await show(second)).toEqual({ id: second.id, status: 'queued' });
});
