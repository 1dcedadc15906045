import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_ENDPOINTS } from '../../src/admin/endpoints.ts';
import { REPORTERS } from '../../src/cli/lint/reporters/reporters.ts';
import { lint } from '../../src/lint/lint.ts';
import { load } from '../../src/load.ts';
import { toProblems } from '../../src/problem/problem.ts';
import { type Ended, runCli, type Started, startCli } from '../support/cli.ts';
import { environmentManifest, type Fed, HOST, textKeys, WAYS } from '../support/environment-manifest.ts';
import { exchangeBytes, head, keptHead, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';

let server: Server;
let folder: string;
let fed: Fed;
let cli: Started;
let port: number;
let admin: string;
let tokenOf: (role: string) => Promise<string>;
let followed = '';

beforeAll(async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }];
  server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(request.url === '/keys' ? JSON.stringify({ keys }) : '{}');
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  const url = `http://${HOST}:${(server.address() as AddressInfo).port}`;
  fed = environmentManifest(url, `${url}/keys`);
  tokenOf = async (role) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: fed.issuer, aud: fed.audience, sub: 'someone', iat: now, exp: now + 600, [fed.claim]: role };
    const required = Object.fromEntries(Object.values(fed.env).map((value) => [value, 'x']));
    return new SignJWT({ ...required, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: fed.type })
      .sign(privateKey);
  };
  folder = mkdtempSync(join(tmpdir(), 'environment-'));
  writeFileSync(join(folder, 'gateway.yaml'), fed.text);
  writeFileSync(join(folder, 'changed.yaml'), fed.changed);
  for (const [name, text] of Object.entries(fed.files)) writeFileSync(join(folder, name), text);
  cli = startCli(['run'], folder, fed.env);
  const [, served = '', found = ''] = await cli.seen(/"url":"([^"]+)","admin":"([^"]+)".*"msg":"serving"/);
  port = Number(new URL(served).port);
  admin = found;
  follow().catch(() => undefined);
});
afterAll(async () => {
  cli?.child.kill('SIGKILL');
  await cli?.ended;
  server?.closeAllConnections();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The sentinels that stand in a text, with what is around them. */
function leaksIn(text: string): string[] {
  const lower = text.toLowerCase();
  return fed.sentinels.flatMap((sentinel) => {
    const at = lower.indexOf(sentinel);
    return at === -1 ? [] : [text.slice(Math.max(0, at - 80), at + sentinel.length + 20)];
  });
}

const HEADERS = () => ({ Authorization: `Bearer ${Object.values(fed.env).find((value) => value.endsWith('cdef'))}` });

async function follow(): Promise<void> {
  const { body } = await fetch(`${admin}/decisions`, { headers: HEADERS() });
  const text = new TextDecoder();
  for await (const piece of body ?? []) followed += text.decode(piece, { stream: true });
}

function post(path: string, body: string, type = 'application/json'): string {
  return head(`POST ${path} HTTP/1.1`, `Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`) + body;
}

const FORM = '--b\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n';
const LONG = JSON.stringify({ text: 'no', listed: 'x', pad: 'y'.repeat(100_000) });
const NOTES = [
  '{}',
  '{"text":"no"}',
  '{"listed":1,"one":2,"other":3,"deep":[4],"file":5,"text":6}',
  '{"deep":[{}],"a":1,"b":{}}',
  '{"unheard":1}',
  '[]',
  'no json',
  LONG,
];

/** Everything that a client without a token may get an error for. */
const requests = (): Record<string, string> => ({
  ...Object.fromEntries(
    NOTES.flatMap((note, at) => [
      [`note ${at}`, post('/note', note)],
      [`told ${at}`, post('/told', note)],
    ]),
  ),
  params: head('GET /asked/x?page=x&order=x HTTP/1.1', 'X-Level: x'),
  'params that are missing': head('GET /asked/x HTTP/1.1'),
  form: post('/form', FORM, 'multipart/form-data; boundary=b'),
  'form of another type': post('/form', '{}'),
  table: post('/table', 'a,b\n', 'text/csv'),
  'table of another type': post('/table', 'a', 'text/plain'),
  'body of another type': post('/typed', 'a', 'text/plain'),
  login: post('/login', '{}'),
  'no token': head('GET /guarded HTTP/1.1'),
  'another token': head('GET /guarded HTTP/1.1', 'Authorization: Bearer a.b.c'),
  'no route': head('GET /none HTTP/1.1'),
  'no method': head('DELETE /note HTTP/1.1'),
  moved: head('GET /moved/7 HTTP/1.1'),
  gone: head('GET /gone HTTP/1.1'),
  'gone again': head('GET /gone HTTP/1.1'),
  nowhere: head('GET /nowhere HTTP/1.1'),
  secured: head('GET /secured HTTP/1.1'),
  origin: head('GET /guarded HTTP/1.1', 'Origin: https://other.test'),
  preflight: head('OPTIONS /note HTTP/1.1', 'Origin: https://other.test', 'Access-Control-Request-Method: POST'),
});

async function operatorsRead(): Promise<string> {
  const paths = ADMIN_ENDPOINTS.filter(({ method, path }) => method === 'GET' && path !== '/decisions').map(
    ({ path }) => path,
  );
  const texts = await Promise.all(
    paths.map(async (path) => `${path} ${await (await fetch(admin + path, { headers: HEADERS() })).text()}`),
  );
  return [cli.out(), cli.err(), followed, ...texts].join('\n');
}

describe('a value from the environment', () => {
  it('is put in everywhere that a text can stand', () => {
    const url = 'http://127.0.0.1:1';
    const places = new Set(WAYS.flatMap((way) => [...environmentManifest(url, url, way).places]));
    const missing = [...textKeys()].filter((key) => !places.has(key) && !ELSEWHERE.has(key));
    expect(missing).toEqual([]);
  });

  it('is told to no client', async () => {
    for (const [name, bytes] of Object.entries(requests()))
      expect([name, leaksIn(await exchangeBytes(port, bytes))]).toEqual([name, []]);
    for (const role of ['other', fed.roles[1]]) {
      const answer = await exchangeBytes(
        port,
        head('GET /guarded HTTP/1.1', `Authorization: Bearer ${await tokenOf(role)}`),
      );
      expect(answer).toContain('role_not_allowed');
      expect(leaksIn(answer)).toEqual([]);
    }
    const wire = await Wire.open(port);
    wire.write(
      keptHead('GET /socket HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket', 'Origin: https://other.test'),
    );
    expect((await wire.answer()).status).toBe(403);
    wire.end();
  });

  it('stands in no log, metric and answer to operators', async () => {
    const lines = Object.keys(requests()).length;
    await eventually('every line', () => cli.out().split('"msg":"request"').length > lines);
    for (const note of NOTES) await exchangeBytes(port, post('/told', note));
    const asked: { method: string; url: string; claims?: object; headers?: object; body?: string | undefined }[] = [
      ...['/moved/7', '/gone', '/guarded', '/asked/x?page=y', '/none'].map((url) => ({ method: 'GET', url })),
      { method: 'GET', url: '/guarded', claims: { [fed.claim]: 'other' } },
      { method: 'POST', url: '/note', headers: { 'Content-Type': 'application/json' }, body: NOTES[2] },
    ];
    for (const question of asked) {
      const answer = await fetch(`${admin}/explain`, {
        method: 'POST',
        headers: { ...HEADERS(), 'Content-Type': 'application/json' },
        body: JSON.stringify(question),
      });
      const text = (await answer.text()).replace(JSON.stringify(question.claims ?? null), 'null');
      expect([question.url, answer.status, leaksIn(text.replaceAll(fed.claim, ''))]).toEqual([question.url, 200, []]);
    }
    expect(leaksIn(await operatorsRead())).toEqual([]);
    for (const text of [fed.text.replace('/login', 'login'), fed.changed, fed.text]) {
      const before = cli.out();
      writeFileSync(join(folder, 'gateway.yaml'), text);
      await fetch(`${admin}/-/reload`, { method: 'POST', headers: HEADERS() });
      await eventually('the reload is told', () => cli.out() !== before);
      expect(leaksIn(await operatorsRead())).toEqual([]);
    }
  });

  it.each(Object.keys(REPORTERS))('stands in no report of lint as %s', async (format) => {
    for (const more of [
      ['--preset', 'strict'],
      ['--preset', 'strict', '--online'],
      ['--fix', '--dry-run'],
    ])
      for (const file of ['gateway.yaml', 'changed.yaml'])
        expectClean(await runCli(['lint', file, '-f', format, ...more], folder, fed.env));
  });

  it.each([
    ['routes'],
    ['fmt', '--check', 'gateway.yaml'],
    ...['text', 'json', 'markdown'].flatMap((format) => [
      ['diff', 'gateway.yaml', 'changed.yaml', '-f', format],
      ['diff', 'changed.yaml', 'gateway.yaml', '-f', format],
    ]),
    ...[
      ['/moved/7'],
      ['/asked/x?page=y'],
      ['/guarded'],
      ['/guarded', '--role', 'other'],
      ['/nowhere'],
      ['/notee'],
    ].flatMap((url) => [
      ['explain', 'GET', ...url],
      ['explain', 'GET', ...url, '--json'],
    ]),
    ['explain', 'POST', '/note', '--body', 'note.json'],
    ['explain', 'POST', '/told', '--body', 'note.json', '--json'],
  ])('is not printed by %s %s %s %s %s %s', async (...args) => {
    writeFileSync(join(folder, 'note.json'), NOTES[2] ?? '');
    const ended = await runCli(args, folder, fed.env);
    expect(ended.err).not.toContain('usage');
    const own = args.includes('--role') ? { ...ended, out: ended.out.replaceAll(fed.claim, '') } : ended;
    expectClean(own);
  });

  it.each(['text', 'junit'])('is not printed by a test that fails, as %s', async (format) => {
    const cases = [
      { request: { method: 'GET', url: '/moved/7' }, expect: { upstream: { url: '/x', headers: { 'X-Key': 'x' } } } },
      { request: { method: 'GET', url: '/moved/7' }, expect: { upstream: null } },
      { request: { method: 'GET', url: '/moved/7' }, expect: { upstream: { url: 'http://x.test/x' } } },
      { request: { method: 'GET', url: '/guarded', role: 'other' }, expect: { status: 200, message: 'x' } },
      { request: { method: 'POST', url: '/note', body: {} }, expect: { errors: ['/x'] } },
      { request: { method: 'POST', url: '/told', body: { a: 1 } }, expect: { reason: 'x', headers: { Vary: 'x' } } },
    ].map((one, at) => ({ name: `case ${at}`, ...one }));
    const { env } = fed;
    writeFileSync(
      join(folder, 'failing.test.yaml'),
      JSON.stringify({ version: 1, manifest: 'gateway.yaml', environment: env, cases }),
    );
    const ended = await runCli(['test', 'failing.test.yaml', '-f', format], folder);
    expect(ended.code).toBe(1);
    expectClean(ended);
  });

  it('is not printed where it is refused, whatever it holds', () => {
    const bad = ['bad zq7kbad', '/zq7kbad/', 'http://zq7kbad.test/?', '(zq7kbad', '5 zq7kbad', '#/zq7kbad', 'ZQ7KBAD,'];
    for (const name of Object.keys(fed.env))
      for (const value of bad) {
        const env = { ...fed.env, [name]: value };
        const readFile = (file: string) => fed.files[file] ?? fed.files[`./${file}`] ?? '';
        const source = { path: 'gateway.yaml', text: fed.text };
        const found = load(source, { env, readFile });
        const problems =
          found.plan === undefined ? toProblems(found.findings, found.document) : lint(found, { preset: 'strict' });
        const text = JSON.stringify(problems).toLowerCase();
        expect([name, value, leaksIn(text), text.includes('zq7kbad')]).toEqual([name, value, [], false]);
      }
  });

  it.each(WAYS)('is not printed by a gateway that verifies tokens by %s', async (way) => {
    const url = `http://${HOST}:${(server.address() as AddressInfo).port}`;
    const { text, env, files, sentinels } = environmentManifest(url, `${url}/keys`, way);
    const place = mkdtempSync(join(tmpdir(), 'environment-'));
    for (const [name, content] of Object.entries({ ...files, 'gateway.yaml': text }))
      writeFileSync(join(place, name), content);
    const other = startCli(['run'], place, env);
    const [, served = '', operators = ''] = await other.seen(/"url":"([^"]+)","admin":"([^"]+)".*"msg":"serving"/);
    const key = Object.values(env).find((value) => value.endsWith('cdef'));
    const answers = [];
    for (const token of ['opaque', await tokenOf('other')])
      answers.push(
        await exchangeBytes(
          Number(new URL(served).port),
          head('GET /guarded HTTP/1.1', `Authorization: Bearer ${token}`),
        ),
      );
    for (const path of ['/status', '/metrics', '/routes', '/openapi.json'])
      answers.push(await (await fetch(operators + path, { headers: { Authorization: `Bearer ${key}` } })).text());
    other.child.kill('SIGTERM');
    const { out, err } = await other.ended;
    const lints = await runCli(['lint', '--preset', 'strict'], place, env);
    rmSync(place, { recursive: true, force: true });
    const all = [...answers, out, err, lints.out, lints.err].join('\n').toLowerCase();
    expect(sentinels.filter((sentinel) => all.includes(sentinel))).toEqual([]);
  });

  it.each(['id', 'path'])('may not be the %s of a route, which is printed everywhere', async (key) => {
    const text = fed.text.replace(`${key}: ${key === 'id' ? 'guarded' : '/guarded'}`, `${key}: \${GUARDED}`);
    writeFileSync(join(folder, 'named.yaml'), text);
    const ended = await runCli(['lint', 'named.yaml'], folder, {
      ...fed.env,
      GUARDED: key === 'id' ? 'guarded' : '/guarded',
    });
    expect([ended.code, ended.out]).toEqual([1, expect.stringContaining(`the ${key} of a route is printed in logs`)]);
  });
});

function expectClean({ code, out, err }: Ended): void {
  expect(code).not.toBe(2);
  expect(leaksIn(out)).toEqual([]);
  expect(leaksIn(err)).toEqual([]);
}

/** The texts of the schema that no variable feeds here, and why not. */
const ELSEWHERE = new Set([
  // Included files are read before variables are put in.
  ...['include', 'include.*'],
  // The addresses of the gateway itself: it prints where it listens, and whoever connects knows that.
  ...['listen', 'admin', 'admin.listen'],
  // The same as for upstreams, and of no other output.
  ...['admin.tls.certificate', 'admin.tls.key', 'admin.tls.clientCa', 'server.tls.certificate', 'server.tls.key'],
  // Refused, as they are printed everywhere.
  ...['routes.*.id', 'routes.*.path'],
  // They repeat what stands elsewhere in the file.
  ...['routes.*.upstream', 'routes.*.upstreamPath.replace', 'routes.*.query.required.*', 'routes.*.query.repeated.*'],
  ...['routes.*.headers.required.*', 'routes.*.requestHeaders.keep.*', 'auth.tokens.introspection.endpoint.upstream'],
  ...['auth.tokens.introspection.endpoint.path', 'auth.tokens.userinfo.endpoint.upstream', 'routes.*.login.token'],
  'auth.tokens.userinfo.endpoint',
  // One of a few characters.
  'routes.*.body.csv.delimiter',
  // It is there to be sent to clients.
  'routes.*.responseHeaders.set.*',
]);
