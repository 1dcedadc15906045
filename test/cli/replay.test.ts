import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const OLD = `version: 1
log: { replay: true }
upstreams: { up: { url: 'http://127.0.0.1:7002' } }
auth:
  tokens: { jwt: { jwks: 'https://identity.test/jwks', algorithms: [ES256], issuer: 'https://identity.test', audience: api } }
  role: { claim: /role, allow: [admin, user], message: admins and users only }
routes:
  - { id: contacts, method: any, path: /contacts/**, upstream: up, access: protected }
  - { id: docs, method: GET, path: /docs/**, upstream: up, access: public }
`;
const NEW = OLD.replace('access: protected }', 'access: protected, roles: [admin] }').replace('/docs/**', '/guide/**');

const COMMON = {
  level: 30,
  time: 1_790_000_000_000,
  msg: 'request',
  id: 'a',
  manifest: '0123456789abcdef',
  peer: '10.0.0.1',
};
const contact = (role: string, more: object = {}) => ({
  ...COMMON,
  method: 'GET',
  path: '/contacts/1',
  route: 'contacts',
  upstream: 'up',
  subject: `${role}-subject`,
  status: 200,
  gatewayMs: 1,
  role,
  credential: 'bearer',
  query: ['token'],
  ...more,
});
const LINES = [
  contact('admin'),
  contact('user'),
  contact('user', { subject: 'another', sampled: 0.1 }),
  {
    ...COMMON,
    method: 'GET',
    path: '/docs/a',
    route: 'docs',
    upstream: 'up',
    status: 200,
    gatewayMs: 1,
    credential: 'none',
    query: [],
  },
  {
    ...COMMON,
    method: 'GET',
    path: '/contacts/1',
    route: 'contacts',
    upstream: 'up',
    gatewayMs: 1,
    aborted: true,
    role: 'admin',
    credential: 'bearer',
    query: [],
  },
];
const LOG = LINES.map((line) => `${JSON.stringify(line)}\n`).join('');

const folder = temporaryFolder('replay', {
  'old.yaml': OLD,
  'new.yaml': NEW,
  'access.log': LOG,
  'empty.log': '',
  'broken.yaml': 'version: 2\n',
});

const run = (...args: string[]) => runCli(['replay', ...args], folder);
const FROM = ['--from', 'old.yaml'] as const;

describe('replay', () => {
  it('prints the calibration, the counts and the changes with their lines', async () => {
    const { code, out, err } = await run('access.log', ...FROM, 'new.yaml');
    expect(code).toBe(1);
    expect(out).toContain('calibration  old.yaml reproduces 100 % of 14 requests with a known outcome\n');
    expect(out).toContain('requests     14: 2 same, 12 changed, 0 unknown\n');
    expect(out).toContain(`newly-refused 11 requests of 2 callers
  before       forwarded to up by contacts
  after        refused by contacts: 403 role_not_allowed
  lines        access.log:2, access.log:3
`);
    expect(out).toContain('  after        refused without a route: 404 route_unknown\n  lines        access.log:4\n');
    expect(err).toBe('signing-gateway: --fail-on newly-refused: 12 requests\n');
  });

  it('exits with 0 if no change of --fail-on occurred', async () => {
    expect((await run('access.log', ...FROM, 'old.yaml')).code).toBe(0);
    const exit = async (failOn: string) => (await run('access.log', ...FROM, 'new.yaml', '--fail-on', failOn)).code;
    expect(await exit('never')).toBe(0);
    expect(await exit('newly-allowed,unknown>5%')).toBe(0);
    expect(await exit('changed')).toBe(1);
  });

  it('fails if too many outcomes are unknown', async () => {
    writeFileSync(join(folder, 'tokens.yaml'), OLD.replace('audience: api', 'audience: other'));
    const { code, err } = await run('access.log', ...FROM, 'tokens.yaml', '--fail-on', 'unknown>5%');
    expect({ code, err }).toEqual({
      code: 1,
      err: 'signing-gateway: --fail-on unknown: 13 of 14 requests, more than 5 %\n',
    });
  });

  it('warns if another manifest probably wrote the log', async () => {
    const { out, err } = await run('access.log', '--from', 'new.yaml', 'old.yaml', '--fail-on', 'never');
    expect(err).toBe(
      'signing-gateway: new.yaml reproduces only 14.2 % of the logged outcomes, so another manifest probably wrote the logs; name that one with --from\n',
    );
    expect(out).toContain('not reproduced 11 requests of 2 callers\n  logged       forwarded to up by contacts\n');
    expect(out).toContain('2 same, 0 changed, 12 unknown\nunknown      not-reproduced 12\n');
  });

  it('reads several logs, compressed ones too, and counts the lines that it skips', async () => {
    writeFileSync(join(folder, 'second.log.gz'), gzipSync(`${LOG}{"truncated\nhello\n`));
    const { out, err } = await run('access.log', 'second.log.gz', ...FROM, 'old.yaml', '-f', 'json');
    const report = JSON.parse(out);
    expect(report).toMatchObject({ version: 1, old: 'old.yaml', new: 'old.yaml', lines: 10, requests: 28, same: 28 });
    expect(err).toContain('second.log.gz');
  });

  it('reads git revisions', async () => {
    const root = temporaryFolder('replay', { 'gateway.yaml': OLD, 'access.log': LOG });
    const git = (...args: string[]) =>
      execFileSync(
        'git',
        ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', ...args],
        { cwd: root },
      );
    git('init', '--quiet', '--initial-branch=main');
    git('add', '.');
    git('commit', '--quiet', '-m', 'first');
    writeFileSync(join(root, 'gateway.yaml'), NEW);
    const { out } = await runCli(['replay', 'access.log', '--from', 'main:gateway.yaml', 'gateway.yaml'], root);
    expect(out).toContain('2 same, 12 changed, 0 unknown');
  });

  it('prints Markdown for a pull request', async () => {
    const { out } = await run('access.log', ...FROM, 'new.yaml', '-f', 'markdown');
    expect(out).toContain('### Replay of 14 requests: 12 changed, 0 unknown\n');
    expect(out).toContain(
      '| newly-refused | forwarded to up by contacts | refused by contacts: 403 role\\_not\\_allowed | 11 | 2 | `access.log:2, access.log:3` |\n',
    );
  });

  it('prints SARIF with the routes of the new manifest', async () => {
    const { out } = await run('access.log', ...FROM, 'new.yaml', '-f', 'sarif');
    const [{ results, tool }] = JSON.parse(out).runs;
    expect(tool.driver.name).toBe('signing-gateway replay');
    expect(results).toHaveLength(2);
    const line = NEW.split('\n').findIndex((text) => text.includes('id: contacts')) + 1;
    expect(results[0]).toMatchObject({
      ruleId: 'newly-refused',
      level: 'error',
      locations: [{ physicalLocation: { artifactLocation: { uri: 'new.yaml' }, region: { startLine: line } } }],
    });
  });

  it('prints JUnit with a case for each kind of change', async () => {
    const { out } = await run('access.log', ...FROM, 'new.yaml', '-f', 'junit');
    expect(out).toContain('<testsuites name="signing-gateway replay" tests="8" failures="1" errors="0">');
    expect(out).toContain('<testcase name="newly-allowed" classname="new.yaml" file="new.yaml"/>');
    expect(out).toContain('<failure message="newly-refused: 12 requests">');
  });

  describe('shows what no allowed request used of the old manifest', () => {
    const unusedOf = async (lines: readonly object[], manifest = OLD, format = 'json') => {
      const root = temporaryFolder('replay', {
        'gateway.yaml': manifest,
        'access.log': lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      });
      const { out } = await runCli(
        ['replay', 'access.log', '--from', 'gateway.yaml', 'gateway.yaml', '-f', format],
        root,
      );
      return format === 'json' ? JSON.parse(out).unused : out;
    };
    const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

    it('as routes, methods of a wildcard with any method, and some of the roles of a route', async () => {
      expect(await unusedOf([contact('user')])).toEqual({
        sampled: false,
        routes: ['docs'],
        methods: { contacts: METHODS },
        roles: { contacts: ['admin'] },
      });
      expect(await unusedOf([contact('user')], OLD, 'pretty')).toContain(`
unused in gateway.yaml: no allowed request of the logs used these routes, methods and roles
  route        docs
  methods      contacts: ${METHODS.join(', ')}
  roles        contacts: admin
`);
      expect(await unusedOf([contact('user')], OLD, 'markdown')).toContain(`
Unused in gateway.yaml: no allowed request of the logs used these routes, methods and roles.

| unused | names |
|---|---|
| route | docs |
| methods | contacts: ${METHODS.join(', ')} |
| roles | contacts: admin |
`);
    });

    it('with a HEAD request as a use of GET, and without what a refused request had', async () => {
      const refused = contact('admin', { method: 'PUT', refusal: 'body_too_large', status: 413 });
      const failed = contact('user', { method: 'PATCH', refusal: 'upstream_timeout', status: 504 });
      expect(await unusedOf([contact('user', { method: 'HEAD' }), refused, failed])).toEqual({
        sampled: false,
        routes: ['docs'],
        methods: { contacts: METHODS.filter((method) => method !== 'PATCH') },
        roles: { contacts: ['admin'] },
      });
    });

    it('with a note if the log is sampled, by its manifest or by a line', async () => {
      const note =
        '  note         the logs have only a share of the requests (log.sample2xx), so a use may be missing\n';
      expect(await unusedOf([contact('user', { sampled: 0.5 })], OLD, 'pretty')).toContain(note);
      const manifest = OLD.replace('{ replay: true }', '{ replay: true, sample2xx: 0.5 }');
      expect(await unusedOf([contact('user')], manifest, 'pretty')).toContain(note);
      expect(await unusedOf([contact('user')], manifest)).toMatchObject({ sampled: true });
      expect(await unusedOf([contact('user')], OLD, 'pretty')).not.toContain(note);
    });

    it('without roles if a line of the route lacks them', async () => {
      const { manifest: _manifest, role: _role, ...line } = contact('user');
      expect(await unusedOf([contact('user'), line])).toMatchObject({ routes: ['docs'], roles: {} });
    });

    it('without a section if all is used', async () => {
      const methods = ['GET', ...METHODS].map((method) => contact('user', { method }));
      const lines = [...methods, contact('admin'), LINES[3] as object];
      expect(await unusedOf(lines)).toEqual({ sampled: false, routes: [], methods: {}, roles: {} });
      expect(await unusedOf(lines, OLD, 'pretty')).not.toContain('unused');
      expect(await unusedOf(lines, OLD, 'markdown')).not.toContain('nused');
    });
  });

  it('says what is missing', async () => {
    const errorOf = async (...args: string[]) => {
      const { code, err } = await run(...args);
      return { code, err: err.split('\n')[0] };
    };
    expect(await errorOf('access.log', 'new.yaml')).toEqual({
      code: 2,
      err: 'signing-gateway: name the manifest that wrote the logs: --from OLD',
    });
    expect(await errorOf('new.yaml', ...FROM)).toEqual({
      code: 2,
      err: 'signing-gateway: name the logs, and after them the new manifest: LOG... NEW',
    });
    expect(await errorOf('empty.log', ...FROM, 'new.yaml')).toEqual({
      code: 2,
      err: 'signing-gateway: the logs have no request; name access logs of the gateway',
    });
    expect((await errorOf('missing.log', ...FROM, 'new.yaml')).code).toBe(2);
    expect((await errorOf('access.log', ...FROM, 'broken.yaml')).code).toBe(2);
    expect((await errorOf('access.log', ...FROM, 'new.yaml', '-f', 'yaml')).err).toContain('unknown --format "yaml"');
    expect((await errorOf('access.log', ...FROM, 'new.yaml', '--fail-on', 'newly-refusd')).err).toContain(
      'did you mean "newly-refused"',
    );
  });

  it('prints no path, no subject and no address of the log', async () => {
    for (const format of ['pretty', 'json', 'markdown', 'sarif', 'junit']) {
      const { out, err } = await run('access.log', ...FROM, 'new.yaml', '-f', format);
      expect(out + err).not.toMatch(/\/contacts\/1|user-subject|10\.0\.0\.1/);
    }
  });
});
