import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AUTH } from '../manifest/support.ts';
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
    expect(readFileSync(join(folder, 'routes.yaml'), 'utf8')).toBe(ROUTES);
    expect((await runCli(['routes', 'gateway.yaml'], folder)).out).toContain('/api/notes');
  });

  it('keeps edits of the file, and reports those that the document contradicts', async () => {
    const file = join(folder, 'merged.yaml');
    const importAgain = (name: string) => run(name, ...OPTIONS, '-o', 'merged.yaml', '--fail-on-loss');
    await importAgain('clean.yaml');
    expect(readFileSync(file, 'utf8')).toBe(ROUTES);
    writeFileSync(file, ROUTES.replace('access: public', 'access: protected # see the audit').replace('GET', 'POST'));
    writeFileSync(join(folder, 'next.yaml'), CLEAN.replace('get:', 'put:').replace('/notes:', '/all:'));
    expect(await importAgain('next.yaml')).toEqual({
      code: 1,
      out: '',
      err:
        'merged.yaml:3:13 the document changes the route "list-notes" at method to "PUT"; the edit in this file stays [conflict]\n' +
        '1 route from next.yaml: 0 added, 1 changed, 0 removed, 1 conflict\n',
    });
    const merged = ROUTES.replace('/notes', '/all').replace('access: public', 'access: protected # see the audit');
    expect(readFileSync(file, 'utf8')).toBe(merged.replace('GET', 'POST'));
    expect(readFileSync(`${file}.imported`, 'utf8')).toContain('method: PUT');
    writeFileSync(join(folder, 'merged-gateway.yaml'), MANIFEST.replace('routes.yaml', 'merged.yaml') + AUTH);
    expect(await runCli(['routes', 'merged-gateway.yaml'], folder)).toMatchObject({ code: 0, err: '' });
    expect(await importAgain('next.yaml')).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(merged.replace('GET', 'POST'));
  });

  it.each([
    ['without its last import', { '': ROUTES }, 'exists, but not edited.yaml.imported, which a merge needs'],
    ['with a syntax error', { '': 'routes: [', '.imported': ROUTES }, 'edited.yaml:1:'],
    [
      'with an alias',
      { '': 'routes: [&a { id: a }, *a]', '.imported': ROUTES },
      'edited.yaml:1:24 the alias "*a" cannot be merged',
    ],
    [
      'with routes in a map',
      { '': 'routes: { mine: { path: /a } }', '.imported': ROUTES },
      'edited.yaml:1:1 "routes" is not a list',
    ],
    ['that is a list', { '': '- a', '.imported': ROUTES }, 'edited.yaml:1:3 this is not a file with routes'],
  ])('does not change a file %s', async (_, files, message) => {
    for (const name of ['', '.imported']) rmSync(join(folder, `edited.yaml${name}`), { force: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `edited.yaml${name}`), text);
    const { code, err } = await run('clean.yaml', ...OPTIONS, '-o', 'edited.yaml');
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(readFileSync(join(folder, 'edited.yaml'), 'utf8')).toBe(files['']);
  });

  it('writes the file before its base, so that an import that ends between them is repeated', async () => {
    mkdirSync(join(folder, 'ordered.yaml.imported'));
    expect(await run('clean.yaml', ...OPTIONS, '-o', 'ordered.yaml')).toMatchObject({ code: 2 });
    expect(readFileSync(join(folder, 'ordered.yaml'), 'utf8')).toBe(ROUTES);
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
      conflicts: [],
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
    [['gateway.yaml'], 'gateway.yaml is not an OpenAPI document of version 2.0, 3.0 or 3.1'],
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
