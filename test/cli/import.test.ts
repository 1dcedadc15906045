import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const DOCUMENT = `openapi: 3.0.3
info: { title: Notes, version: '1' }
paths:
  /notes:
    get:
      operationId: listNotes
      security: []
      parameters:
        - { name: sid, in: cookie, schema: { type: string } }
      responses: { 200: { description: ok } }
`;
const CLEAN = DOCUMENT.replace(/ +parameters:\n.*\n/, '');
const ROUTES = `routes:
  - id: list-notes
    method: GET
    path: /api/notes
    upstream: notes
    access: public
`;
const OTHER_ROUTES = ROUTES.replace('notes', 'others');
const WRITTEN = `# Imported from openapi.yaml by signing-gateway import. sha256:${hashOf(ROUTES)}\n${ROUTES}`;
const MANIFEST = `version: 1
include: routes.yaml
upstreams: { notes: { url: http://127.0.0.1:7001 } }
`;
const folder = temporaryFolder('import', {
  'openapi.yaml': DOCUMENT,
  'clean.yaml': CLEAN,
  'gateway.yaml': MANIFEST,
});
const run = (...args: string[]) => runCli(['import', ...args], folder);
const OPTIONS = ['--upstream', 'notes', '--prefix', '/api'];

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe('import', () => {
  it('prints routes, and each loss with its place', async () => {
    expect(await run('openapi.yaml', ...OPTIONS)).toEqual({
      code: 0,
      out: ROUTES,
      err: 'openapi.yaml:9:11 the cookie "sid" is not validated [looser]\n1 route from openapi.yaml\n',
    });
  });

  it('writes a new file that a manifest includes', async () => {
    expect(await run('openapi.yaml', ...OPTIONS, '-o', 'routes.yaml')).toMatchObject({ code: 0, out: '' });
    expect(readFileSync(join(folder, 'routes.yaml'), 'utf8')).toBe(WRITTEN);
    expect((await runCli(['routes', 'gateway.yaml'], folder)).out).toContain('/api/notes');
    expect(await runCli(['fmt', '--check', 'routes.yaml'], folder)).toMatchObject({ code: 0 });
  });

  it.each([
    ['as an import wrote it', WRITTEN],
    ['of another import', WRITTEN.replace(ROUTES, OTHER_ROUTES).replace(hashOf(ROUTES), hashOf(OTHER_ROUTES))],
    ['in another format', WRITTEN.replaceAll('\n  ', '\n      ').replace(': GET', ':   GET  ')],
    ['with a byte order mark and the line ends of Windows', `\uFEFF${WRITTEN.replaceAll('\n', '\r\n')}`],
    ['with the same routes and no first line', ROUTES],
  ])('overwrites a file %s', async (_, text) => {
    writeFileSync(join(folder, 'old.yaml'), text);
    expect(await run('openapi.yaml', ...OPTIONS, '-o', 'old.yaml')).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, 'old.yaml'), 'utf8')).toBe(WRITTEN);
  });

  it.each([
    ['with an edit', WRITTEN.replace('public', 'protected'), 'was edited after its import'],
    ['with another comment', `${WRITTEN}# mine\n`, 'was edited after its import'],
    ['with a syntax error', `${WRITTEN}]\0"`, 'was edited after its import'],
    ['without the first line', OTHER_ROUTES, 'was not written by "signing-gateway import"'],
    ['with a line before the first one', `# mine\n${WRITTEN}`, 'was not written by "signing-gateway import"'],
    ['without content', '', 'was not written by "signing-gateway import"'],
  ])('overwrites a file %s only if forced', async (_, text, reason) => {
    const file = join(folder, 'edited.yaml');
    writeFileSync(file, text);
    expect(await run('openapi.yaml', ...OPTIONS, '-o', 'edited.yaml')).toEqual({
      code: 2,
      out: '',
      err:
        `signing-gateway: edited.yaml ${reason}; see the differences with "signing-gateway drift openapi.yaml", ` +
        'or overwrite the file with --force\n',
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(await run('openapi.yaml', ...OPTIONS, '-o', 'edited.yaml', '--force')).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(WRITTEN);
  });

  it('exits with 1 for losses if asked', async () => {
    expect((await run('openapi.yaml', '--fail-on-loss')).code).toBe(1);
    expect((await run('clean.yaml', '--fail-on-loss')).code).toBe(0);
  });

  it('prints the losses as JSON', async () => {
    expect(JSON.parse((await run('openapi.yaml', '--json')).err)).toEqual({
      version: 1,
      losses: [
        { file: 'openapi.yaml', line: 9, column: 11, effect: 'looser', message: 'the cookie "sid" is not validated' },
      ],
    });
  });

  it('reads a document that is larger than a manifest may be', async () => {
    const text = readFileSync(join(folder, 'openapi.yaml'), 'utf8');
    writeFileSync(join(folder, 'large.yaml'), `${text}x-notes: ${'x'.repeat(6_000_000)}\n`);
    expect(await run('large.yaml', ...OPTIONS)).toMatchObject({ code: 0, out: ROUTES });
  });

  it.each([
    [[], 'name one OpenAPI document'],
    [['missing.yaml'], 'missing.yaml: no such file; name an OpenAPI document'],
    [['gateway.yaml'], 'gateway.yaml is not an OpenAPI document of version 2.0, 3.0, 3.1 or 3.2'],
    [['openapi.yaml', '--upstream', 'My API'], '--upstream "My API" is not a name'],
    [['openapi.yaml', '--access', 'open'], '--access takes one of public, protected, not "open"'],
    [['openapi.yaml', '--prefix', 'api'], '--prefix "api" is not a path'],
    [['openapi.yaml', '--prefix', '/api/'], '--prefix "/api/" is not a path'],
    [['openapi.yaml', '--role', 'admin'], '--role "admin" is not SCOPE=ROLE'],
  ])('exits with 2 for %j', async (args, message) => {
    const { code, out, err } = await run(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });
});
