import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { logText } from '../candidate/tighten/support.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MANIFEST = `version: 1
upstreams: { up: { url: '\${UP:-http://127.0.0.1:9}' } }
include: more.yaml
routes:
  - { id: one, method: any, path: /one, upstream: up, access: public }
`;
const MORE = `routes:
  # Nobody remembers.
  - { id: two, method: GET, path: /two, upstream: up, access: public }
  - { id: three, method: GET, path: /three, upstream: up, access: public }
`;
const request = (path: string, route: string) => ({ method: 'GET', path, route, upstream: 'up' });
const LOG = logText([request('/one', 'one'), request('/three', 'three')]);

const folder = temporaryFolder('tighten', {
  'gateway.yaml': MANIFEST,
  'more.yaml': MORE,
  'access.log': LOG,
  'broken.yaml': 'version: 2\n',
  'foreign.log': `not JSON\n${LOG}{"msg":"request"\n`,
});
writeFileSync(join(folder, 'old.log.gz'), gzipSync(LOG));
writeFileSync(join(folder, 'cut.log.gz'), gzipSync(LOG).subarray(0, -12));

const run = (...args: string[]) => runCli(['tighten', ...args], folder);

describe('tighten', () => {
  it('exits with 0, and prints each proposal with its place and evidence, and a note for a short log', async () => {
    const { code, out, err } = await run('access.log', 'old.log.gz', 'gateway.yaml');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('gateway.yaml: 2 proposals from 4 allowed requests of 1 caller, ');
    expect(out).toContain('note: the log is short: 4 allowed requests in 0 days');
    expect(out).toContain('more.yaml:3:5 the route "two" had no request; remove it [route/two]\n');
    expect(out).toContain(
      'gateway.yaml:5:24 the route "one" was used with GET only; allow no method but GET [method/one]\n',
    );
  });

  it('prints no note for a log that is long enough by the options', async () => {
    expect((await run('access.log', 'gateway.yaml', '--min-days', '0', '--min-requests', '2')).out).not.toContain(
      'is short',
    );
    expect((await run('access.log', 'gateway.yaml', '--min-days', '0', '--min-requests', '3')).out).toContain(
      'is short',
    );
  });

  it('prints a patch that git applies, and nothing remains to propose', async () => {
    const root = temporaryFolder('tighten', { 'gateway.yaml': MANIFEST, 'more.yaml': MORE, 'access.log': LOG });
    const { out } = await runCli(['tighten', 'access.log', 'gateway.yaml', '-f', 'patch'], root);
    execFileSync('git', ['apply'], { cwd: root, input: out });
    expect(readFileSync(join(root, 'gateway.yaml'), 'utf8')).toBe(MANIFEST.replace('any', 'GET'));
    expect(readFileSync(join(root, 'more.yaml'), 'utf8')).toBe(MORE.replace(/ {2}- \{ id: two.*\n/, ''));
    expect((await runCli(['tighten', 'access.log', 'gateway.yaml', '-f', 'patch'], root)).out).toBe('');
    expect((await runCli(['lint', 'gateway.yaml'], root)).code).toBe(0);
  });

  it('changes no file', async () => {
    await run('access.log', 'gateway.yaml');
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toBe(MANIFEST);
  });

  it('selects proposals by their ids', async () => {
    const { out } = await run('access.log', 'gateway.yaml', '-f', 'patch', '--only', 'route/two');
    expect(out).toContain('--- a/more.yaml\n');
    expect(out).not.toContain('gateway.yaml');
    const { code, err } = await run('access.log', 'gateway.yaml', '--only', 'route/tow');
    expect({ code, err }).toEqual({
      code: 2,
      err: 'signing-gateway: no proposal has the id "route/tow"; did you mean "route/two"?\nRun "signing-gateway tighten --help" for the usage.\n',
    });
  });

  it('prints Markdown with the patch, and JSON', async () => {
    const markdown = (await run('access.log', 'gateway.yaml', '-f', 'markdown')).out;
    expect(markdown).toContain('| the route "two" had no request; remove it (`route/two`) | 0 allowed requests');
    expect(markdown).toContain('```diff\n--- a/gateway.yaml\n');
    const json = JSON.parse((await run('access.log', 'gateway.yaml', '-f', 'json')).out);
    expect(json.proposals).toHaveLength(2);
    expect(json.patch).toContain('--- a/more.yaml\n');
  });

  it('counts the lines of other programs', async () => {
    const { code, out, err } = await run('foreign.log', 'gateway.yaml');
    expect(code).toBe(0);
    expect(out).toContain('note: a log could not be read completely; the missing lines may show a use\n');
    expect(err).toContain('lines whose JSON ends too early: 1 skipped, the first at foreign.log:4\n');
  });

  it('exits with 1 if a log cannot be read to its end', async () => {
    const { code, out } = await run('cut.log.gz', 'gateway.yaml');
    expect(code).toBe(1);
    expect(out).toContain('note: a log could not be read completely; the missing lines may show a use\n');
  });

  it('exits with 2 for a wrong usage, a missing file, and a manifest with problems', async () => {
    const message = async (...args: string[]) => {
      const { code, err } = await run(...args);
      return [code, err.split('\n')[0]];
    };
    expect(await message('gateway.yaml')).toEqual([
      2,
      'signing-gateway: name one log or more, and the manifest last: LOG... MANIFEST',
    ]);
    expect(await message('access.log', 'gateway.yaml', '-f', 'pach')).toEqual([
      2,
      'signing-gateway: unknown format "pach"; did you mean "patch"?',
    ]);
    expect(await message('absent.log', 'gateway.yaml')).toEqual([
      2,
      'signing-gateway: absent.log: no such file; name a log',
    ]);
    expect((await run('access.log', 'broken.yaml')).code).toBe(2);
    expect(await message('gateway.yaml', '-')).toEqual([
      2,
      'signing-gateway: name the manifest last, as a file; "-" reads a log from the standard input',
    ]);
  });

  it('never prints a value from the environment', async () => {
    const { out } = await runCli(['tighten', 'access.log', 'gateway.yaml', '-f', 'json'], folder, {
      UP: 'http://secret.internal:9',
    });
    expect(out).not.toContain('secret.internal');
  });
});
