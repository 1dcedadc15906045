import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RULES } from '../../src/lint/rule-table.ts';
import { manifestOf, ROUTE } from '../manifest/support.ts';
import { runCli } from '../support/cli.ts';
import { startIssuer } from '../support/issuer.ts';
import { startRawUpstream, startUpstream } from '../support/upstream.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const GET = ROUTE.replace('POST', 'GET');
const CLEAN = manifestOf('', GET);
/** One warning, one info. */
const ADVISED = manifestOf(
  '  search: { url: http://127.0.0.1:7003 }\n',
  `${GET}  - { id: b, method: POST, path: /b, upstream: contacts, access: public, body: { maxBytes: 1KB } }\n`,
);

function folderWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'));
  writeFileSync(join(folder, 'gateway.yaml'), text);
  return folder;
}

const stylish = (out: string) => out.match(/[a-z-]+$/gm)?.slice(0) ?? [];

describe('exit codes', () => {
  it.each([
    [[], 0],
    [['--fail-on', 'error'], 0],
    [['--fail-on', 'warning'], 1],
    [['--fail-on', 'info'], 1],
    [['--max-warnings', '1'], 0],
    [['--max-warnings', '0'], 1],
    [['--preset', 'minimal', '--fail-on', 'info'], 0],
    [['--preset', 'strict', '--max-warnings', '1'], 0],
  ])('of advice, with %j: %i', async (options, expected) => {
    const { code } = await runCli(['lint', ...options], folderWith(ADVISED));
    expect(code).toBe(expected);
  });

  it('an error fails, whatever is said', async () => {
    const { code } = await runCli(['lint', '--max-warnings', '9'], folderWith('version: 2\n'));
    expect(code).toBe(1);
  });

  it.each([
    ['--preset', 'relaxed', 'write one of: minimal, recommended, strict'],
    ['--preset', 'minmal', 'did you mean "minimal"?'],
    ['--fail-on', 'never', 'write one of: error, warning, info'],
    ['--max-warnings', 'few', 'a whole number'],
    ['--explain', 'route-unreachabel', 'did you mean "route-unreachable"?'],
  ])('%s %s is wrong usage', async (option, value, expected) => {
    const { code, out, err } = await runCli(['lint', option, value], folderWith(CLEAN));
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(expected);
  });

  it.each([
    [['--dry-run'], 'goes with --fix'],
    [['--fix', '-'], 'add --dry-run'],
    [['--baseline', 'a', '--write-baseline', 'b'], 'one of --baseline and --write-baseline'],
    [['--baseline', 'nothing.json'], 'nothing.json cannot be used'],
  ])('%j is wrong usage too', async (args, expected) => {
    const { code, err } = await runCli(['lint', ...args], folderWith(CLEAN));
    expect([code, err]).toEqual([2, expect.stringContaining(expected)]);
  });
});

describe('what is printed', () => {
  it('counts by severity', async () => {
    const { err } = await runCli(['lint'], folderWith(ADVISED));
    expect(err).toBe('2 problems in gateway.yaml: 1 warning, 1 info\n');
  });

  it('is of the standard input, with -', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'lint', '-', '--preset', 'strict'], {
      input: CLEAN,
      cwd: folderWith(''),
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '1 problem in <stdin>: 1 info\n']);
    expect(stdout).toMatch(/^<stdin>:1:1 info /);
  });
});

describe('--explain', () => {
  it('prints a rule with its examples, and how to disable it', async () => {
    const { code, out } = await runCli(['lint', '--explain', 'upstream-unused'], tmpdir());
    expect(code).toBe(0);
    expect(out).toMatch(/^upstream-unused\n\n[\s\S]*\n {4}\$ signing-gateway lint bad\.yaml\n[\s\S]*Instead:\n/);
    expect(out).toContain('    # gateway-disable-next-line upstream-unused -- REASON\n');
    expect(out).toContain('    lint: { rules: { upstream-unused: off } }\n');
    expect(out).not.toMatch(/```|<!--|^## |upstream-plain-http/m);
  });

  it('reports that nothing disables an error', async () => {
    const { out } = await runCli(['lint', '--explain', RULES.at(0)?.id ?? ''], tmpdir());
    expect(out).toMatch(/nothing disables the rule\.\n$/);
    expect(out).not.toContain('gateway-disable-next-line');
  });
});

describe('--fix', () => {
  const broken = CLEAN.replace('GET', 'get # read').replace(', path', '\n    , path');

  it('mends the file, and tells of what is left', async () => {
    const folder = folderWith(broken.replace('/api/contacts', '/api//contacts'));
    const { code, err, out } = await runCli(['lint', '--fix'], folder);
    expect([code, err]).toEqual([1, '1 problem mended in gateway.yaml\n1 problem in gateway.yaml: 1 error\n']);
    expect(out).toContain('a path has no empty segments');
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toContain('method: GET # read\n');
  });

  it('leaves a file alone in which nothing can be mended', async () => {
    const { code, err } = await runCli(['lint', '--fix'], folderWith(CLEAN));
    expect([code, err]).toEqual([0, 'no problems in gateway.yaml: 1 route\n']);
  });

  it('prints with --dry-run a patch that does the same, and writes nothing', async () => {
    const folder = folderWith(broken);
    const { code, out } = await runCli(['lint', '--fix', '--dry-run'], folder);
    expect(code).toBe(1);
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toBe(broken);
    execFileSync('git', ['apply'], { cwd: folder, input: out });
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toBe(broken.replace('get', 'GET'));
    expect(await runCli(['lint', '--fix', '--dry-run'], folder)).toEqual({ code: 0, out: '', err: '' });
  });
});

describe('--baseline', () => {
  it('tells only of what is new, wherever the old has moved', async () => {
    const folder = folderWith(ADVISED);
    const written = await runCli(['lint', '--write-baseline', 'known.json', '--fail-on', 'info'], folder);
    expect(written).toEqual({
      code: 0,
      out: '',
      err: 'no problems in gateway.yaml: 2 routes; 2 known problems not shown\n',
    });
    expect(JSON.parse(readFileSync(join(folder, 'known.json'), 'utf8')).problems).toEqual([
      { rule: 'upstream-unused', file: 'gateway.yaml', fingerprint: expect.stringMatching(/^[0-9a-f]{16}:1$/) },
      {
        rule: 'public-write-without-schema',
        file: 'gateway.yaml',
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}:1$/),
      },
    ]);
    writeFileSync(
      join(folder, 'gateway.yaml'),
      `# moved\n\n${ADVISED.replace('  search', '  other: { url: http://127.0.0.1:7004 }\n  search')}`,
    );
    const { code, out, err } = await runCli(
      ['lint', '--baseline', 'known.json', '--fail-on', 'warning', '-f', 'stylish'],
      folder,
    );
    expect([code, stylish(out)]).toEqual([1, expect.arrayContaining(['upstream-unused'])]);
    expect(out).toContain('"other"');
    expect(out).not.toContain('"search"');
    expect(err).toBe('1 problem in gateway.yaml: 1 warning; 2 known problems not shown\n');
  });

  it('has no part in errors', async () => {
    const folder = folderWith(ADVISED.replace('method: GET', 'method: get'));
    const { code, out } = await runCli(['lint', '--write-baseline', 'known.json'], folder);
    expect([code, out]).toEqual([1, expect.stringContaining('error "get" is not a method')]);
    expect(JSON.parse(readFileSync(join(folder, 'known.json'), 'utf8')).problems).toEqual([]);
  });
});

describe('--online', () => {
  it('says which targets give no answer, and which are not well', async () => {
    const well = await startUpstream();
    const sick = await startUpstream((_request, response) => void response.writeHead(503).end());
    const gone = await startUpstream();
    await gone.close();
    const upstreams = `  sick: { urls: ['${well.url}', '${sick.url}'], health: { path: /healthz }, breaker: {} }\n  gone: { url: '${gone.url}' }\n`;
    const routes = ['contacts', 'sick', 'gone'].map((id) => GET.replaceAll('contacts', id)).join('');
    const folder = folderWith(manifestOf(upstreams, routes).replace('http://127.0.0.1:7002', `'${sick.url}'`));
    const { code, out } = await runCli(['lint', '--online', '-f', 'stylish'], folder);
    expect(code).toBe(0);
    expect(out.match(/^ {2}\d.*$/gm)?.map((line) => line.trim().replaceAll(/ {2,}/g, ' '))).toEqual([
      expect.stringMatching(/^4:\d+ warning the health check returned status 503 .* online-health$/),
      expect.stringMatching(/^5:\d+ warning this endpoint does not respond \(ECONNREFUSED\); .* online-upstream$/),
    ]);
    expect(well.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /healthz']);
    await Promise.all([well.close(), sick.close()]);
  });

  it('ends where targets and the issuer switch protocols unasked', async () => {
    const switching = await startRawUpstream((socket) => {
      socket.on('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'),
      );
    });
    const auth = `auth:\n  tokens: { jwt: { jwks: '${switching.url}/keys', algorithms: [ES256], issuer: i, audience: a } }\n  role: { claim: /r, allow: [user], message: no }\n`;
    const text = manifestOf(auth, GET.replace('public', 'protected')).replace(
      'http://127.0.0.1:7002',
      `'${switching.url}'`,
    );
    const { out } = await runCli(['lint', '--online', '-f', 'stylish'], folderWith(text));
    expect(out).toContain('this endpoint does not respond (upgrade_unexpected)');
    expect(out).toContain('the issuer is unavailable (upgrade_unexpected)');
    await switching.close();
  });

  it('leaves no kept connection behind that would hold the process', async () => {
    const identity = await startUpstream((_request, response) => {
      response.setHeader('Keep-Alive', 'timeout=600');
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"active":false}');
    });
    const auth = `auth:\n  tokens: { userinfo: { endpoint: '${identity.url}/me' } }\n  role: { claim: /r, allow: [user], message: no }\n`;
    const text = manifestOf(auth, GET.replace('public', 'protected')).replace(
      'http://127.0.0.1:7002',
      `'${identity.url}'`,
    );
    const { code } = await runCli(['lint', '--online'], folderWith(text));
    expect([code, identity.requests.length]).toEqual([0, 2]);
    await identity.close();
  });

  it('asks the issuer for its keys', async () => {
    const issuer = await startIssuer();
    const up = await startUpstream();
    const text = (jwks: string) =>
      manifestOf(
        `auth:\n  tokens: { jwt: { jwks: '${jwks}', algorithms: [ES256], issuer: i, audience: a } }\n  role: { claim: /r, allow: [user], message: no }\n`,
        GET.replace('public', 'protected'),
      ).replace('http://127.0.0.1:7002', `'${up.url}'`);
    const good = await runCli(['lint', '--online'], folderWith(text(issuer.jwksUrl)));
    expect([good.code, good.out, issuer.fetches]).toEqual([0, '', 1]);
    const bad = await runCli(['lint', '--online', '-f', 'stylish'], folderWith(text(`${up.url}/none`)));
    expect(bad.out).toMatch(/5:13 +warning +the issuer is unavailable \(\w+\); .* online-tokens/);
    await Promise.all([issuer.close(), up.close()]);
  });

  it('asks nobody without it', async () => {
    const up = await startUpstream();
    const { code } = await runCli(['lint'], folderWith(CLEAN.replace('http://127.0.0.1:7002', up.url)));
    expect([code, up.requests]).toEqual([0, []]);
    await up.close();
  });
});
