import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runCli, startCli } from '../support/cli.ts';
import { manifest } from '../support/gateway.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const folderWith = (text: string) => temporaryFolder('cli', { 'gateway.yaml': text });

const GOOD = `version: 1
upstreams: { up: { url: http://127.0.0.1:7002 } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
  - { id: rest, method: any, path: /**, upstream: up, access: public, body: { maxBytes: 1KB } }
`;

describe('the command line', () => {
  it('prints its version and help and exits with 0', async () => {
    expect(await runCli(['--version'], root)).toEqual({ code: 0, out: `${version}\n`, err: '' });
    const { code, out } = await runCli(['--help'], root);
    expect([code, out]).toEqual([0, expect.stringContaining('Usage: signing-gateway COMMAND')]);
  });

  it('prints the usage, summary and at least two examples of each verb', async () => {
    const { out: help } = await runCli(['--help'], root);
    const verbs = [...help.matchAll(/^ {2}(\w+) {2,}(\S.*)$/gm)];
    expect(verbs.length).toBeGreaterThanOrEqual(8);
    for (const [, verb = '', summary] of verbs) {
      const { code, out } = await runCli([verb, '--help'], root);
      expect([code, out]).toEqual([0, expect.stringContaining(`signing-gateway ${verb}`)]);
      expect(out.toLowerCase()).toContain(`\n\n${summary?.toLowerCase()}\n\n`);
      expect(out.split('Examples:\n')[1]?.match(/^ {2}\S*.*signing-gateway /gm)?.length, verb).toBeGreaterThanOrEqual(
        2,
      );
    }
  });

  it('prints the usage of a verb for "help VERB" too', async () => {
    expect(await runCli(['help', 'lint'], root)).toEqual(await runCli(['lint', '--help'], root));
    expect((await runCli(['help', 'lintt'], root)).err).toContain('unknown command "lintt"; did you mean "lint"?');
  });

  it('prints the summary of each option of a verb', async () => {
    const { out } = await runCli(['dev', '--help'], root);
    expect(out).toBe(`Usage: signing-gateway dev [FILE] [--listen ADDRESS] [--admin ADDRESS] [--secrets-dir FOLDER]

Serve a manifest with local stand-ins for its upstream services

Options:
  -c, --config FILE         the manifest; the same as FILE (default gateway.yaml)
      --listen ADDRESS      the host and port for clients, or unix: and the path of a unix socket; replaces "listen" of the manifest
      --admin ADDRESS       the host and port of the admin API; replaces the address in "admin" of the manifest
      --secrets-dir FOLDER  the folder of secret files (default /run/secrets)
  -h, --help                print this help

Examples:
  signing-gateway dev
  signing-gateway dev --listen 127.0.0.1:8081
`);
  });

  it.each([
    ['no verb', []],
    ['an unknown verb', ['serve']],
    ['an unknown option', ['lint', '--fast']],
    ['two files', ['lint', 'a.yaml', 'b.yaml']],
    ['two manifests', ['run', 'gateway.yaml', '-c', 'other.yaml']],
    ['a missing file', ['lint', 'nothing.yaml']],
    ['a property name of every object', ['constructor']],
  ])('exits with 2 and an error message for %s', async (_name, args) => {
    const { code, out, err } = await runCli(args, root);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^signing-gateway: \S/);
    expect(err).not.toMatch(/\n\s+at /);
  });

  it('refuses to run on an old version of Node', async () => {
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(old)}`;
    expect(await startCli(['lint'], temporaryFolder('node'), { NODE_OPTIONS }).result).toEqual({
      code: 2,
      out: '',
      err: 'signing-gateway: Node 20.1.0 is too old; use Node 22 or later, and for "run" and "dev" 26 or later\n',
    });
  });

  it.each(['run', 'dev'])('refuses %s on a version of Node that only runs the other commands', async (verb) => {
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '24.1.0' } })`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(old)}`;
    const folder = temporaryFolder('node', { 'node_modules/.bin/node': '', 'edge/empty': '' });
    const message =
      'signing-gateway: Node 24.1.0 is too old; use Node 26 or later for "run" and "dev"; the other commands run on this version';
    const beside = await runCli([verb], join(folder, 'edge'), { NODE_OPTIONS });
    expect([beside.code, beside.err]).toEqual([
      2,
      `${message}; "npx signing-gateway ${verb}" runs it with ${join(folder, 'node_modules/.bin/node')}\n`,
    ]);
    expect((await runCli([verb], temporaryFolder('node'), { NODE_OPTIONS })).err).toBe(`${message}\n`);
    expect((await runCli(['schema'], root, { NODE_OPTIONS })).code).toBe(0);
  });

  it.each([
    [['lint', '--explan', 'x'], 'unknown option "--explan"; did you mean "--explain"?'],
    [['lint', '-z'], 'unknown option "-z"'],
    [['lint', '--fail-on'], '--fail-on needs a value; write --fail-on SEVERITY'],
    [['lint', '-f'], '-f needs a value; write -f FORMAT'],
    [['lint', '-f', '-o', 'x'], '-f needs a value before "-o"; if that is the value, write --format=-o'],
    [['lint', '--fix=1'], '--fix takes no value; remove "=1"'],
    [['lint', '--constructor'], 'unknown option "--constructor"'],
    [['schema', 'all'], 'unexpected argument "all"; remove it'],
    [['explain', 'GET'], 'name the request: METHOD URL, for example GET /api/contacts'],
  ])('explains the usage error of %j in two lines', async (args, message) => {
    const { code, out, err } = await runCli(args, root);
    expect([code, out, err]).toEqual([
      2,
      '',
      `signing-gateway: ${message}\nRun "signing-gateway ${args[0]} --help" for the usage.\n`,
    ]);
  });

  it.each([
    ['lintt', 'unknown command "lintt"; did you mean "lint"?'],
    ['--hlep', 'unknown option "--hlep"; did you mean "--help"?'],
  ])('explains %s in two lines', async (word, message) => {
    const { code, err } = await runCli([word], root);
    expect([code, err]).toEqual([2, `signing-gateway: ${message}\nRun "signing-gateway --help" for the usage.\n`]);
  });
});

describe('lint', () => {
  it('exits with 0 and writes nothing to standard output for a manifest without problems', async () => {
    const [clean = ''] = GOOD.split('  - { id: rest');
    const { code, out, err } = await runCli(['lint'], folderWith(clean));
    expect([code, out]).toEqual([0, '']);
    expect(err).toBe('no problems in gateway.yaml: 1 route\n');
  });

  it('exits with 0 if there are only infos', async () => {
    const { code, out } = await runCli(['lint'], folderWith(GOOD));
    expect(code).toBe(0);
    expect(out).toMatch(/^gateway\.yaml:5:\d+ info .*\[public-write-without-schema\]$/m);
  });

  it('exits with 1 for errors and begins each problem with file:line:column', async () => {
    const { code, out, err } = await runCli(['lint'], folderWith(GOOD.replace('GET', 'get').replace('1KB', '1kb')));
    expect(code).toBe(1);
    expect(out.match(/^gateway\.yaml:\d+:\d+ error /gm)).toEqual([
      'gateway.yaml:4:24 error ',
      'gateway.yaml:5:89 error ',
    ]);
    expect(err).toBe('2 problems in gateway.yaml: 2 errors\n');
  });

  it('writes no colour codes to a pipe', async () => {
    const { out } = await runCli(['lint'], folderWith('version: 2\n'), { TERM: 'xterm-256color' });
    expect(out).not.toContain('\u001b');
  });

  it.each([
    [{ FORCE_COLOR: '1' }, true],
    [{ FORCE_COLOR: '3', NO_COLOR: '1' }, true],
    [{ FORCE_COLOR: '0' }, false],
    [{ FORCE_COLOR: 'false' }, false],
    [{ FORCE_COLOR: '' }, false],
  ])('with %j writes colour codes to a pipe: %j', async (env, isColoured) => {
    const { out } = await startCli(['lint'], folderWith('version: 2\n'), env).result;
    expect(out.includes('\u001b[')).toBe(isColoured);
  });

  describe('of 300 problems', () => {
    const routes = (count: number) =>
      Array.from({ length: count }, (_, index) => {
        return `  - { id: r${index}, method: GET, path: /${index}, upstream: none${index}, access: public, extra: 1 }\n`;
      });
    const folder = () =>
      folderWith(`version: 1\nupstreams: { up: { url: http://127.0.0.1:9 } }\nroutes:\n${routes(150).join('')}`);
    const headings = (out: string) => out.match(/^gateway\.yaml:\d+:\d+ error/gm)?.length;

    it('groups equal ones and prints the first 50', async () => {
      const { code, out, err } = await runCli(['lint'], folder());
      expect([code, headings(out)]).toEqual([1, 50]);
      expect(out).toMatch(/^ {2}also at 5:\d+, 6:\d+, .* and 139 more$/m);
      expect(out).toMatch(/\nand 101 more: 101 \[upstream-unknown\]; "lint --max-problems 0" prints all of them\n$/);
      expect(err).toBe('300 problems in gateway.yaml: 300 errors\n');
    });

    it('prints as many as --max-problems', async () => {
      expect(headings((await runCli(['lint', '--max-problems', '7'], folder())).out)).toBe(7);
      expect(headings((await runCli(['lint', '--max-problems', '0'], folder())).out)).toBe(300);
      expect((await runCli(['lint', '--max-problems', 'x'], folder())).err).toContain(
        '--max-problems takes an integer',
      );
    });

    it.each(['stylish', 'markdown'])('groups and limits them in %s', async (format) => {
      const { out } = await runCli(['lint', '-f', format, '--max-problems', '3'], folder());
      expect(out.match(/error/g)).toHaveLength(format === 'stylish' ? 3 : 4);
      expect(out).toContain('and 148 more');
    });

    it('reports all of them to programs', async () => {
      expect(JSON.parse((await runCli(['lint', '-f', 'json'], folder())).out).problems).toHaveLength(300);
    });
  });
});

describe('routes', () => {
  it('prints the compiled routes as a table', async () => {
    const { code, out } = await runCli(['routes'], folderWith(GOOD));
    expect(code).toBe(0);
    expect(out).toBe(
      [
        'METHODS   PATH  ACCESS  UPSTREAM  RULES     ID',
        'GET,HEAD  /one  public  up        -         one',
        'any       /**   public  up        maxBytes  rest',
        '',
      ].join('\n'),
    );
  });

  it('prints JSON with the members of the admin API', async () => {
    const { code, out } = await runCli(['routes', '--json'], folderWith(GOOD));
    expect(code).toBe(0);
    expect(JSON.parse(out).hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.parse(out).routes).toEqual([
      expect.objectContaining({ id: 'one', methods: ['GET', 'HEAD'], path: '/one', access: 'public', upstream: 'up' }),
      expect.objectContaining({ id: 'rest', body: { schema: false, limit_bytes: 1024 } }),
    ]);
  });

  it('prints the roles of a route that allows fewer than the manifest', async () => {
    const routes = `  - { id: one, method: GET, path: /one, upstream: up, access: protected, roles: [admin] }
  - { id: two, method: GET, path: /two, upstream: up, access: protected }
`;
    const { out } = await runCli(['routes'], folderWith(manifest(routes, { up: 'http://127.0.0.1:9' })));
    expect(out.split('\n').slice(1)).toEqual([
      'GET,HEAD  /one  protected  up        roles=admin  one',
      'GET,HEAD  /two  protected  up        -            two',
      '',
    ]);
  });
});
