import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RULES } from '../../src/check/lint/rule-table.ts';
import { manifestOf, ROUTE } from '../manifest/support.ts';
import { runCli, runInThisProcess } from '../support/cli.ts';
import { startIssuer } from '../support/issuer.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startRawUpstream, startUpstream } from '../support/upstream.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const GET = ROUTE.replace('POST', 'GET');
const CLEAN = manifestOf('', GET);
/** A manifest with one warning and one info. */
const WITH_FINDINGS = manifestOf(
  '  search: { url: http://127.0.0.1:7003 }\n',
  `${GET}  - { id: b, method: POST, path: /b, upstream: contacts, access: public, body: { maxBytes: 1KB } }\n`,
);

const folderWith = (text: string) => temporaryFolder('lint', { 'gateway.yaml': text });

const ruleIdsIn = (out: string) => out.match(/[a-z-]+$/gm) ?? [];

describe('invariants', () => {
  const RULES_FILE = 'invariants:\n  - { id: private, require: { access: protected } }\n';
  const files = { 'a/gateway.yaml': CLEAN, 'b/gateway.yaml': CLEAN, 'security/rules.yaml': RULES_FILE };
  const folderOf = (more: Readonly<Record<string, string>> = {}) =>
    temporaryFolder('lint-invariants', { ...files, ...more });

  it('of a file are proven for each manifest', async () => {
    const args = ['lint', '--invariants', 'security/rules.yaml', 'a/gateway.yaml', 'b/gateway.yaml', '-f', 'json'];
    const { code, out } = await runCli(args, folderOf());
    const { problems } = JSON.parse(out) as { problems: { rule: string; file: string; related: { file: string } }[] };
    expect(code).toBe(1);
    expect(problems.map(({ rule, file, related }) => [rule, file, related.file])).toEqual([
      ['invariant-broken', 'security/rules.yaml', 'a/gateway.yaml'],
      ['invariant-broken', 'security/rules.yaml', 'b/gateway.yaml'],
    ]);
  });

  it('of two files are all proven', async () => {
    const folder = folderOf({ 'more.yaml': 'invariants: [{ id: tls, require: { tls: true } }]\n' });
    const { out } = await runCli(
      ['lint', 'a/gateway.yaml', '--invariants', 'security/rules.yaml', '--invariants', 'more.yaml', '-f', 'stylish'],
      folder,
    );
    expect(out).toContain('"private" does not hold');
    expect(out).toContain('"tls" does not hold');
  });

  it('of a file that does not exist are an error of the command line', async () => {
    const { code, err } = await runCli(['lint', 'a/gateway.yaml', '--invariants', 'nope.yaml'], folderOf());
    expect({ code, err }).toEqual({
      code: 2,
      err: 'signing-gateway: nope.yaml: no such file; name a file with invariants\n',
    });
  });

  it('are not disabled by a comment or a baseline', async () => {
    const broken = CLEAN.replace(
      'routes:',
      `invariants:
  # gateway-disable-next-line invariant-broken -- it is only a contact
  - { id: private, require: { access: protected } }
routes:`,
    );
    const folder = folderOf({ 'c.yaml': broken });
    expect((await runCli(['lint', 'c.yaml', '--write-baseline', 'base.json'], folder)).code).toBe(1);
    const { code, out } = await runCli(['lint', 'c.yaml', '--baseline', 'base.json'], folder);
    expect(code).toBe(1);
    expect(out).toContain('invariant-broken');
  });
});

describe('the exit code of lint', () => {
  it.each([
    [[], 0],
    [['--fail-on', 'error'], 0],
    [['--fail-on', 'warning'], 1],
    [['--fail-on', 'info'], 1],
    [['--max-warnings', '1'], 0],
    [['--max-warnings', '0'], 1],
    [['--preset', 'minimal', '--fail-on', 'info'], 0],
    [['--preset', 'strict', '--max-warnings', '1'], 0],
  ])('for warnings and infos with %j is %i', async (options, expected) => {
    const { code } = await runCli(['lint', ...options], folderWith(WITH_FINDINGS));
    expect(code).toBe(expected);
  });

  it('is 1 for an error, whatever the options', async () => {
    const { code } = await runCli(['lint', '--max-warnings', '9'], folderWith('version: 2\n'));
    expect(code).toBe(1);
  });

  it.each([
    ['--preset', 'relaxed', 'write one of: minimal, recommended, strict'],
    ['--preset', 'minmal', 'did you mean "minimal"?'],
    ['--fail-on', 'never', 'write one of: error, warning, info'],
    ['--max-warnings', 'few', 'takes an integer'],
    ['--explain', 'route-unreachabel', 'did you mean "route-unreachable"?'],
  ])('is 2 for %s %s', async (option, value, expected) => {
    const { code, out, err } = await runCli(['lint', option, value], folderWith(CLEAN));
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(expected);
  });

  it.each([
    [['--dry-run'], 'works only with --fix'],
    [['--fix', '-'], 'add --dry-run'],
    [['--baseline', 'a', '--write-baseline', 'b'], '--baseline and --write-baseline exclude each other'],
    [
      ['--baseline', 'nothing.json'],
      'nothing.json: no such file; name a baseline, or create one with --write-baseline',
    ],
  ])('is 2 for %j', async (args, expected) => {
    const { code, err } = await runCli(['lint', ...args], folderWith(CLEAN));
    expect([code, err]).toEqual([2, expect.stringContaining(expected)]);
  });
});

describe('a baseline that lint cannot use', () => {
  it.each([
    ['is not JSON', '{', 'it is not JSON'],
    ['is not UTF-8', Buffer.from('{"version":1,"problems":["\xE9"]}', 'latin1'), 'it is not UTF-8'],
    ['has another version', '{"version":2,"problems":[]}', 'it is not a baseline of version 1'],
    ['has an entry that is no problem', '{"version":1,"problems":[null]}', 'it is not a baseline of version 1'],
    ['is a number', '1', 'it is not a baseline of version 1'],
  ])('%s', async (_name, content, reason) => {
    const folder = folderWith(CLEAN);
    writeFileSync(join(folder, 'baseline.json'), content);
    expect(await runCli(['lint', '--baseline', 'baseline.json'], folder)).toEqual({
      code: 2,
      out: '',
      err: `signing-gateway: cannot use baseline.json as a baseline: ${reason}; create it with --write-baseline baseline.json\n`,
    });
  });
});

describe('the output of lint', () => {
  it('counts problems by severity', async () => {
    const { err } = await runCli(['lint'], folderWith(WITH_FINDINGS));
    expect(err).toBe('2 problems in gateway.yaml: 1 warning, 1 info\n');
  });

  it('reports problems of standard input for -', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'lint', '-', '--preset', 'strict'], {
      input: CLEAN,
      cwd: folderWith(''),
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '1 problem in <stdin>: 1 info\n']);
    expect(stdout).toMatch(/^<stdin>:1:1 info /);
  });
});

describe('a manifest with a self-test', () => {
  const text = `${CLEAN}reload: { selfTest: self.test.yaml }\n`;
  const selfTest = (status: number) =>
    `version: 1\ncases:\n  - { name: a, request: { method: GET, url: /api/contacts }, expect: { status: ${status} } }\n`;
  const lintAndRun = async (testFile: string) => {
    const folder = temporaryFolder('lint', { 'gateway.yaml': text, 'self.test.yaml': testFile });
    return Promise.all([runCli(['lint'], folder), runInThisProcess(['run'], folder)]);
  };

  it('has no problems if the tests pass', async () => {
    const folder = temporaryFolder('lint', { 'gateway.yaml': text, 'self.test.yaml': selfTest(200) });
    const { code, out, err } = await runCli(['lint'], folder);
    expect([code, out, err]).toEqual([0, '', 'no problems in gateway.yaml: 1 route\n']);
  });

  it.each([
    ['a failing test', selfTest(404), /^self\.test\.yaml:3:80 error "a" fails: status is 200, not 404 \[self-test\]/],
    ['an unknown route', selfTest(200).replace('status: 200', 'route: b'), /^self\.test\.yaml:3:79 error /],
    ['a test file that is not YAML', 'version: [', /^self\.test\.yaml:1:10 error .*\[syntax\]/],
    ['a test file with an unknown key', `${selfTest(200)}more: 1\n`, /^self\.test\.yaml:4:1 error unknown key "more"/],
  ])('has the same problems as in run for %s', async (_case, testFile, expected) => {
    const [linted, started] = await lintAndRun(testFile);
    expect(linted.out).toMatch(expected);
    expect([linted.code, started.code, started.out]).toEqual([1, 1, '']);
    expect(started.err).toBe(linted.out);
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

  it('reports that an error cannot be disabled', async () => {
    const { out } = await runCli(['lint', '--explain', RULES.at(0)?.id ?? ''], tmpdir());
    expect(out).toMatch(/the rule cannot be disabled\.\n$/);
    expect(out).not.toContain('gateway-disable-next-line');
  });
});

describe('lint --fix', () => {
  const broken = CLEAN.replace('GET', 'get # read').replace(', path', '\n    , path');

  it('fixes the file and reports the remaining problems', async () => {
    const folder = folderWith(broken.replace('/api/contacts', '/api//contacts'));
    const { code, err, out } = await runCli(['lint', '--fix'], folder);
    expect([code, err]).toEqual([1, '1 problem fixed in gateway.yaml\n1 problem in gateway.yaml: 1 error\n']);
    expect(out).toContain('a path has no empty segments');
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toContain('method: GET # read\n');
  });

  it('does not write a file without fixes', async () => {
    const { code, err } = await runCli(['lint', '--fix'], folderWith(CLEAN));
    expect([code, err]).toEqual([0, 'no problems in gateway.yaml: 1 route\n']);
  });

  it('prints a patch with --dry-run and writes nothing', async () => {
    const folder = folderWith(broken);
    const { code, out } = await runCli(['lint', '--fix', '--dry-run'], folder);
    expect(code).toBe(1);
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toBe(broken);
    execFileSync('git', ['apply'], { cwd: folder, input: out });
    expect(readFileSync(join(folder, 'gateway.yaml'), 'utf8')).toBe(broken.replace('get', 'GET'));
    expect(await runCli(['lint', '--fix', '--dry-run'], folder)).toEqual({ code: 0, out: '', err: '' });
  });
});

describe('lint --baseline', () => {
  it('reports only new problems, even if the lines of the old ones move', async () => {
    const folder = folderWith(WITH_FINDINGS);
    const written = await runCli(['lint', '--write-baseline', 'baseline.json', '--fail-on', 'info'], folder);
    expect(written).toEqual({
      code: 0,
      out: '',
      err: 'no problems in gateway.yaml: 2 routes; 2 problems in the baseline\n',
    });
    expect(JSON.parse(readFileSync(join(folder, 'baseline.json'), 'utf8')).problems).toEqual([
      { rule: 'upstream-unused', file: 'gateway.yaml', fingerprint: expect.stringMatching(/^[0-9a-f]{16}:1$/) },
      {
        rule: 'public-write-without-schema',
        file: 'gateway.yaml',
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}:1$/),
      },
    ]);
    writeFileSync(
      join(folder, 'gateway.yaml'),
      `# moved\n\n${WITH_FINDINGS.replace('  search', '  other: { url: http://127.0.0.1:7004 }\n  search')}`,
    );
    const { code, out, err } = await runCli(
      ['lint', '--baseline', 'baseline.json', '--fail-on', 'warning', '-f', 'stylish'],
      folder,
    );
    expect([code, ruleIdsIn(out)]).toEqual([1, expect.arrayContaining(['upstream-unused'])]);
    expect(out).toContain('"other"');
    expect(out).not.toContain('"search"');
    expect(err).toBe('1 problem in gateway.yaml: 1 warning; 2 problems in the baseline\n');
  });

  it('never hides errors', async () => {
    const folder = folderWith(WITH_FINDINGS.replace('method: GET', 'method: get'));
    const { code, out } = await runCli(['lint', '--write-baseline', 'baseline.json'], folder);
    expect([code, out]).toEqual([1, expect.stringContaining('error "get" is not a method')]);
    expect(JSON.parse(readFileSync(join(folder, 'baseline.json'), 'utf8')).problems).toEqual([]);
  });
});

describe('lint --online', () => {
  it('reports endpoints that do not respond or are unhealthy', async () => {
    const healthy = await startUpstream();
    const unhealthy = await startUpstream((_request, response) => void response.writeHead(503).end());
    const closed = await startUpstream();
    await closed.close();
    const upstreams = `  partial: { urls: ['${healthy.url}', '${unhealthy.url}'], health: { path: /healthz }, breaker: {} }\n  closed: { url: '${closed.url}' }\n  connected: { url: '${unhealthy.url}', health: { connect: true } }\n`;
    const routes = ['contacts', 'partial', 'closed', 'connected'].map((id) => GET.replaceAll('contacts', id)).join('');
    const folder = folderWith(manifestOf(upstreams, routes).replace('http://127.0.0.1:7002', `'${unhealthy.url}'`));
    const { code, out } = await runCli(['lint', '--online', '-f', 'stylish'], folder);
    expect(code).toBe(0);
    expect(out.match(/^ {2}\d.*$/gm)?.map((line) => line.trim().replaceAll(/ {2,}/g, ' '))).toEqual([
      expect.stringMatching(/^4:\d+ warning the health check returned status 503 .* online-health$/),
      expect.stringMatching(/^5:\d+ warning this endpoint does not respond \(ECONNREFUSED\); .* online-upstream$/),
    ]);
    expect(healthy.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /healthz']);
    await Promise.all([healthy.close(), unhealthy.close()]);
  });

  it('terminates if an upstream and the issuer switch protocols without a request for it', async () => {
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

  it('leaves no idle connection open that would keep the process alive', async () => {
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

  it('fetches the keys of the issuer', async () => {
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

  it('is the only mode that opens connections', async () => {
    const up = await startUpstream();
    const { code } = await runCli(['lint'], folderWith(CLEAN.replace('http://127.0.0.1:7002', up.url)));
    expect([code, up.requests]).toEqual([0, []]);
    await up.close();
  });
});

describe('lint --listen and --admin', () => {
  const addresses = (text: string, ...args: string[]) =>
    runCli(['lint', '-f', 'stylish', '--preset', 'strict', ...args], folderWith(text));

  it('check the addresses that "run" gets instead of those of the manifest', async () => {
    const { code, out, err } = await addresses(CLEAN, '--listen', '0.0.0.0:80', '--admin', '0.0.0.0:9901');
    expect(code).toBe(1);
    expect(ruleIdsIn(out)).toEqual(expect.arrayContaining(['admin-exposed']));
    expect(err).toContain('--listen 0.0.0.0:80 replaces the address of "listen" in the manifest\n');
    expect(err).toContain('--admin 0.0.0.0:9901 replaces the address of "admin" in the manifest\n');
    const listen = await addresses(CLEAN, '--listen', '0.0.0.0:80');
    expect(ruleIdsIn(listen.out)).toEqual(expect.arrayContaining(['listen-exposed', 'listen-privileged']));
  });

  it('replace addresses that other machines reach', async () => {
    const text = CLEAN.replace('upstreams:', "listen: '0.0.0.0:80'\nadmin: '0.0.0.0:81'\nupstreams:");
    expect((await addresses(text)).code).toBe(1);
    const { code, out } = await addresses(text, '--listen', '127.0.0.1:8080', '--admin', '[::1]:9901');
    expect([code, ruleIdsIn(out).filter((id) => /listen|admin/.test(id))]).toEqual([0, []]);
  });

  it('apply to --fix, and refuse an invalid address', async () => {
    const { code, err } = await addresses(CLEAN, '--fix', '--dry-run', '--listen', '0.0.0.0:8080');
    expect([code, err]).toEqual([0, '']);
    const invalid = await addresses(CLEAN, '--listen', '8080');
    expect([invalid.code, invalid.err]).toEqual([2, expect.stringContaining('--listen 8080: this is not a host')]);
  });
});
