import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../examples/platform/sandbox.ts';
import { finishedJob, request, startSandbox, tokenOf } from './client.ts';

let folder: string;
let sandbox: Sandbox;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  sandbox = await startSandbox(join(folder, 'data.sqlite'));
});
afterEach(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

async function restart(): Promise<void> {
  await sandbox.close();
  sandbox = await startSandbox(join(folder, 'data.sqlite'));
}

it('keeps its data, and accepts tokens that it issued before', async () => {
  const token = await tokenOf(sandbox, 'user@acme.example');
  const json = { name: 'Mia Berg', email: 'mia@partner.example' };
  const created = await request(sandbox.platformUrl, 'POST /api/contacts', { token, json });
  await restart();
  const stored = await request(sandbox.platformUrl, `GET /api/contacts/${created.body.data.id}`, { token });
  expect(stored.body).toEqual(created.body);
  expect((await request(sandbox.platformUrl, 'GET /api/contacts', { token })).body.meta.total).toBe(26);
});

it('continues an interrupted import without importing a row twice', async () => {
  const token = await tokenOf(sandbox, 'user@acme.example');
  const rows = Array.from({ length: 10_000 }, (_, index) => `Person ${index},person-${index}@csv.example`);
  const body = `name,email\n${rows.join('\n')}`;
  const { id } = (await request(sandbox.platformUrl, 'POST /api/contacts/imports/csv', { token, body })).body.data;
  let job: { status: string; total?: number } = { status: 'queued' };
  for (let tries = 0; tries < 2000 && !job.total; tries += 1) {
    job = (await request(sandbox.platformUrl, `GET /api/contacts/imports/${id}`, { token })).body.data;
  }
  expect(job.status).toBe('running');
  await restart();
  const finished = await finishedJob(sandbox.platformUrl, `GET /api/contacts/imports/${id}`, token);
  expect(finished).toMatchObject({ status: 'completed', total: 10_000, imported: 10_000, rejected: 0, errors: [] });
});

it('chooses another port if the given one is in use', async () => {
  const usedPort = Number(new URL(sandbox.identityUrl).port);
  const second = await createSandbox({ file: ':memory:', identityPort: usedPort, platformPort: 0 });
  expect(second.identityUrl).not.toBe(sandbox.identityUrl);
  expect(second.environment['JWKS_URL']).toBe(`${second.identityUrl}/.well-known/jwks.json`);
  expect(second.environment['AI_URL']).toBe(second.platformUrl);
  await second.close();
  await second.close();
});
