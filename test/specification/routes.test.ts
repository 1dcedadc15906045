import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Platform, startPlatform } from '../support/platform.ts';
import { eventually } from '../support/site.ts';

let platform: Platform;
let token: string;
beforeAll(async () => {
  platform = await startPlatform();
  token = await platform.login('admin@acme.example');
});
afterAll(() => platform.close());

interface List {
  readonly data: Record<string, unknown>[];
  readonly meta: Record<string, unknown>;
  readonly links: Record<string, unknown>;
}

async function list(path: string): Promise<List> {
  const response = await platform.call('GET', path, { token });
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as List;
}

/** Polls a job until it ends. */
async function poll(path: string): Promise<Record<string, unknown>> {
  let job: Record<string, unknown> = {};
  await eventually(`the job at ${path} ends`, async () => {
    const response = await platform.call('GET', path, { token });
    job = ((await response.json()) as { data: Record<string, unknown> }).data;
    return job['status'] === 'completed' || job['status'] === 'failed';
  });
  return job;
}

async function startJob(method: string, path: string, options: Parameters<Platform['call']>[2]): Promise<string> {
  const response = await platform.call(method, path, { token, ...options });
  expect(response.status).toBe(202);
  const { data } = (await response.json()) as { data: { id: string; status: string } };
  expect(data.status).toBe('queued');
  return data.id;
}

describe('public routes', () => {
  it('downloads certificates, documents and attachments without a token', async () => {
    const { certificate, documentUuid, attachmentUuid } = platform.sandbox.samples;
    for (const path of [
      `/api/v1/certificates/${certificate}/download`,
      `/api/v4/documents/${documentUuid}/download`,
      `/api/v4/attachments/${attachmentUuid}/download`,
    ]) {
      const response = await platform.call('GET', path);
      expect([path, response.status]).toEqual([path, 200]);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
    }
  });

  it('supports range requests and HEAD on downloads', async () => {
    const path = `/api/v4/documents/${platform.sandbox.samples.documentUuid}/download`;
    const part = await platform.call('GET', path, { headers: { Range: 'bytes=0-3' } });
    expect([part.status, await part.text()]).toEqual([206, '%PDF']);
    const head = await platform.call('HEAD', path);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(100);
  });

  it('verifies a signature by uuid, and detects an altered document', async () => {
    const verify = async (uuid: string) => {
      const response = await platform.call('GET', `/api/v4/verify/${uuid}`);
      return (await response.json()) as { data: { valid: boolean } };
    };
    expect((await verify(platform.sandbox.samples.documentUuid)).data.valid).toBe(true);
    expect((await verify(platform.sandbox.samples.tamperedDocumentUuid)).data.valid).toBe(false);
  });

  it('requires a token on all but the listed routes', () => {
    const publicRoutes = platform.gateway.plan.routes.filter(({ access }) => access === 'public').map(({ id }) => id);
    expect(publicRoutes).toEqual([
      'login',
      'social-auth',
      'login-mfa',
      'password-reset',
      'email-verification',
      'certificate-download',
      'document-download',
      'document-verification',
      'attachment-download',
    ]);
  });
});

describe('workflows', () => {
  it('lists completed documents with status and message', async () => {
    const response = await platform.call('GET', '/api/workflows/completed/documents/list', { token });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'success', message: expect.any(String) });
  });
});

describe('notifications', () => {
  const mail = { email: 'signer@partner.example', subject: 'Please sign', body: '<p>Hello</p>' };

  it('accepts an e-mail with attachments with 202', async () => {
    const attachments = [{ filename: 'a.txt', content: Buffer.from('hello').toString('base64') }];
    const response = await platform.call('POST', '/api/notifications/email', { token, body: { ...mail, attachments } });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ status: 'success', message: expect.any(String) });
    const outbox = await fetch(`${platform.sandbox.identityUrl}/outbox`);
    expect(await outbox.text()).toContain('Please sign');
  });

  it.each(['email', 'subject', 'body'] as const)(
    'refuses an e-mail without %s and names the missing member',
    async (member) => {
      const { [member]: _omitted, ...body } = mail;
      const response = await platform.call('POST', '/api/notifications/email', { token, body });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ errors: [{ pointer: `/${member}`, message: 'is missing' }] });
    },
  );

  it.each(['jörg@example.com', 'ada@bücher.example', 'ada..lind@acme.example', '"ada lind"@acme.example'])(
    'forwards a recipient that only the upstream can validate: %s',
    async (email) => {
      const response = await platform.call('POST', '/api/notifications/email', { token, body: { ...mail, email } });
      // The sandbox refuses a space itself.
      expect([email, response.status]).toEqual([email, email.includes(' ') ? 400 : 202]);
      expect(await response.json()).not.toHaveProperty('code');
    },
  );

  it('refuses another content type with 415', async () => {
    const headers = { 'Content-Type': 'text/plain' };
    const response = await platform.call('POST', '/api/notifications/email', {
      token,
      headers,
      body: JSON.stringify(mail),
    });
    expect(response.status).toBe(415);
  });
});

describe('jobs', () => {
  it('imports contacts from CSV in a job that completes', async () => {
    const body = 'name,email\nNew One,new.one@partner.example\nBroken,not-an-address\n';
    const id = await startJob('POST', '/api/contacts/imports/csv', { body, headers: { 'Content-Type': 'text/csv' } });
    expect(await poll(`/api/contacts/imports/${id}`)).toMatchObject({ status: 'completed', imported: 1, rejected: 1 });
    expect((await list('/api/contacts?search=new.one')).data).toHaveLength(1);
  });

  it('imports contacts from a CSV file in a form', async () => {
    const form = new FormData();
    form.set('file', new File(['name,email\nFrom Form,from.form@partner.example\n'], 'contacts.csv'));
    const request = new Request('http://gateway', { method: 'POST', body: form });
    const headers = { 'Content-Type': request.headers.get('content-type') ?? '' };
    const id = await startJob('POST', '/api/contacts/imports/csv', { body: await request.text(), headers });
    expect(await poll(`/api/contacts/imports/${id}`)).toMatchObject({ status: 'completed', imported: 1, rejected: 0 });
  });

  it('analyses a document with async=true in a job that completes', async () => {
    const body = { document_uuid: platform.sandbox.samples.documentUuid };
    const id = await startJob('POST', '/api/ai/analyses?async=true', { body });
    expect(await poll(`/api/ai/jobs/${id}`)).toMatchObject({ status: 'completed' });
  });

  it('exports EDM documents in a job that completes', async () => {
    const id = await startJob('POST', '/api/edm/export', { body: { folder_id: platform.sandbox.samples.folderId } });
    expect(await poll(`/api/edm/export/${id}`)).toMatchObject({ status: 'completed' });
  });
});

describe('lists', () => {
  it('returns lists with data, meta and links by their query parameters', async () => {
    const contacts = await list('/api/contacts?page=2&per_page=10&search=partner');
    expect(Object.keys(contacts).sort()).toEqual(['data', 'links', 'meta']);
    expect(contacts.meta).toMatchObject({ page: 2, per_page: 10 });
    await list('/api/workflows?page=1&search=a');
    await list('/api/v4/documents?page=1');
    await list(`/api/edm/documents?page=1&folder_id=${platform.sandbox.samples.folderId}&search=a`);
  });

  it('validates the query parameters of lists and ignores other ones', async () => {
    const queries = [
      'page=1&page=2',
      'other=%zz&b&=c&&',
      'search=',
      'page=0',
      `search=${'a'.repeat(1000)}`,
      'page[x]=y',
    ];
    for (const query of queries) {
      const { status } = await platform.call('GET', `/api/contacts?${query}`, { token });
      // The sandbox refuses page 0 itself.
      if (status !== 200) expect([query, status]).toEqual(['page=0', 400]);
    }
    for (const [path, name, value] of [
      ['/api/contacts', 'per_page', 'many'],
      ['/api/workflows', 'search', 'a'.repeat(1001)],
      ['/api/v4/documents', 'page', '-1'],
      ['/api/edm/documents', 'folder_id', 'a'.repeat(201)],
      ['/api/audit/events', 'from', '2020-01-01'.repeat(9)],
    ]) {
      const response = await platform.call('GET', `${path}?${name}=${value}`, { token });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: 'parameter_invalid',
        errors: [{ pointer: `/query/${name}` }],
      });
    }
  });

  it('filters audit events by from and to, and records every write', async () => {
    const before = await list('/api/audit/events?from=2020-01-01&page=1');
    await platform.call('POST', '/api/contacts', { token, body: { name: 'Noted', email: 'noted@partner.example' } });
    const after = await list('/api/audit/events?from=2020-01-01&page=1');
    expect(after.meta['total']).toBe((before.meta['total'] as number) + 1);
    expect((await list('/api/audit/events?to=2001-01-01')).data).toEqual([]);
  });
});

describe('other routes', () => {
  it.each([
    '/api/company/settings',
    '/api/company/users',
    '/api/company/license',
    '/api/v1/certificates',
    '/api/edm/folders',
  ])('protects the other routes of an area: %s', async (path) => {
    expect((await platform.call('GET', path)).status).toBe(401);
    expect((await platform.call('GET', path, { token })).status).toBe(200);
  });

  it('leaves finer permissions to the upstream: a user cannot change company settings', async () => {
    const change = (caller: string) =>
      platform.call('PATCH', '/api/company/settings', { token: caller, body: { reminder_days: 5 } });
    expect((await change(token)).status).toBe(200);
    const refused = await change(await platform.login('user@acme.example'));
    expect(refused.status).toBe(403);
    expect(await refused.json()).toEqual({ status: 'error', message: 'only the role admin may do this, not user' });
  });

  it('responds with 404 to a path outside of all areas', async () => {
    expect((await platform.call('GET', '/api/nothing', { token })).status).toBe(404);
  });
});
