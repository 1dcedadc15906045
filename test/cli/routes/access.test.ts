import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessMatrix } from '../../../src/prove/access-matrix.ts';
import { runCli } from '../../support/cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { AUDIENCE, ISSUER, type Issuer, startIssuer } from '../../support/issuer.ts';
import { keepAliveHead, Wire } from '../../support/raw.ts';
import { SEED } from '../../support/runs.ts';
import { eventually } from '../../support/site.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

const manifestOf = (upstream: string, jwks: string) => `version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: '${upstream}' }, other: { url: '${upstream}' } }
auth:
  tokens: { jwt: { jwks: '${jwks}', algorithms: [ES256], issuer: '${ISSUER}', audience: ${AUDIENCE} } }
  role: { claim: /company_role, allow: [admin, user], message: no }
rateLimits: { slow: { key: client, allow: 9999 per 1m } }
invariants:
  - { id: reports-need-admins, when: { path: /reports/** }, except: [report, rest, open, everybody], require: { roles: { only: [admin] } }, why: costs }
  - { id: writes-are-limited, when: { method: POST, access: public }, require: { rateLimit: any } }
routes:
  - { id: login, method: POST, path: /login, upstream: other, access: public, login: { token: /t }, rateLimits: [slow] }
  - { id: page, method: any, path: '/pages/{name}', upstream: up, access: public, rateLimits: [slow] }
  - { id: report, method: GET, path: '/reports/{name}', upstream: up, access: protected }
  - { id: reports, method: any, path: /reports/**, upstream: up, access: protected, roles: [admin] }
  - { id: rest, method: [GET, PUT], path: /**, upstream: up, access: protected }
  - { id: open, method: GET, path: '/{a}/open', upstream: up, access: public }
  - { id: everybody, method: GET, path: '/{a}/any', upstream: up, access: protected, roles: any }
`;

let upstream: Upstream;
let issuer: Issuer;
let gateway: TestGateway;
beforeAll(async () => {
  [upstream, issuer] = await Promise.all([startUpstream(), startIssuer()]);
  gateway = await startGateway(manifestOf(upstream.url, issuer.jwksUrl));
});
afterAll(() => Promise.all([gateway.close(), upstream.close(), issuer.close()]));

/** Returns numbers from 0 to `below` that look random. */
function createRandom() {
  let state = SEED;
  return (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

describe('routes --access', () => {
  it('agrees with the running gateway about 2,000 requests', async () => {
    const rows = accessMatrix(gateway.planned());
    const roles = [undefined, 'admin', 'user', 'auditor'];
    const tokens = await Promise.all(
      roles.map((role) => (role === undefined ? undefined : issuer.token({ company_role: role }))),
    );
    const random = createRandom();
    const words = ['pages', 'reports', 'open', 'any', 'login', 'x'];
    const wire = await Wire.open(gateway.port);
    const seen = new Set<string>();
    for (let count = 0; count < 2_000; count += 1) {
      const path = Array.from({ length: 1 + random(3) }, () => `/${words[random(words.length)]}`).join('');
      const method = ['GET', 'POST', 'PUT', 'DELETE'][random(4)] ?? '';
      const caller = random(roles.length);
      const role = roles[caller];
      const authorization = tokens[caller] === undefined ? [] : [`Authorization: Bearer ${tokens[caller]}`];
      const lines = gateway.lines.length;
      wire.write(keepAliveHead(`${method} ${path} HTTP/1.1`, ...authorization, 'Content-Length: 0'));
      const { status } = await wire.response();
      await eventually('the access line', () => gateway.lines.length > lines);
      const id = gateway.lines.at(-1)?.['route'];
      if (id === undefined) continue;
      const row = rows.find(({ route, methods }) => route === id && methods.includes(method));
      if (row === undefined) throw new Error(`${method} ${path}: no row for ${id}`);
      const isAllowed = row.access === 'public' || (role !== undefined && (row.isAnyRole || row.roles.includes(role)));
      expect([method, path, role, status !== 401 && status !== 403]).toEqual([method, path, role, isAllowed]);
      seen.add(`${id} ${isAllowed}`);
    }
    wire.end();
    expect([...seen].sort()).toEqual([
      'everybody false',
      'everybody true',
      'login true',
      'open true',
      'page true',
      'report false',
      'report true',
      'reports false',
      'reports true',
      'rest false',
      'rest true',
    ]);
  });

  it('has the checks of each route, and a row of its own for methods with other invariants', async () => {
    const folder = temporaryFolder('access', {
      'gateway.yaml': manifestOf('http://127.0.0.1:9', 'http://127.0.0.1:9'),
    });
    const { code, out } = await runCli(['routes', '--access', '-f', 'csv'], folder);
    expect([code, out.split('\r\n')]).toEqual([
      0,
      [
        'Methods,Path,Callers,Rate limits,Invariants,Upstream,Route',
        'POST,/login,"public, then admin or user",slow,writes-are-limited,other,login',
        '"DELETE,GET,HEAD,OPTIONS,PATCH,PUT",/pages/{name},public,slow,,up,page',
        'POST,/pages/{name},public,slow,writes-are-limited,up,page',
        '"GET,HEAD",/reports/{name},admin or user,,reports-need-admins (exception),up,report',
        'any,/reports/**,admin,,reports-need-admins,up,reports',
        '"GET,HEAD",/**,admin or user,,reports-need-admins (exception),up,rest',
        'PUT,/**,admin or user,,,up,rest',
        '"GET,HEAD",/{a}/open,public,,,up,open',
        '"GET,HEAD",/{a}/any,any role,,,up,everybody',
        '',
      ],
    ]);
    const text = await runCli(['routes', '--access'], folder);
    expect(text.out).toMatch(
      /^Methods +Path +Callers .*\nPOST +\/login +public, then admin or user +slow +writes-are-limited +other +login\n/,
    );
    const markdown = await runCli(['routes', '--access', '-f', 'markdown'], folder);
    expect(markdown.out).toContain(
      '| POST | `/login` | public, then admin or user | slow | writes-are-limited | other | login |\n',
    );
  });

  it('prints only the lines that differ from those of another manifest', async () => {
    const old = manifestOf('http://127.0.0.1:9', 'http://127.0.0.1:9');
    const next = old
      .replace('upstream: up, access: protected, roles: any }', 'upstream: other, access: public }')
      .replace(/.*id: report,.*\n/, '')
      .replace('report, rest', 'rest');
    const folder = temporaryFolder('access', { 'old.yaml': old, 'gateway.yaml': next });
    const { code, out } = await runCli(['routes', '--access', '--from', 'old.yaml', '-f', 'csv'], folder);
    expect([code, out.split('\r\n')]).toEqual([
      0,
      [
        'Manifest,Methods,Path,Callers,Rate limits,Invariants,Upstream,Route',
        'old,"GET,HEAD",/{a}/any,any role,,,up,everybody',
        'new,"GET,HEAD",/{a}/any,public,,,other,everybody',
        'old,"GET,HEAD",/reports/{name},admin or user,,reports-need-admins (exception),up,report',
        'old,"GET,HEAD",/**,admin or user,,reports-need-admins (exception),up,rest',
        'old,PUT,/**,admin or user,,,up,rest',
        'new,"GET,HEAD,PUT",/**,admin or user,,,up,rest',
        '',
      ],
    ]);
    const markdown = ['routes', '--access', '-f', 'markdown'];
    expect((await runCli([...markdown, '--from', 'old.yaml'], folder)).out).toMatch(
      /^### Access: 6 changed lines in `gateway.yaml`\n\n\| Manifest \| Methods .*\n.*\n\| old \| GET,HEAD \| `\/\{a\}\/any` \| any role /,
    );
    const same = await runCli([...markdown, '--from', 'old.yaml', 'old.yaml'], folder);
    expect(same).toMatchObject({ code: 0, out: '### Access: no changes in `old.yaml`\n' });
  });

  it('says which roles the tokens of each issuer need', async () => {
    const method = (name: string, more = '') =>
      `{ name: ${name}, jwt: { jwks: 'http://127.0.0.1:9', algorithms: [ES256], issuer: 'https://${name}.example', audience: a }${more} }`;
    const text = `version: 1
upstreams: { up: { url: 'http://127.0.0.1:9' } }
auth:
  tokens: [${method('staff')}, ${method('partners', ', role: any')}]
  role: { claim: /role, allow: [admin, user], message: no }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: protected }
  - { id: both, method: GET, path: /both, upstream: up, access: protected, issuers: [staff, partners] }
`;
    const { out } = await runCli(
      ['routes', '--access', '-f', 'csv'],
      temporaryFolder('access', { 'gateway.yaml': text }),
    );
    expect(out.split('\r\n').slice(1, 3)).toEqual([
      '"GET,HEAD",/one,admin or user from staff,,,up,one',
      '"GET,HEAD",/both,admin or user from staff; any role from partners,,,up,both',
    ]);
  });

  it('draws each route once in the tree of the page, with the texts of its rows and a link to the first', async () => {
    const folder = temporaryFolder('access', {
      'gateway.yaml': manifestOf('http://127.0.0.1:9', 'http://127.0.0.1:9'),
    });
    const page = (await runCli(['routes', '--access', '-f', 'html'], folder)).out;
    const [tree = '', table = ''] = page.split('<h2>Table</h2>');
    const textsOf = (html: string) =>
      html
        .replaceAll(/<[^>]*>/g, ' ')
        .split(/ {2,}/)
        .map((text) => text.trim())
        .filter(Boolean);
    const rows = tree.match(/<div class="path">.*?<\/div>/g)?.map(textsOf);
    expect(rows).toEqual([
      ['/login', 'POST', 'public, then admin or user', 'other', 'login', '1'],
      ['/pages/{name}', 'any', 'public', 'up', 'page', '1'],
      ['/{name}', 'GET, HEAD', 'admin or user', 'up', 'report', '1'],
      ['/**', 'any', 'admin', 'up', 'reports', '1'],
      ['/**', 'GET, HEAD, PUT', 'admin or user', 'up', 'rest', '1'],
      ['/open', 'GET, HEAD', 'public', 'up', 'open', '1'],
      ['/any', 'GET, HEAD', 'any role', 'up', 'everybody', '1'],
    ]);
    const folders = tree.match(/<summary class="path">.*?<\/summary>/g)?.map(textsOf);
    expect(folders).toEqual([
      ['/reports/…', '2 protected', '2'],
      ['/{a}/…', '1 public, 1 protected', '2'],
    ]);
    expect(tree.match(/class="warn" style="width: 14.29%"/g)).toHaveLength(3);
    const targets = tree.match(/(?<=href="#)[\w-]+/g) ?? [];
    expect(targets.filter((id) => table.split(`<tr id="${id}">`).length !== 2)).toEqual([]);
  });

  it('escapes texts of the manifest in every format', async () => {
    const hostile = manifestOf('http://127.0.0.1:9', 'http://127.0.0.1:9').replaceAll('[admin', "['=<img src=x>'");
    const folder = temporaryFolder('access', { 'gateway.yaml': hostile });
    const page = (await runCli(['routes', '--access', '-f', 'html'], folder)).out;
    expect(page).toContain('<td class="good">=&#60;img src=x&#62;</td>');
    expect(page).not.toContain('<img');
    expect(page).not.toMatch(/(?:src|href)=["']?http/);
    expect((await runCli(['routes', '--access', '-f', 'csv'], folder)).out).toContain(",'=<img src=x>,");
    expect((await runCli(['routes', '--access', '-f', 'markdown'], folder)).out).toContain('=\\<img src=x\\>');
  });

  it.each([
    ['--json', '--access'],
    ['--format', 'csv'],
    ['--access', '--format', 'pdf'],
    ['--from', 'gateway.yaml'],
    ['--access', '--from', 'gateway.yaml', '--format', 'html'],
  ])('refuses %s %s', async (...args) => {
    const folder = temporaryFolder('access', {
      'gateway.yaml': manifestOf('http://127.0.0.1:9', 'http://127.0.0.1:9'),
    });
    expect((await runCli(['routes', ...args], folder)).code).toBe(2);
  });
});
