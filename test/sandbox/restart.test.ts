import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { ask, openSandbox, settled, tokenOf } from './client.ts';

let folder: string;
let sandbox: Sandbox;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  sandbox = await openSandbox(join(folder, 'data.sqlite'));
});
afterEach(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

async function restart(): Promise<void> {
  await sandbox.close();
  sandbox = await openSandbox(join(folder, 'data.sqlite'));
}

it('keeps its data and the worth of its tokens', async () => {
  const token = await tokenOf(sandbox, 'user@acme.example');
  const json = { name: 'Mia Berg', email: 'mia@partner.example' };
  const made = await ask(sandbox.platformUrl, 'POST /api/contacts', { token, json });
  await restart();
  const kept = await ask(sandbox.platformUrl, `GET /api/contacts/${made.body.data.id}`, { token });
  expect(kept.body).toEqual(made.body);
  expect((await ask(sandbox.platformUrl, 'GET /api/contacts', { token })).body.meta.total).toBe(26);
});

it('goes on with an import that was cut short, without importing a row twice', async () => {
  const token = await tokenOf(sandbox, 'user@acme.example');
  const rows = Array.from({ length: 10_000 }, (_, index) => `Person ${index},person-${index}@csv.example`);
  const body = `name,email\n${rows.join('\n')}`;
  const { id } = (await ask(sandbox.platformUrl, 'POST /api/contacts/imports/csv', { token, body })).body.data;
  let job: { status: string; total?: number } = { status: 'queued' };
  for (let tries = 0; tries < 2000 && !job.total; tries += 1) {
    job = (await ask(sandbox.platformUrl, `GET /api/contacts/imports/${id}`, { token })).body.data;
  }
  expect(job.status).toBe('running');
  await restart();
  const done = await settled(sandbox.platformUrl, `GET /api/contacts/imports/${id}`, token);
  expect(done).toMatchObject({ status: 'completed', total: 10_000, imported: 10_000, rejected: 0, errors: [] });
});

it('takes another port when the wanted one is in use, and names it', async () => {
  const taken = Number(new URL(sandbox.identityUrl).port);
  const second = await createSandbox({ file: ':memory:', identityPort: taken, platformPort: 0 });
  expect(second.identityUrl).not.toBe(sandbox.identityUrl);
  expect(second.environment['JWKS_URL']).toBe(`${second.identityUrl}/.well-known/jwks.json`);
  expect(second.environment['AI_URL']).toBe(second.platformUrl);
  await second.close();
  await second.close();
});
