import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lint } from '../../src/check/lint/lint.ts';
import { starterManifest, starterTestFile } from '../../src/cli/init/starter-files.ts';
import { load } from '../../src/engine/load.ts';
import { runMutants } from '../../src/prove/mutation/run-mutants.ts';
import { readTestFile } from '../../src/prove/testing/read-test-file.ts';
import { runTestFile } from '../../src/prove/testing/run-test-file.ts';
import { runCli } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { worldOf } from '../support/gateway.ts';
import '../support/seed.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

describe('init', () => {
  it.each([
    ['npx', 'npx signing-gateway'],
    ['gateway', 'npm run gateway --'],
  ])('names the next commands as they work under %s', async (event, command) => {
    const { err } = await runCli(['init'], temporaryFolder('init'), { npm_lifecycle_event: event });
    expect(err).toContain(`Next: run "${command} dev", "${command} lint `);
  });

  it('creates a folder, whose manifest other commands find by the name of the folder', async () => {
    const folder = temporaryFolder('init');
    expect((await runCli(['init', 'edge/one'], folder)).out).toBe(
      'edge/one/gateway.yaml\nedge/one/gateway.test.yaml\n',
    );
    expect((await runCli(['lint', 'edge/one'], folder)).err).toBe('no problems in edge/one/gateway.yaml: 2 routes\n');
    expect((await runCli(['lint', '.'], join(folder, 'edge/one'))).err).toBe('no problems in gateway.yaml: 2 routes\n');
    expect((await runCli(['init', 'edge/one'], folder)).err).toContain('edge/one/gateway.yaml already exists');
    writeFileSync(join(folder, 'file'), '');
    expect((await runCli(['init', 'file/one'], folder)).code).toBe(2);
  });

  it('writes a formatted manifest without problems, and tests that cover it and notice every change', async () => {
    const folder = temporaryFolder('init');
    const { code, out, err } = await runCli(['init'], folder, { npm_lifecycle_event: 'test' });
    expect([code, out]).toEqual([0, 'gateway.yaml\ngateway.test.yaml\n']);
    expect(err).toBe(
      'Next: run "signing-gateway dev", "signing-gateway lint gateway.yaml" and "signing-gateway test gateway.test.yaml"\n',
    );
    expect(readdirSync(folder).sort()).toEqual(['gateway.test.yaml', 'gateway.yaml']);
    expect(await runCli(['lint'], folder)).toEqual({
      code: 0,
      out: '',
      err: 'no problems in gateway.yaml: 2 routes\n',
    });
    expect((await runCli(['fmt', '--check', 'gateway.yaml', 'gateway.test.yaml'], folder)).code).toBe(0);
    expect((await runCli(['lint', '--preset', 'strict', '--fail-on', 'warning'], folder)).code).toBe(0);
    expect(await runCli(['test', '--mutate', '--fail-under', '100'], folder)).toMatchObject({ code: 0, err: '' });
    const routes = (await runCli(['routes'], folder)).out;
    expect([routes.match(/ public /g)?.length, routes.match(/ protected /g)?.length]).toEqual([1, 1]);
  });

  it.each([
    "{ origins: ['https://app.example'] }",
    "{ origins: ['https://other.example'], credentials: true }",
    "{ origins: ['*'] }",
  ])('writes tests that pass when the manifest gets cors: %s', async (cors) => {
    const folder = temporaryFolder('init');
    await runCli(['init'], folder);
    appendFileSync(join(folder, 'gateway.yaml'), `\ncors: ${cors}\n`);
    const { code, out } = await runCli(['test'], folder);
    expect([code, out]).toEqual([0, expect.stringContaining('gateway.test.yaml: 32 passed')]);
  });

  it('refers editors to the schema from any folder', async () => {
    const folder = temporaryFolder('init');
    mkdirSync(join(folder, 'deploy'));
    expect((await runCli(['init', 'deploy/edge.yaml'], folder)).out).toBe('deploy/edge.yaml\ndeploy/edge.test.yaml\n');
    const file = join(folder, 'deploy/edge.yaml');
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(readFileSync(file, 'utf8')) ?? [];
    expect(JSON.parse(readFileSync(resolve(dirname(file), schema), 'utf8')).$id).toBe('urn:signing-gateway:manifest:1');
    expect(readFileSync(join(folder, 'deploy/edge.test.yaml'), 'utf8')).toContain('\nmanifest: edge.yaml\n');
  });

  it.each(['gateway.yaml', 'gateway.test.yaml'])('does not replace an existing %s and writes nothing', async (name) => {
    const folder = temporaryFolder('init');
    writeFileSync(join(folder, name), 'mine');
    const { code, out, err } = await runCli(['init'], folder);
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe(`signing-gateway: ${name} already exists; name another file, or remove this one\n`);
    expect(readdirSync(folder)).toEqual([name]);
    expect(readFileSync(join(folder, name), 'utf8')).toBe('mine');
  });

  it('creates the folder of a named file', async () => {
    const { code, out } = await runCli(['init', 'deploy/new/edge.yaml'], temporaryFolder('init'));
    expect([code, out]).toEqual([0, 'deploy/new/edge.yaml\ndeploy/new/edge.test.yaml\n']);
  });

  it('does not write through a broken symbolic link', async () => {
    const folder = temporaryFolder('init');
    symlinkSync('elsewhere.yaml', join(folder, 'gateway.yaml'));
    expect((await runCli(['init'], folder)).code).toBe(2);
    expect(readdirSync(folder)).toEqual(['gateway.yaml']);
  });
});

/** Runs `init --upstream` and returns its first note, with the manifest that it wrote. */
async function initWith(url: string, ...args: string[]) {
  const folder = temporaryFolder('init');
  const { code, err } = await runCli(['init', '--upstream', url, ...args], folder);
  const text = code === 0 ? readFileSync(join(folder, 'gateway.yaml'), 'utf8') : undefined;
  return { code, notes: err.split('\n').slice(0, -2), text, folder, err };
}

describe('init --upstream', () => {
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream((request, response) => {
      response.statusCode = request.url === '/missing' ? 404 : 200;
      response.end();
    });
  });
  afterAll(() => upstream.close());

  it('sends GET to the service, and makes its path the public one', async () => {
    const { code, notes, text = '' } = await initWith(`${upstream.url}/v1/health/`);
    expect([code, notes]).toEqual([0, [`${upstream.url} responds to GET /v1/health with 200.`]]);
    expect(upstream.requests.map(({ method, url }) => [method, url])).toEqual([['GET', '/v1/health']]);
    expect(text).toContain(`url: \${API_URL:-${upstream.url}}\n`);
    expect(text).toContain('path: /v1/health\n');
    expect(text).not.toContain('ECHO_URL');
  });

  it('writes the files for a service that has another path or does not respond, and says what to do', async () => {
    const missing = await initWith(`${upstream.url}/missing`);
    expect(missing.notes).toEqual([
      `${upstream.url} responds to GET /missing with 404. Change "path" of the route "public" to a path of your service.`,
    ]);
    const closed = `http://127.0.0.1:${await freePort()}`;
    const refused = await initWith(closed);
    expect([refused.code, refused.notes]).toEqual([
      0,
      [`${closed} does not respond (ECONNREFUSED). Start the service, or correct "url" in the manifest.`],
    ]);
  });

  it.each([
    [
      '127.0.0.1:3000',
      '127.0.0.1:3000: the address begins with http:// or https://; write for example http://127.0.0.1:3000',
    ],
    ['ftp://a.example', 'ftp://a.example: the address begins with http:// or https://'],
    ['http://me:secret@a.example', 'http://•••••••••@a.example: a URL with a user or a password is not allowed'],
    ['http://a.example/?page=1', 'http://a.example/?page=1: a route has no query and no fragment'],
    ['http://a.example/{id}', 'http://a.example/{id}: the path has characters that need a pattern'],
    ['http://a.example:0', 'http://a.example:0: no server has port 0'],
    ['', ': the address begins with http:// or https://'],
  ])('refuses %j and writes nothing', async (url, message) => {
    const { code, err, folder } = await initWith(url);
    expect([code, err]).toEqual([2, expect.stringContaining(`signing-gateway: --upstream ${message}`)]);
    expect(err).not.toContain('secret');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('init --container', () => {
  it('listens on all addresses and uses all processors, without a finding of lint', async () => {
    const folder = temporaryFolder('init');
    const { err } = await runCli(['init', '--container'], folder);
    expect(err).toMatch(/^Next: /);
    const manifest = readFileSync(join(folder, 'gateway.yaml'), 'utf8');
    expect(manifest).toContain('\nlisten: ${LISTEN:-0.0.0.0:8080}\n');
    expect(manifest).toContain('\nserver:\n  workers: ${WORKERS:-auto}\n');
    expect(await runCli(['lint'], folder)).toMatchObject({ code: 0, out: '' });
  });

  it('says that loopback is the container itself', async () => {
    const { notes } = await initWith('http://127.0.0.1:1', '--container');
    expect(notes[1]).toBe(
      'In a container, http://127.0.0.1:1 is the container itself. Set API_URL to the address of the service in its network.',
    );
    expect((await initWith('http://192.0.2.1.invalid', '--container')).notes.length).toBe(1);
  });
});

describe('the starter files', () => {
  const word = fc
    .stringMatching(/^(?:[a-z0-9._~-]{1,6}|api|API|other|private|another|status|internal|INTERNAL|hidden)$/)
    .filter((text) => !/^\.+$/.test(text));
  const path = fc.array(word, { maxLength: 4 }).map((words) => `/${words.join('/')}`);
  const starter = fc.record({
    upstreamUrl: fc.constant('http://127.0.0.1:3000'),
    upstreamComment: fc.constantFrom('', 'A comment.'),
    publicPath: path,
    isContainer: fc.boolean(),
  });

  it('have no problem and cover each other for every public path', async () => {
    await fc.assert(
      fc.asyncProperty(starter, async (choices) => {
        const text = starterManifest('./gateway.schema.json', choices);
        const loaded = load({ path: 'gateway.yaml', text }, worldOf());
        expect(loaded.problems).toEqual([]);
        if (loaded.plan === undefined) return;
        expect(loaded.plan.listen.host).toBe(choices.isContainer ? '0.0.0.0' : '127.0.0.1');
        expect(lint(loaded)).toEqual([]);
        const tests = starterTestFile('./gateway-test.schema.json', 'gateway.yaml', choices);
        const { testFile, problems } = readTestFile({ path: 'gateway.test.yaml', text: tests });
        expect(problems).toEqual([]);
        if (testFile === undefined) return;
        const results = await runTestFile(testFile.testFile, loaded);
        expect(results.flatMap(({ name, mismatches }) => (mismatches.length > 0 ? [name] : []))).toEqual([]);
        const { signal } = new AbortController();
        const { unnoticed } = await runMutants(testFile.testFile, loaded, results, worldOf().readFile, signal);
        expect(unnoticed.map(({ caseText }) => caseText)).toEqual([]);
      }),
      { numRuns: runs(3) },
    );
  });
});

describe('schema', () => {
  it.each([
    [[], 'gateway.schema.json'],
    [['--tests'], 'gateway-test.schema.json'],
    [['--report'], 'lint-report.schema.json'],
  ])('prints the schema for %j: %s', async (args, name) => {
    const { code, out } = await runCli(['schema', ...args], tmpdir());
    expect([code, out]).toEqual([0, readFileSync(new URL(`../../schema/${name}`, import.meta.url), 'utf8')]);
  });
});
