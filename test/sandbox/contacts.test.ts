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

  it('refuses an empty file, and a body over the limit', async () => {
    expect(await platform('POST /api/contacts/imports/csv', { body: ' ' })).toMatchObject({ status: 400 });
    const large = 'x'.repeat(20 * 1024 * 1024 + 1);
    expect(await platform('POST /api/contacts/imports/csv', { body: large })).toMatchObject({ status: 413 });
  });

  /** Sends a form with these parts, which are given without their separators. */
  const sendForm = (parts: readonly string[], type = 'multipart/form-data; boundary="a b"') => {
    const body = `${parts.map((part) => `--a b\r\n${part}\r\n`).join('')}--a b--\r\n`;
    return platform('POST /api/contacts/imports/csv', { body, headers: { 'content-type': type } });
  };
  const part = (disposition: string, content: string, type = '') =>
    `Content-Disposition: form-data; ${disposition}${type === '' ? '' : `\r\nContent-Type: ${type}`}\r\n\r\n${content}`;

  it.each([
    ['a file', [part('name="file"; filename="a.csv"', 'name,email\nBöll,b1@form.example\n', 'text/csv')]],
    ['a file of another field', [part('name="x"; filename="b"', 'name,email\r\nBöll,b2@form.example')]],
    ['a field', [part('name="csv"', 'name,email\nBöll,b3@form.example')]],
    [
      'a file beside a field',
      [part('name="note"', 'of today'), part('name="f"; filename="c"', 'name,email\nBöll,b4@form.example')],
    ],
  ])('imports a form with %s', async (_form, parts) => {
    const { status, body } = await sendForm(parts);
    expect(status).toBe(202);
    const line = `GET /api/contacts/imports/${body.data.id}`;
    expect(await finishedJob(sandbox.platformUrl, line, token)).toMatchObject({ status: 'completed', imported: 1 });
  });

  it.each([
    ['no part', [], 'send exactly one CSV file in the form'],
    ['two files', [part('name="a"; filename="a"', 'x'), part('name="b"; filename="b"', 'y')], /exactly one/],
    ['two fields', [part('name="a"', 'x'), part('name="b"', 'y')], /exactly one/],
    ['an empty file', [part('name="a"; filename="a"', '')], 'the CSV file is empty'],
    ['a part without a disposition', ['X: y\r\n\r\nz'], 'the form is malformed'],
  ])('refuses a form with %s', async (_form, parts, message) => {
    const { status, body } = await sendForm(parts);
    expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
  });

  it('refuses other multipart types, and a form without its boundary', async () => {
    const file = [part('name="a"; filename="a"', 'name,email\n')];
    expect(await sendForm(file, 'multipart/mixed; boundary="a b"')).toMatchObject({ status: 415 });
    expect(await sendForm(file, 'multipart/form-data; boundary=other')).toMatchObject({ status: 400 });
  });
});
