import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
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

describe('contacts', () => {
  it('are listed by page and search text', async () => {
    const { body } = await platform('GET /api/contacts?search=lind&per_page=2&page=2');
    expect(body.meta).toEqual({ page: 2, per_page: 2, total: 5, pages: 3 });
    expect(body.data).toHaveLength(2);
    expect(body.links).toEqual({
      prev: '/api/contacts?search=lind&per_page=2&page=1',
      next: '/api/contacts?search=lind&per_page=2&page=3',
    });
    expect((await platform('GET /api/contacts')).body.meta).toMatchObject({ per_page: 20, total: 25 });
    expect((await platform('GET /api/contacts?per_page=5000')).body.meta.per_page).toBe(100);
    expect((await platform('GET /api/contacts?search=%25')).body.meta.total).toBe(0);
    expect(await platform('GET /api/contacts?page=0')).toMatchObject({ status: 400 });
  });

  it('are created and shown only within the company', async () => {
    const json = { name: 'Mia Berg', email: 'Mia@partner.example' };
    const { status, body } = await platform('POST /api/contacts', { json });
    expect([status, body.data.email]).toEqual([201, 'mia@partner.example']);
    const path = `/api/contacts/${body.data.id}`;
    expect(await platform('POST /api/contacts', { json })).toMatchObject({ status: 409 });
    expect(await platform('POST /api/contacts', { json: { ...json, email: 'mia' } })).toMatchObject({ status: 400 });
    expect((await platform(`GET ${path}`)).body).toEqual(body);
    expect(await platform(`GET ${path}`, { token: otherToken })).toMatchObject({ status: 404 });
  });
});

describe('the contact import', () => {
  const csv =
    '\uFEFFname,email,phone\r\n"Böll, Eva",eva@csv.example,030\r\nNo Address,nowhere\r\nEva,EVA@csv.example\r\n';

  it('imports valid rows and lists the reasons for rejected ones', async () => {
    const queued = await platform('POST /api/contacts/imports/csv', {
      body: csv,
      headers: { 'content-type': 'text/csv' },
    });
    expect([queued.status, queued.body.data.status]).toEqual([202, 'queued']);
    const line = `GET /api/contacts/imports/${queued.body.data.id}`;
    expect(await finishedJob(sandbox.platformUrl, line, token)).toEqual({
      id: queued.body.data.id,
      status: 'completed',
      total: 3,
      imported: 1,
      rejected: 2,
      errors: [
        { row: 3, message: '"nowhere" is not an e-mail address' },
        { row: 4, message: 'a contact with the address eva@csv.example already exists' },
      ],
    });
    expect((await platform('GET /api/contacts?search=eva@')).body.data).toMatchObject([
      { name: 'Böll, Eva', phone: '030' },
    ]);
    expect(await platform(line, { token: otherToken })).toMatchObject({ status: 404 });
    expect(await platform(line.replace('contacts/imports', 'edm/export'))).toMatchObject({ status: 404 });
  });

  it.each([
    ['mail,who\na,b\n', 'the first row must name the columns name and email'],
    ['name,email\n"open,a@b.example\n', expect.stringContaining('Quote')],
  ])('fails on %j', async (body, message) => {
    const { data } = (await platform('POST /api/contacts/imports/csv', { body })).body;
    const job = await finishedJob(sandbox.platformUrl, `GET /api/contacts/imports/${data.id}`, token);
    expect(job).toMatchObject({ status: 'failed', message });
  });

  it('refuses an empty file, a form, and a body over the limit', async () => {
    expect(await platform('POST /api/contacts/imports/csv', { body: ' ' })).toMatchObject({ status: 400 });
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    expect(await platform('POST /api/contacts/imports/csv', { body: '--x--', headers })).toMatchObject({ status: 415 });
    const large = 'x'.repeat(20 * 1024 * 1024 + 1);
    expect(await platform('POST /api/contacts/imports/csv', { body: large })).toMatchObject({ status: 413 });
  });
});
