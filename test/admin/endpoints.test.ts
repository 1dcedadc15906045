import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayWithAdmin, noReloads, startGatewayWithAdmin } from '../support/admin.ts';
import { runCli } from '../support/cli.ts';
import { AUDIENCE, ISSUER, type Issuer, startIssuer } from '../support/issuer.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams:
  up: { url: '\${UP}', health: { path: /healthz, interval: 20ms, timeout: 1s, healthy: 1, unhealthy: 1 } }
auth:
  tokens:
    jwt: { jwks: '\${JWKS}', algorithms: [ES256], issuer: "\${ISSUER}", audience: "\${AUDIENCE}" }
  role: { claim: /company_role, allow: [admin, user], message: admins and users only }
schemas:
  Note: { type: object, required: [text], properties: { text: { type: string, maxLength: 100 }, sub: { $ref: '#/schemas/Note' } } }
routes:
  - { id: open, method: GET, path: /open, upstream: up, access: public, query: { properties: { page: { type: integer } } } }
  - { id: note, method: POST, path: '/notes/{note_id}', upstream: up, access: protected, roles: [admin], body: { schema: { $ref: '#/schemas/Note' } } }
  - { id: note-read, method: GET, path: '/notes/{id}', upstream: up, access: protected, params: { properties: { id: { type: integer } } } }
  - { id: files, method: any, path: /files/**, upstream: up, access: protected }
`;

let upstream: Upstream;
let issuer: Issuer;
const sites: GatewayWithAdmin[] = [];
let isHealthy = true;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => void response.writeHead(isHealthy ? 200 : 500).end());
  issuer = await startIssuer();
});
afterEach(async () => {
  isHealthy = true;
  for (const site of sites.splice(0)) await site.close();
});
afterAll(async () => {
  await upstream.close();
  await issuer.close();
});

async function start(text = MANIFEST, context: Parameters<typeof startGatewayWithAdmin>[3] = {}, env = {}) {
  const site = await startGatewayWithAdmin(
    text,
    { UP: upstream.url, JWKS: issuer.jwksUrl, ISSUER, AUDIENCE, ...env },
    {},
    context,
  );
  sites.push(site);
  const getJson = async (path: string) => {
    const response = await fetch(site.admin.url + path);
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  return { site, getJson };
}

describe('/readyz', () => {
  const ready = { status: 200, body: { status: 'ready', reasons: [] } };

  it('becomes ready once it has fetched the keys itself', async () => {
    const { getJson } = await start();
    expect(await getJson('/readyz')).toMatchObject({
      status: 503,
      body: { status: 'unready', reasons: ['the keys that verify tokens were never fetched'] },
    });
    await eventually('ready', async () => (await getJson('/readyz')).status === 200);
    expect(await getJson('/readyz')).toEqual(ready);
  });

  it('is degraded without a healthy endpoint of an upstream, and unready if that upstream is required', async () => {
    for (const isRequired of [false, true]) {
      isHealthy = true;
      const text = isRequired ? MANIFEST.replace('unhealthy: 1', 'unhealthy: 1, required: true') : MANIFEST;
      const { getJson } = await start(text);
      await eventually('ready', async () => (await getJson('/readyz')).status === 200);
      isHealthy = false;
      await eventually('not ready', async () => (await getJson('/readyz')).body.status !== 'ready');
      const expected = isRequired
        ? { status: 503, body: { status: 'unready', reasons: ['the required upstream "up" has no healthy endpoint'] } }
        : { status: 200, body: { status: 'degraded', reasons: ['the upstream "up" has no healthy endpoint'] } };
      expect(await getJson('/readyz')).toEqual(expected);
      isHealthy = true;
      await eventually('ready again', async () => (await getJson('/readyz')).body.status === 'ready');
    }
  });

  it('is degraded after a rejected reload, and needs no keys without protected routes', async () => {
    const lastOutcome = {
      kind: 'rejected',
      cause: 'change',
      at: new Date(),
      ms: 1,
      files: [],
      sources: [],
      problems: [],
    } as const;
    const text = MANIFEST.replace(/auth:[\s\S]*routes:/, 'routes:').replace(/\n {2}- \{ id: note[\s\S]*/, '\n');
    const { getJson } = await start(text.replace('schemas:', ''), { reloader: { ...noReloads(), lastOutcome } });
    expect(await getJson('/readyz')).toEqual({
      status: 200,
      body: { status: 'degraded', reasons: ['the saved manifest was rejected'] },
    });
  });

  it('is unready until the process is warm', async () => {
    let isWarm = false;
    const text = MANIFEST.replace(/auth:[\s\S]*routes:/, 'routes:').replace(/\n {2}- \{ id: note[\s\S]*/, '\n');
    const { getJson } = await start(text.replace('schemas:', ''), { isWarm: () => isWarm });
    expect(await getJson('/readyz')).toMatchObject({ status: 503, body: { status: 'unready' } });
    isWarm = true;
    expect(await getJson('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
  });

  it('is stopping from the moment of the signal, while /livez still responds 200', async () => {
    let isStopping = false;
    const { getJson } = await start(MANIFEST, { isStopping: () => isStopping });
    isStopping = true;
    expect(await getJson('/readyz')).toMatchObject({ status: 503, body: { status: 'stopping' } });
    expect((await getJson('/livez')).status).toBe(200);
  });
});

describe('/status', () => {
  it('reports the manifest, upstreams, tokens and buffers', async () => {
    const { site, getJson } = await start();
    const token = await issuer.token({ company_role: 'user' });
    expect((await fetch(`${site.url}/files/a`, { headers: { Authorization: `Bearer ${token}` } })).status).toBe(200);
    const { body } = await getJson('/status');
    expect(body).toMatchObject({
      version: '1.2.3',
      status: 'ready',
      manifest: { hash: site.gateway.plan.hash, routes: 4, loaded_at: expect.stringMatching(/^\d{4}-/) },
      needs_restart: [],
      last_reload: null,
      upstreams: [
        {
          id: 'up',
          health: 'healthy',
          available: true,
          waiting: 0,
          endpoints: [{ url: '${UP}', health: 'healthy', reason: null, check: 'healthy', breaker: null, busy: 0 }],
        },
      ],
      tokens: { keys: 'known', cause: null, entries: 1, refused: 0, verifying: 0 },
      validation: { waiting: 0, refused: { queue_full: 0 } },
      buffered_bodies: { held_bytes: 0, limit_bytes: 256 * 1024 ** 2, refused: { buffer_full: 0, buffer_share: 0 } },
    });
  });
});

describe('/status of several issuers', () => {
  it('has the sums and the worst state of the keys, and each method', async () => {
    const jwt = (more: string) => `{ ${more}, algorithms: [ES256], audience: "\${AUDIENCE}" }`;
    const methods = `
    - { name: staff, jwt: ${jwt("jwks: '${JWKS}', issuer: '${ISSUER}'")} }
    - { name: partners, jwt: ${jwt("jwks: '${JWKS}', issuer: https://partners.test")} }
    - { name: devices, jwt: ${jwt("jwks: 'http://127.0.0.1:1/', issuer: https://devices.test")} }`;
    const text = MANIFEST.replace(/tokens:\n.*/, `tokens:${methods}`);
    const accepting = text.replace('access: protected }', 'access: protected, issuers: [staff, partners, devices] }');
    const { site, getJson } = await start(accepting);
    for (const iss of [ISSUER, 'https://partners.test', 'https://partners.test', 'https://devices.test']) {
      const headers = { Authorization: `Bearer ${await issuer.token({ iss })}` };
      for (let times = 0; times < 2; times += 1) await fetch(`${site.url}/files/a`, { headers });
    }
    const { tokens } = (await getJson('/status')).body;
    const of = (keys: string, entries: number, hits: number, results: object) => ({ keys, entries, hits, results });
    expect(tokens.issuers).toMatchObject([
      { name: 'staff', cause: null, ...of('known', 1, 1, { valid: 1 }) },
      { name: 'partners', cause: null, ...of('known', 2, 2, { valid: 2 }) },
      { name: 'devices', cause: expect.any(String), ...of('unknown', 0, 0, { keys_unavailable: 2 }) },
    ]);
    expect(tokens).toMatchObject({
      cause: tokens.issuers[2].cause,
      misses: 5,
      fetches: 2,
      ...of('unknown', 3, 3, { valid: 3, keys_unavailable: 2 }),
    });
    expect(tokens).not.toHaveProperty('name');
  });
});

describe('/routes', () => {
  it('lists the compiled routes', async () => {
    const { getJson } = await start();
    const { routes } = (await getJson('/routes')).body;
    expect(routes.map(({ id }: { id: string }) => id)).toEqual(['open', 'note', 'note-read', 'files']);
    expect(routes[1]).toMatchObject({
      methods: ['POST'],
      path: '/notes/{note_id}',
      access: 'protected',
      upstream: 'up',
      roles: ['admin'],
    });
    expect(routes[1].body).toEqual({ schema: true, limit_bytes: expect.any(Number) });
  });
});

describe('/explain', () => {
  it('responds with the JSON of the command line', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'explain-'));
    writeFileSync(join(folder, 'gateway.yaml'), MANIFEST);
    writeFileSync(join(folder, 'note.json'), '{"text":1}');
    const env = { UP: upstream.url, JWKS: issuer.jwksUrl, ISSUER, AUDIENCE };
    const args = ['POST', 'http://gw.example/notes/7?x=1', '--role', 'admin', '--body', 'note.json', '--json'];
    const { out } = await runCli(['explain', ...args], folder, env);
    rmSync(folder, { recursive: true });
    const { site } = await start();
    const request = {
      method: 'POST',
      url: 'http://gw.example/notes/7?x=1',
      role: 'admin',
      headers: { 'Content-Type': 'application/json' },
      body: '{"text":1}',
    };
    const response = await fetch(`${site.admin.url}/explain`, { method: 'POST', body: JSON.stringify(request) });
    const explanation = JSON.parse(await response.text());
    expect(explanation).toEqual(JSON.parse(out));
    expect(explanation.refusal.code).toBe('body_invalid');
  });

  it('sends nothing upstream and does not change the token cache', async () => {
    const { site, getJson } = await start();
    const before = upstream.requests.length;
    const body = '{"method":"GET","url":"/open"}';
    const response = await fetch(`${site.admin.url}/explain`, { method: 'POST', body });
    expect(JSON.parse(await response.text()).outcome).toBe('forwarded');
    expect(upstream.requests.slice(before).filter(({ url }) => url === '/open')).toEqual([]);
    expect((await getJson('/status')).body.tokens.entries).toBe(0);
  });

  it.each([
    ['', /^the body must not be empty; send \{"method"/],
    ['{', /^the body is not valid JSON; send \{"method"/],
    ['[]', /send/],
    ...[65, 10_000].map((depth): [string, RegExp] => [
      `{"method":"GET","url":"/open","claims":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`,
      /the value at "\/claims\/a[/0]*…?" is nested deeper than 64 levels/,
    ]),
    ['{"method":"GET"}', /send/],
    ['{"method":"GET","url":"/open","role":1}', /"role" must be a string/],
    ['{"method":"GET","url":"/open","role":"a","claims":{}}', /exclude each other/],
    ['{"method":"GET","url":"/open","headers":["a"]}', /"headers" must be an object/],
    ['{"method":"GET","url":"/open","headers":{"a":"b\\r\\nc: d"}}', /line break/],
    ['{"method":"GET","url":"/open","paht":1}', /unknown member "paht"/],
    ['{"method":"GET","url":"/open","headers":{"content-length":"67000000"}}', /"Content-Length" is more than 65536/],
    [
      JSON.stringify({
        method: 'GET',
        url: '/open',
        headers: Object.fromEntries(
          Array(501)
            .keys()
            .map((i) => [`h${i}`, '']),
        ),
      }),
      /more than 500 headers/,
    ],
  ])('responds 400 with the reason to %s', async (body, detail) => {
    const { site } = await start();
    const response = await fetch(`${site.admin.url}/explain`, { method: 'POST', body });
    expect([response.status, JSON.parse(await response.text()).detail]).toEqual([400, expect.stringMatching(detail)]);
  });

  it('refuses a request that would take long', async () => {
    const { site } = await start();
    const body = JSON.stringify({ method: 'GET', url: '/open', body: 'x'.repeat(65_536) });
    expect((await fetch(`${site.admin.url}/explain`, { method: 'POST', body })).status).toBe(413);
  });
});

describe('/openapi.json', () => {
  it('describes the active routes, and contains every schema that it references', async () => {
    const { getJson } = await start();
    const { body } = await getJson('/openapi.json');
    expect(Object.keys(body.paths)).toEqual(['/open', '/notes/{note_id}', '/files', '/files/{rest}']);
    expect(Object.keys(body.paths['/notes/{note_id}']).sort()).toEqual(['get', 'post']);
    const { post, get } = body.paths['/notes/{note_id}'];
    expect(post).toMatchObject({ operationId: 'note', 'x-roles': ['admin'] });
    expect([body.security, post.security]).toEqual([[{ token: [] }], undefined]);
    expect(post.requestBody.content['application/json'].schema).toEqual({ $ref: '#/components/schemas/Note' });
    expect(body.components.schemas.Note.properties.sub).toEqual({ $ref: '#/components/schemas/Note' });
    expect(get.parameters).toEqual([{ name: 'note_id', in: 'path', required: true, schema: { type: 'integer' } }]);
    expect(body.paths['/open'].get).toMatchObject({ security: [], parameters: [{ name: 'page', in: 'query' }] });
    const codesOf = ({ responses }: typeof post) =>
      Object.values<{ $ref: string }>(responses).map(
        ({ $ref }) => body.components.responses[$ref.split('/').at(-1) ?? ''],
      );
    expect(JSON.stringify(codesOf(post))).toContain('401 `token_missing`');
    expect(JSON.stringify(codesOf(body.paths['/open'].get))).not.toContain('401');
    const references = [...JSON.stringify(body).matchAll(/"\$ref":"#([^"]+)"/g)].map(([, pointer = '']) =>
      pointer
        .split('/')
        .slice(1)
        .reduce<Record<string, never> | undefined>((value, key) => value?.[key], body),
    );
    expect(references.length).toBeGreaterThan(5);
    expect(references).not.toContain(undefined);
  });
});
