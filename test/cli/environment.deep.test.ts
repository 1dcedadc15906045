import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_ENDPOINTS } from '../../src/admin/endpoints.ts';
import { lint } from '../../src/check/lint/lint.ts';
import { LINT_FORMATS } from '../../src/cli/lint/lint-formats.ts';
import { load } from '../../src/engine/load.ts';
import { toProblems } from '../../src/engine/problem/problem.ts';
import { type CliProcess, type CliResult, runCli, startCli } from '../support/cli.ts';
import {
  type EnvironmentManifest,
  environmentManifest,
  HOST,
  TOKEN_METHODS,
  textKeys,
} from '../support/environment-manifest.ts';
import { exchangeBytes, head, keepAliveHead, Wire } from '../support/raw.ts';
import { IS_DEEP } from '../support/runs.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let server: Server;
let folder: string;
let site: EnvironmentManifest;
let cli: CliProcess;
let port: number;
let admin: string;
let tokenOf: (role: string) => Promise<string>;
let decisions = '';

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
  site = environmentManifest(url, `${url}/keys`);
  tokenOf = async (role) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: site.issuer,
      aud: site.audience,
      sub: 'someone',
      iat: now,
      exp: now + 600,
      [site.claim]: role,
    };
    const required = Object.fromEntries(Object.values(site.env).map((value) => [value, 'x']));
    return new SignJWT({ ...required, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: site.type })
      .sign(privateKey);
  };
  folder = temporaryFolder('environment', { ...site.files, 'gateway.yaml': site.text, 'changed.yaml': site.changed });
  cli = startCli(['run'], folder, site.env);
  const [, gatewayUrl = '', adminUrl = ''] = await cli.waitFor(/"url":"([^"]+)","admin":"([^"]+)".*"msg":"serving"/);
  port = Number(new URL(gatewayUrl).port);
  admin = adminUrl;
  follow().catch(() => undefined);
});
afterAll(async () => {
  cli?.child.kill('SIGKILL');
  await cli?.result;
  server?.closeAllConnections();
  server?.close();
});

/** Returns the sentinels in a text, with the text around them. */
function leaksIn(text: string): string[] {
  const lower = text.toLowerCase();
  return site.sentinels.flatMap((sentinel) => {
    const at = lower.indexOf(sentinel);
    return at === -1 ? [] : [text.slice(Math.max(0, at - 80), at + sentinel.length + 20)];
  });
}

const HEADERS = () => ({ Authorization: `Bearer ${Object.values(site.env).find((value) => value.endsWith('cdef'))}` });

async function follow(): Promise<void> {
  const { body } = await fetch(`${admin}/decisions`, { headers: HEADERS() });
  const text = new TextDecoder();
  for await (const chunk of body ?? []) decisions += text.decode(chunk, { stream: true });
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
  '{"undeclared":1}',
  '[]',
  'not json',
  LONG,
];

/** Requests for every error that a client can cause without a token. */
const requests = (): Record<string, string> => ({
  ...Object.fromEntries(
    NOTES.flatMap((note, at) => [
      [`note ${at}`, post('/note', note)],
      [`reported note ${at}`, post('/reported', note)],
    ]),
  ),
  params: head('GET /parameters/x?page=x&order=x HTTP/1.1', 'X-Level: x'),
  'params that are missing': head('GET /parameters/x HTTP/1.1'),
  form: post('/form', FORM, 'multipart/form-data; boundary=b'),
  'form of another type': post('/form', '{}'),
  table: post('/table', 'a,b\n', 'text/csv'),
  'table of another type': post('/table', 'a', 'text/plain'),
  'body of another type': post('/typed', 'a', 'text/plain'),
  login: post('/login', '{}'),
  limited: post('/limited', '{}'),
  once: head('GET /once HTTP/1.1'),
  'once more': head('GET /once HTTP/1.1'),
  'no token': head('GET /guarded HTTP/1.1'),
  'invalid token': head('GET /guarded HTTP/1.1', 'Authorization: Bearer a.b.c'),
  'no route': head('GET /none HTTP/1.1'),
  'no method': head('DELETE /note HTTP/1.1'),
  moved: head('GET /moved/7 HTTP/1.1'),
  unreachable: head('GET /unreachable HTTP/1.1'),
  'unreachable again': head('GET /unreachable HTTP/1.1'),
  nowhere: head('GET /nowhere HTTP/1.1'),
  secured: head('GET /secured HTTP/1.1'),
  origin: head('GET /guarded HTTP/1.1', 'Origin: https://other.test'),
  preflight: head('OPTIONS /note HTTP/1.1', 'Origin: https://other.test', 'Access-Control-Request-Method: POST'),
});

async function readAll(): Promise<string> {
  const paths = ADMIN_ENDPOINTS.filter(({ method, path }) => method === 'GET' && path !== '/decisions').map(
    ({ path }) => path,
  );
  const texts = await Promise.all(
    paths.map(async (path) => `${path} ${await (await fetch(admin + path, { headers: HEADERS() })).text()}`),
  );
  return [cli.out(), cli.err(), decisions, ...texts].join('\n');
}

describe('a value from the environment', () => {
  it('is substituted in every text of the manifest', () => {
    const url = 'http://127.0.0.1:1';
    const substituted = new Set(
      TOKEN_METHODS.flatMap((method) => [...environmentManifest(url, url, method).substitutedKeys]),
    );
    const missing = [...textKeys()].filter((key) => !substituted.has(key) && !EXCLUDED.has(key));
    expect(missing).toEqual([]);
  });

  it('appears in no response to a client', async () => {
    for (const [name, bytes] of Object.entries(requests()))
      expect([name, leaksIn(await exchangeBytes(port, bytes))]).toEqual([name, []]);
    for (const role of ['other', site.roles[1]]) {
      const response = await exchangeBytes(
        port,
        head('GET /guarded HTTP/1.1', `Authorization: Bearer ${await tokenOf(role)}`),
      );
      expect(response).toContain('role_not_allowed');
      expect(leaksIn(response)).toEqual([]);
    }
    const wire = await Wire.open(port);
    wire.write(
      keepAliveHead(
        'GET /socket HTTP/1.1',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version: 13',
        'Origin: https://other.test',
      ),
    );
    expect((await wire.response()).status).toBe(403);
    wire.end();
  });

  it('appears in no log line, metric or admin API response', async () => {
    const lines = Object.keys(requests()).length;
    await eventually('every log line', () => cli.out().split('"msg":"request"').length > lines);
    for (const note of NOTES) await exchangeBytes(port, post('/reported', note));
    const explained: { method: string; url: string; claims?: object; headers?: object; body?: string | undefined }[] = [
      ...['/moved/7', '/unreachable', '/guarded', '/parameters/x?page=y', '/none'].map((url) => ({
        method: 'GET',
        url,
      })),
      { method: 'GET', url: '/guarded', claims: { [site.claim]: 'other' } },
      { method: 'POST', url: '/note', headers: { 'Content-Type': 'application/json' }, body: NOTES[2] },
    ];
    for (const request of explained) {
      const response = await fetch(`${admin}/explain`, {
        method: 'POST',
        headers: { ...HEADERS(), 'Content-Type': 'application/json' },
        body: JSON.stringify(request),
      });
      const text = (await response.text()).replace(JSON.stringify(request.claims ?? null), 'null');
      expect([request.url, response.status, leaksIn(text.replaceAll(site.claim, ''))]).toEqual([request.url, 200, []]);
    }
    expect(leaksIn(await readAll())).toEqual([]);
    for (const text of [site.text.replace('/login', 'login'), site.changed, site.text]) {
      const before = cli.out();
      writeFileSync(join(folder, 'gateway.yaml'), text);
      await fetch(`${admin}/-/reload`, { method: 'POST', headers: HEADERS() });
      await eventually('the reload is logged', () => cli.out() !== before);
      expect(leaksIn(await readAll())).toEqual([]);
    }
  });

  it.each(Object.keys(LINT_FORMATS))('appears in no lint report in the format %s', async (format) => {
    for (const more of [
      ['--preset', 'strict'],
      ['--preset', 'strict', '--online'],
      ['--fix', '--dry-run'],
    ])
      for (const file of ['gateway.yaml', 'changed.yaml'])
        expectClean(await runCli(['lint', file, '-f', format, ...more], folder, site.env));
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
      ['/parameters/x?page=y'],
      ['/guarded'],
      ['/guarded', '--role', 'other'],
      ['/nowhere'],
      ['/notee'],
    ].flatMap((url) => [
      ['explain', 'GET', ...url],
      ['explain', 'GET', ...url, '--json'],
    ]),
    ['explain', 'POST', '/note', '--body', 'note.json'],
    ['explain', 'POST', '/reported', '--body', 'note.json', '--json'],
  ])('is not printed by %s %s %s %s %s %s', async (...args) => {
    writeFileSync(join(folder, 'note.json'), NOTES[2] ?? '');
    const ended = await runCli(args, folder, site.env);
    expect(ended.err).not.toContain('usage');
    const output = args.includes('--role') ? { ...ended, out: ended.out.replaceAll(site.claim, '') } : ended;
    expectClean(output);
  });

  it.each(['text', 'junit'])('is not printed by a failing test in the format %s', async (format) => {
    const cases = [
      { request: { method: 'GET', url: '/moved/7' }, expect: { upstream: { url: '/x', headers: { 'X-Key': 'x' } } } },
      { request: { method: 'GET', url: '/moved/7' }, expect: { upstream: null } },
      { request: { method: 'GET', url: '/moved/7' }, expect: { upstream: { url: 'http://x.test/x' } } },
      { request: { method: 'GET', url: '/guarded', role: 'other' }, expect: { status: 200, message: 'x' } },
      { request: { method: 'POST', url: '/note', body: {} }, expect: { errors: ['/x'] } },
      {
        request: { method: 'POST', url: '/reported', body: { a: 1 } },
        expect: { reason: 'x', headers: { Vary: 'x' } },
      },
    ].map((one, at) => ({ name: `case ${at}`, ...one }));
    const { env } = site;
    writeFileSync(
      join(folder, 'failing.test.yaml'),
      JSON.stringify({ version: 1, manifest: 'gateway.yaml', environment: env, cases }),
    );
    const ended = await runCli(['test', 'failing.test.yaml', '-f', format], folder);
    expect(ended.code).toBe(1);
    expectClean(ended);
  });

  it('is not printed in a problem about its value', () => {
    const bad = ['bad zq7kbad', '/zq7kbad/', 'http://zq7kbad.test/?', '(zq7kbad', '5 zq7kbad', '#/zq7kbad', 'ZQ7KBAD,'];
    for (const name of Object.keys(site.env))
      for (const value of IS_DEEP ? bad : bad.slice(0, 2)) {
        const env = { ...site.env, [name]: value };
        const readFile = (file: string) => site.files[file] ?? site.files[`./${file}`] ?? '';
        const source = { path: 'gateway.yaml', text: site.text };
        const loaded = load(source, { env, readFile });
        const problems =
          loaded.plan === undefined ? toProblems(loaded.findings, loaded.document) : lint(loaded, { preset: 'strict' });
        const text = JSON.stringify(problems).toLowerCase();
        expect([name, value, leaksIn(text), text.includes('zq7kbad')]).toEqual([name, value, [], false]);
      }
  });

  it.each(TOKEN_METHODS)('is not printed by a gateway that verifies tokens by %s', async (method) => {
    const url = `http://${HOST}:${(server.address() as AddressInfo).port}`;
    const { text, env, files, sentinels } = environmentManifest(url, `${url}/keys`, method);
    const otherFolder = temporaryFolder('environment', { ...files, 'gateway.yaml': text });
    const other = startCli(['run'], otherFolder, env);
    const [, otherUrl = '', otherAdmin = ''] = await other.waitFor(
      /"url":"([^"]+)","admin":"([^"]+)".*"msg":"serving"/,
    );
    const key = Object.values(env).find((value) => value.endsWith('cdef'));
    const responses = [];
    for (const token of ['opaque', await tokenOf('other')])
      responses.push(
        await exchangeBytes(
          Number(new URL(otherUrl).port),
          head('GET /guarded HTTP/1.1', `Authorization: Bearer ${token}`),
        ),
      );
    for (const path of ['/status', '/metrics', '/routes', '/openapi.json'])
      responses.push(await (await fetch(otherAdmin + path, { headers: { Authorization: `Bearer ${key}` } })).text());
    other.child.kill('SIGTERM');
    const { out, err } = await other.result;
    const lints = await runCli(['lint', '--preset', 'strict'], otherFolder, env);
    const all = [...responses, out, err, lints.out, lints.err].join('\n').toLowerCase();
    expect(sentinels.filter((sentinel) => all.includes(sentinel))).toEqual([]);
  });

  it.each(['id', 'path'])('is rejected as the %s of a route, which many outputs contain', async (key) => {
    const text = site.text.replace(`${key}: ${key === 'id' ? 'guarded' : '/guarded'}`, `${key}: \${GUARDED}`);
    writeFileSync(join(folder, 'named.yaml'), text);
    const ended = await runCli(['lint', 'named.yaml'], folder, {
      ...site.env,
      GUARDED: key === 'id' ? 'guarded' : '/guarded',
    });
    expect([ended.code, ended.out]).toEqual([1, expect.stringContaining(`the ${key} of a route is printed in logs`)]);
  });
});

function expectClean({ code, out, err }: CliResult): void {
  expect(code).not.toBe(2);
  expect(leaksIn(out)).toEqual([]);
  expect(leaksIn(err)).toEqual([]);
}

/** The texts of the schema that the manifest of this test does not take from a variable, and the reason. */
const EXCLUDED = new Set([
  // Files are included before variables are substituted.
  ...['include', 'include.*'],
  // The gateway prints the addresses that it listens on.
  ...['listen', 'listen.address', 'listen.mode', 'admin', 'admin.listen'],
  // The code is the same as for the TLS files of upstreams.
  ...['admin.tls.certificate', 'admin.tls.key', 'admin.tls.clientCa', 'server.tls.certificate', 'server.tls.key'],
  // Rejected, because many outputs contain them.
  ...['routes.*.id', 'routes.*.path', 'server.via'],
  // Rejected, because they are the same in every environment.
  ...[...textKeys()].filter((key) => key.startsWith('invariants.')),
  // The code is the same as for a manifest with one token method.
  ...[...textKeys()].filter((key) => key.startsWith('auth.tokens.*.')),
  ...['auth.tokens.jwt.audience.*', 'auth.tokens.introspection.audience.*'],
  // They become values of routes first.
  ...[...textKeys()].filter((key) => key.startsWith('defaults.')),
  // They refer to other parts of the file.
  ...['routes.*.upstream', 'routes.*.upstreamPath.replace', 'routes.*.query.required.*', 'routes.*.query.repeated.*'],
  ...['routes.*.headers.required.*', 'routes.*.requestHeaders.keep.*', 'auth.tokens.introspection.endpoint.upstream'],
  ...['auth.tokens.introspection.endpoint.path', 'auth.tokens.userinfo.endpoint.upstream', 'routes.*.login.token'],
  'auth.tokens.userinfo.endpoint',
  ...['rateLimits.*.store', 'routes.*.rateLimits.*', 'routes.*.issuers.*', 'routes.*.login.issuer'],
  // Names and locations of claims, which explain and diff print.
  ...[
    'auth.role',
    'routes.*.roles',
    'routes.*.forward',
    'auth.forward.*',
    'auth.forward.*.claim',
    'auth.forward.*.missing',
  ],
  ...['routes.*.forward.*', 'routes.*.forward.*.claim', 'routes.*.forward.*.missing'],
  // One of a few fixed characters.
  'routes.*.body.csv.delimiter',
  // Clients receive it on purpose.
  ...['routes.*.responseHeaders.set.*', 'server.responseHeaders.*', 'routes.*.redirect.to'],
  // Rejected, because every client may read them.
  ...['routes.*.respond.headers.*', 'routes.*.respond.body'],
]);
