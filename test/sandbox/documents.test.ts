import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../examples/platform/sandbox.ts';
import { request, startSandbox, tokenOf } from './client.ts';

let sandbox: Sandbox;
let path: string;
beforeAll(async () => {
  sandbox = await startSandbox();
  path = `/api/v4/documents/${sandbox.samples.documentUuid}/download`;
});
afterAll(() => sandbox.close());

const download = (headers: Record<string, string> = {}, method = 'GET') =>
  request(sandbox.platformUrl, `${method} ${path}`, { headers });

describe('the download of a document', () => {
  it('is a PDF with a correct cross-reference table', async () => {
    const { status, headers, body } = await download();
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/pdf',
      'accept-ranges': 'bytes',
      'content-disposition': `attachment; filename="${sandbox.samples.documentUuid}.pdf"`,
      'content-length': String(body.length),
    });
    const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(body)?.[1]);
    expect(body.slice(table, table + 4)).toBe('xref');
    const offsets = [...body.matchAll(/(\d{10}) 00000 n \n/g)].map((entry) => Number(entry[1]));
    expect(offsets.map((offset) => body.slice(offset, offset + 7))).toEqual([1, 2, 3, 4, 5].map((n) => `${n} 0 obj`));
  });

  it.each([
    ['bytes=0-7', 206, '0-7', '%PDF-1.4'],
    ['bytes=-6', 206, undefined, '%%EOF\n'],
    ['bytes=5-', 206, undefined, undefined],
    ['bytes=0-999999', 206, undefined, undefined],
    ['bytes=0-1,4-5', 200, undefined, undefined],
    ['bytes=7-0', 200, undefined, undefined],
    ['lines=1-2', 200, undefined, undefined],
    ['bytes=999999-', 416, undefined, undefined],
    ['bytes=-0', 416, undefined, undefined],
  ])('responds to Range: %s with %i', async (range, status, part, text) => {
    const complete = await download();
    const response = await download({ range });
    expect(response.status).toBe(status);
    if (part !== undefined) expect(response.headers.get('content-range')).toBe(`bytes ${part}/${complete.body.length}`);
    if (text !== undefined) expect(response.body).toBe(text);
    if (status === 416) expect(response.headers.get('content-range')).toBe(`bytes */${complete.body.length}`);
    if (status === 200) expect(response.body).toBe(complete.body);
  });

  it('responds to HEAD with the length and without a body', async () => {
    const head = await download({}, 'HEAD');
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers.get('content-length')).toBe((await download()).headers.get('content-length'));
  });
});

describe('signed documents', () => {
  const verify = async (uuid: string) => (await request(sandbox.platformUrl, `GET /api/v4/verify/${uuid}`)).body.data;

  it('are verified against their bytes', async () => {
    expect(await verify(sandbox.samples.documentUuid)).toMatchObject({
      valid: true,
      algorithm: 'ECDSA P-256 with SHA-256',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      certificate_id: sandbox.samples.certificate,
    });
    expect(await verify(sandbox.samples.secondDocumentUuid)).toMatchObject({ valid: true });
    expect(await verify(sandbox.samples.tamperedDocumentUuid)).toMatchObject({ valid: false });
    expect(await request(sandbox.platformUrl, 'GET /api/v4/verify/unknown')).toMatchObject({ status: 404 });
  });

  it('are listed, and shown with their attachments', async () => {
    const token = await tokenOf(sandbox, 'user@acme.example');
    const list = await request(sandbox.platformUrl, 'GET /api/v4/documents', { token });
    expect(list.body.meta.total).toBe(3);
    const one = await request(sandbox.platformUrl, `GET /api/v4/documents/${sandbox.samples.documentUuid}`, { token });
    expect(one.body.data.attachments).toMatchObject([{ uuid: sandbox.samples.attachmentUuid }]);
    const attachment = await request(
      sandbox.platformUrl,
      `GET /api/v4/attachments/${sandbox.samples.attachmentUuid}/download`,
    );
    expect(attachment.body).toContain('seat per month');
  });
});
