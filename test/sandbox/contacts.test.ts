import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { type Asked, ask, openSandbox, settled, tokenOf } from './client.ts';

let sandbox: Sandbox;
let token: string;
let stranger: string;
beforeAll(async () => {
  sandbox = await openSandbox();
  token = await tokenOf(sandbox, 'user@acme.example');
  stranger = await tokenOf(sandbox, 'admin@globex.example');
});
afterAll(() => sandbox.close());

const open = (line: string, asked?: Asked) => ask(sandbox.platformUrl, line, asked);
const platform = (line: string, asked?: Asked) => open(line, { token, ...asked });

describe('contacts', () => {
  it('are paged and searched', async () => {
    const { body } = await platform('GET /api/contacts?search=lind&per_page=2&page=2');
    expect(body.meta).toEqual({ page: 2, per_page: 2, total: 5, pages: 3 });
    expect(body.data).toHaveLength(2);
    expect(body.links.next).toBe('/api/contacts?search=lind&per_page=2&page=3');
    expect((await platform('GET /api/contacts')).body.meta).toMatchObject({ per_page: 20, total: 25 });
    expect((await platform('GET /api/contacts?per_page=5000')).body.meta.per_page).toBe(100);
    expect((await platform('GET /api/contacts?search=%25')).body.meta.total).toBe(0);
    expect(await platform('GET /api/contacts?page=0')).toMatchObject({ status: 400 });
  });

  it('are made, changed and deleted, within the company', async () => {
    const json = { name: 'Mia Berg', email: 'Mia@partner.example' };
    const { status, body } = await platform('POST /api/contacts', { json });
    expect([status, body.data.email]).toEqual([201, 'mia@partner.example']);
    const path = `/api/contacts/${body.data.id}`;
    expect(await platform('POST /api/contacts', { json })).toMatchObject({ status: 409 });
    expect(await platform('POST /api/contacts', { json: { ...json, email: 'mia' } })).toMatchObject({ status: 400 });
    expect((await platform(`PATCH ${path}`, { json: { phone: '+49 30 1' } })).body.data).toMatchObject({
      phone: '+49 30 1',
    });
    const taken = { email: 'ada.lind@partner.example' };
    expect(await platform(`PATCH ${path}`, { json: taken })).toMatchObject({ status: 409 });
    expect(await platform(`GET ${path}`, { token: stranger })).toMatchObject({ status: 404 });
    expect(await platform(`DELETE ${path}`, { token: stranger })).toMatchObject({ status: 404 });
    expect(await platform(`DELETE ${path}`)).toMatchObject({ status: 204 });
    expect(await platform(`GET ${path}`)).toMatchObject({ status: 404 });
  });
});

describe('the import of contacts', () => {
  const csv =
    '\uFEFFname,email,phone\r\n"Böll, Eva",eva@csv.example,030\r\nNo Address,nowhere\r\nEva,EVA@csv.example\r\n';

  it('imports what it can and says why it rejects the rest', async () => {
    const queued = await platform('POST /api/contacts/imports/csv', {
      body: csv,
      headers: { 'content-type': 'text/csv' },
    });
    expect([queued.status, queued.body.data.status]).toEqual([202, 'queued']);
    const line = `GET /api/contacts/imports/${queued.body.data.id}`;
    expect(await settled(sandbox.platformUrl, line, token)).toEqual({
      id: queued.body.data.id,
      status: 'completed',
      total: 3,
      imported: 1,
      rejected: 2,
      errors: [
        { row: 3, message: '"nowhere" is not an e-mail address' },
        { row: 4, message: 'there is a contact with the address eva@csv.example' },
      ],
    });
    expect((await platform('GET /api/contacts?search=eva@')).body.data).toMatchObject([
      { name: 'Böll, Eva', phone: '030' },
    ]);
    expect(await platform(line, { token: stranger })).toMatchObject({ status: 404 });
    expect(await platform(line.replace('contacts/imports', 'edm/export'))).toMatchObject({ status: 404 });
  });

  it('takes a file part, too', async () => {
    const body = new FormData();
    body.set('file', new File(['email,name\nform@csv.example,Form\n'], 'contacts.csv', { type: 'text/csv' }));
    const { data } = (await platform('POST /api/contacts/imports/csv', { body })).body;
    expect(await settled(sandbox.platformUrl, `GET /api/contacts/imports/${data.id}`, token)).toMatchObject({
      imported: 1,
    });
  });

  it.each([
    ['mail,who\na,b\n', 'the first row must name the columns name and email'],
    ['name,email\n"open,a@b.example\n', expect.stringContaining('Quote')],
  ])('fails on %j', async (body, message) => {
    const { data } = (await platform('POST /api/contacts/imports/csv', { body })).body;
    const job = await settled(sandbox.platformUrl, `GET /api/contacts/imports/${data.id}`, token);
    expect(job).toMatchObject({ status: 'failed', message });
  });

  it('refuses an empty file, and one that is too large', async () => {
    expect(await platform('POST /api/contacts/imports/csv', { body: ' ' })).toMatchObject({ status: 400 });
    const large = 'x'.repeat(1024 * 1024 + 1);
    expect(await platform('POST /api/contacts', { body: large })).toMatchObject({ status: 413 });
  });
});
