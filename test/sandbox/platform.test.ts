import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../examples/platform/sandbox.ts';
import { finishedJob, type RequestOptions, request, startSandbox, tokenOf } from './client.ts';

let sandbox: Sandbox;
let token: string;
let otherToken: string;
beforeAll(async () => {
  sandbox = await startSandbox();
  token = await tokenOf(sandbox, 'user@acme.example');
  otherToken = await tokenOf(sandbox, 'admin@globex.example');
});
afterAll(() => sandbox.close());

const open = (line: string, options?: RequestOptions) => request(sandbox.platformUrl, line, options);
const platform = (line: string, options?: RequestOptions) => open(line, { token, ...options });

describe('workflows', () => {
  it('are listed, created and shown', async () => {
    const json = { name: 'Sign the lease', signer_email: 'ada@partner.example' };
    const { body } = await platform('POST /api/workflows', { json });
    expect(body.data).toMatchObject({ ...json, status: 'draft' });
    expect((await platform(`GET /api/workflows/${body.data.id}`)).body).toEqual(body);
    expect((await platform('GET /api/workflows?search=lease')).body.meta.total).toBe(1);
    expect((await platform('GET /api/workflows', { token: otherToken })).body.data).toEqual([]);
    expect(await platform('POST /api/workflows', { json: { ...json, signer_email: 1 } })).toMatchObject({
      status: 400,
    });
  });

  it('list the documents of completed workflows', async () => {
    const { body } = await platform('GET /api/workflows/completed/documents/list');
    expect(body).toMatchObject({ status: 'success', message: expect.any(String) });
    expect(body.data[0]).toMatchObject({ uuid: sandbox.samples.documentUuid });
  });
});

describe('EDM', () => {
  it('lists, adds and exports the documents of a folder', async () => {
    const folder_id = sandbox.samples.folderId;
    const json = { title: 'Letter', folder_id, content: 'abc' };
    expect(await platform('POST /api/edm/documents', { json })).toMatchObject({ status: 201 });
    expect(await platform('POST /api/edm/documents', { json: { title: 'x' } })).toMatchObject({ status: 400 });
    expect((await platform('GET /api/edm/documents')).body.meta.total).toBe(4);
    expect((await platform(`GET /api/edm/documents?folder_id=${folder_id}&search=letter`)).body.meta.total).toBe(1);
    expect((await platform('GET /api/edm/folders')).body.data).toHaveLength(1);
    const queued = await platform('POST /api/edm/export', { json: { folder_id } });
    expect(queued.status).toBe(202);
    const job = await finishedJob(sandbox.platformUrl, `GET /api/edm/export/${queued.body.data.id}`, token);
    expect(job.result.count).toBe(4);
    expect(job.result.documents[3]).toMatchObject({
      title: 'Letter',
      folder: 'Contracts',
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    });
  });
});

describe('AI', () => {
  it('analyses a document at once or as a job', async () => {
    const json = { document_uuid: sandbox.samples.documentUuid };
    const now = await platform('POST /api/ai/analyses', { json });
    expect(now.body.data).toMatchObject({
      method: expect.stringContaining('no language model'),
      words: 15,
      sentences: 2,
      dates: ['2027-12-31'],
    });
    const queued = await platform('POST /api/ai/analyses?async=true', { json });
    expect(queued.status).toBe(202);
    const job = await finishedJob(sandbox.platformUrl, `GET /api/ai/jobs/${queued.body.data.id}`, token);
    expect(job).toMatchObject({ status: 'completed', result: now.body.data });
    expect(await platform('POST /api/ai/analyses', { json, token: otherToken })).toMatchObject({ status: 404 });
  });
});

describe('audit', () => {
  it('lists an event for each write between two dates', async () => {
    const start = new Date().toISOString();
    const { data } = (await platform('POST /api/contacts', { json: { name: 'A', email: 'a@audit.example' } })).body;
    const { body } = await platform(`GET /api/audit/events?from=${start}`);
    expect(body.data).toMatchObject([{ actor: 'user@acme.example', action: 'contact.create', target: data.id }]);
    const seeded = await platform('GET /api/audit/events?from=2026-01-05&to=2026-01-05');
    expect(seeded.body.data).toMatchObject([{ action: 'company.create' }]);
    const foreign = await platform(`GET /api/audit/events?from=${start}`, { token: otherToken });
    expect(foreign.body.data).toEqual([]);
  });

  it.each(['yesterday', '2026-02-31', '2026-13-01', '2026-01-01T25:00Z', ''])('refuses the date %j', async (date) => {
    expect(await platform(`GET /api/audit/events?from=${date}`)).toMatchObject({ status: 400 });
  });
});

describe('notifications', () => {
  const json = { email: 'eva@partner.example', subject: 'Please sign', body: '<p>Hello</p>' };

  it('adds the e-mail and its attachment to the outbox', async () => {
    const attachments = [{ filename: 'a.txt', content: 'YWJj', content_type: 'text/plain' }];
    const response = await platform('POST /api/notifications/email', { json: { ...json, attachments } });
    expect(response).toMatchObject({ status: 202, body: { status: 'success', message: expect.any(String) } });
    const outbox = (await request(sandbox.identityUrl, 'GET /outbox')).body.data;
    expect(outbox.at(-1)).toMatchObject({
      to: json.email,
      subject: json.subject,
      body: json.body,
      attachments: [
        { filename: 'a.txt', bytes: 3, sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' },
      ],
    });
  });

  it.each(['not base64!', 'YWJ'])('refuses the attachment %j', async (content) => {
    const attachments = [{ filename: 'a.txt', content }];
    const response = await platform('POST /api/notifications/email', { json: { ...json, attachments } });
    expect(response).toMatchObject({ status: 400, body: { status: 'error' } });
  });
});

describe('certificates', () => {
  it('are public keys', async () => {
    expect((await platform('GET /api/v1/certificates')).body.data).toMatchObject([{ id: sandbox.samples.certificate }]);
    const { headers, body } = await open(`GET /api/v1/certificates/${sandbox.samples.certificate}/download`);
    expect(headers.get('content-type')).toBe('application/x-pem-file');
    expect(createPublicKey(body).asymmetricKeyDetails).toMatchObject({ namedCurve: 'prime256v1' });
  });
});

describe('routes', () => {
  it('respond 401 and 404 with an error body', async () => {
    expect(await open('GET /api/contacts')).toMatchObject({ status: 401, body: { status: 'error' } });
    expect(await platform('GET /api/nothing')).toMatchObject({ status: 404, body: { status: 'error' } });
    expect(await platform('DELETE /api/contacts')).toMatchObject({ status: 404, body: { status: 'error' } });
    expect(await platform('GET /api/v4/documents/%zz')).toMatchObject({ status: 404, body: { status: 'error' } });
  });
});
