import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const OLD = `version: 1
upstreams: { up: { url: '\${UP:-http://127.0.0.1:7002}' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
  - { id: two, method: POST, path: /two, upstream: up, access: public, body: { schema: { $ref: ./two.json } } }
`;
const NEW = OLD.replace('  - { id: one, method: GET, path: /one, upstream: up, access: public }\n', '');
const SCHEMA = '{"type":"object","required":["a"]}';

const folder = temporaryFolder('diff', {
  'old.yaml': OLD,
  'new.yaml': NEW,
  'two.json': SCHEMA,
  'broken.yaml': 'version: 2\n',
});

/** Creates a git repository with the old manifest committed and the new one in the work tree. */
function createRepository(): string {
  const root = temporaryFolder('diff', { 'deploy/gateway.yaml': OLD, 'deploy/two.json': SCHEMA });
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', ...args],
      { cwd: root },
    );
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  writeFileSync(join(root, 'deploy/gateway.yaml'), NEW);
  writeFileSync(join(root, 'deploy/two.json'), '{"type":"object"}');
  return root;
}

describe('diff', () => {
  it('exits with 0 if the manifests behave alike', async () => {
    const { code, out, err } = await runCli(['diff', 'old.yaml', 'old.yaml'], folder);
    expect({ code, out, err }).toEqual({ code: 0, out: 'no differences in behaviour\n', err: '' });
  });

  it('compares the manifests of folders', async () => {
    const root = createRepository();
    const { code, out } = await runCli(['diff', 'main:deploy/gateway.yaml', 'deploy'], root);
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining('[route-removed]') });
    expect((await runCli(['diff', '.', '.'], root)).err).toContain('gateway.yaml: no such file');
  });

  it('exits with 1 from the severity of --fail-on on', async () => {
    const exit = async (...args: string[]) => (await runCli(['diff', 'old.yaml', 'new.yaml', ...args], folder)).code;
    expect(await exit()).toBe(1);
    expect(await exit('--fail-on', 'error')).toBe(0);
    expect(await exit('--fail-on', 'info')).toBe(1);
    expect(await exit('--fail-on', 'never')).toBe(0);
  });

  it('prints text, JSON or Markdown', async () => {
    const print = async (...args: string[]) => (await runCli(['diff', 'old.yaml', 'new.yaml', ...args], folder)).out;
    expect(await print()).toBe(
      'old.yaml:4:5 warning the route "one" was removed [route-removed]\n  GET /one\n1 warning\n',
    );
    expect(JSON.parse(await print('-f', 'json'))).toEqual({
      version: 1,
      old: 'old.yaml',
      new: 'new.yaml',
      differences: [
        {
          rule: 'route-removed',
          severity: 'warning',
          message: 'the route "one" was removed',
          file: 'old.yaml',
          line: 4,
          column: 5,
          witness: { request: { method: 'GET', url: '/one' } },
        },
      ],
    });
    expect(await print('-f', 'markdown')).toContain(
      '| warning | the route "one" was removed (route-removed) | `old.yaml:4` | `GET /one` |\n',
    );
  });

  it('reads a git revision and the files that the manifest names at the same revision', async () => {
    const root = createRepository();
    const { code, out, err } = await runCli(['diff', 'main:deploy/gateway.yaml', 'deploy/gateway.yaml'], root);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toBe(`main:deploy/gateway.yaml:4:5 warning the route "one" was removed [route-removed]
  GET /one
deploy/gateway.yaml:4:78 warning the route "two" now accepts bodies that it refused before [body-loosened]
  POST /two, Content-Type: application/json, body: {}
2 warnings
`);
    const inside = await runCli(['diff', 'HEAD:./gateway.yaml', 'gateway.yaml'], join(root, 'deploy'));
    expect([inside.code, inside.err]).toEqual([1, '']);
    expect(inside.out).toContain('2 warnings\n');
  });

  it('reports the message of git for an unknown revision', async () => {
    const { code, out, err } = await runCli(
      ['diff', 'nowhere:deploy/gateway.yaml', 'deploy/gateway.yaml'],
      createRepository(),
    );
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^signing-gateway: nowhere:deploy\/gateway\.yaml: no such file, and git reports: \S/);
  });

  it('never prints values from the environment', async () => {
    const moved = temporaryFolder('diff', {
      'old.yaml': OLD,
      'new.yaml': OLD.replace('${UP:-', '${UQ:-'),
      'two.json': SCHEMA,
    });
    const { out } = await runCli(['diff', 'old.yaml', 'new.yaml'], moved, {
      UP: 'http://10.9.8.7:6',
      UQ: 'http://10.9.8.7:7',
    });
    expect(out).toContain('is now at ${UQ} (was at ${UP})');
    expect(out).not.toContain('10.9.8.7');
  });

  it('exits with 2 for a manifest with problems and prints them', async () => {
    const { code, out, err } = await runCli(['diff', 'old.yaml', 'broken.yaml'], folder);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^broken\.yaml:1:/);
  });

  it.each([
    ['one manifest', ['old.yaml']],
    ['three manifests', ['old.yaml', 'new.yaml', 'old.yaml']],
    ['a missing file', ['old.yaml', 'nothing.yaml']],
    ['an unknown severity', ['old.yaml', 'new.yaml', '--fail-on', 'fatal']],
    ['an unknown format', ['old.yaml', 'new.yaml', '-f', 'html']],
    ['a name that git would read as an option', ['old.yaml', '--', '--output=x:y']],
  ])('exits with 2 for %s', async (_case, args) => {
    const { code, out, err } = await runCli(['diff', ...args], folder);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^signing-gateway: \S/);
  });

  describe('with --prove', () => {
    const prove = (...args: string[]) => runCli(['diff', ...args], folder);

    it('exits with 0 if the property holds for all requests, and with 1 if it does not', async () => {
      const holds = { code: 0, out: 'no-new-access: holds for all requests\n', err: '' };
      expect(await prove('old.yaml', 'new.yaml', '--prove', 'no-new-access')).toEqual(holds);
      expect(await prove('new.yaml', 'old.yaml', '--prove', 'no-new-access')).toEqual({
        code: 1,
        out: 'old.yaml:4:35 error the route "one" serves requests that no route served before: refused with 404 route_unknown before, and now forwarded to "up" with 200 [new-access]\n  compared with new.yaml:3:1\n  GET /one\nno-new-access: does not hold\n',
        err: '',
      });
      expect((await prove('old.yaml', 'new.yaml', '--prove=equivalent')).out).toContain(
        'served requests that no route serves now',
      );
      expect((await prove('old.yaml', 'broken.yaml', '--prove=equivalent')).code).toBe(2);
    });

    it('prints JSON, with the accesses that are meant', async () => {
      const allow = ['--prove', 'no-new-access', '--allow', 'meant.yaml'];
      writeFileSync(
        join(folder, 'meant.yaml'),
        '- { when: { path: /one }, why: a page }\n- { when: { path: /x }, why: b }\n',
      );
      const { code, out } = await prove('new.yaml', 'old.yaml', '-f', 'json', ...allow);
      expect(code).toBe(0);
      expect(JSON.parse(out)).toEqual({
        ...{
          version: 1,
          old: 'new.yaml',
          new: 'old.yaml',
          differences: [],
          property: 'no-new-access',
          holds: true,
          omitted: 0,
        },
        allowed: [
          { file: 'meant.yaml', line: 1, why: 'a page', requests: [{ method: 'GET', url: '/one' }] },
          { file: 'meant.yaml', line: 2, why: 'b', requests: [] },
        ],
      });
      expect((await prove('new.yaml', 'old.yaml', ...allow)).out).toContain(
        'meant.yaml:2 opens nothing, so remove it: b\n',
      );
    });

    it.each([
      ['an unknown property', ['--prove', 'nothing'], 'unknown --prove "nothing"'],
      ['a severity', ['--prove', 'equivalent', '--fail-on', 'error'], 'remove --fail-on'],
      ['allowances without a proof', ['--allow', 'meant.yaml'], 'write --prove no-new-access too'],
      ['allowances that cannot be read', ['--prove', 'no-new-access', '--allow', 'none.yaml'], 'none.yaml'],
      [
        'allowances in another form',
        ['--prove', 'no-new-access', '--allow', 'two.json'],
        'two.json is not valid: write a list',
      ],
    ])('refuses %s', async (_name, args, message) => {
      const { code, err } = await prove('old.yaml', 'new.yaml', ...args);
      expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    });
  });
});
