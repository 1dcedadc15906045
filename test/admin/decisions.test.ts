import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operating, startOperating } from '../support/admin.ts';
import { AUDIENCE, ISSUER, type Issuer, startIssuer } from '../support/issuer.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
server: { trustedProxies: [127.0.0.1/32] }
upstreams: { up: { url: '\${UP}' } }
auth:
  tokens:
    jwt: { jwks: '\${JWKS}', algorithms: [ES256], issuer: '${ISSUER}', audience: ${AUDIENCE} }
  role: { claim: /company_role, allow: [admin, user], message: admins and users only }
routes:
  - { id: open, method: any, path: /open/**, upstream: up, access: public }
  - { id: closed, method: GET, path: /closed, upstream: up, access: protected }
`;
const SECRET = 'sentinel-7f3a';

let upstream: Upstream;
let issuer: Issuer;
let site: Operating;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => void response.end('ok'));
  issuer = await startIssuer();
  site = await startOperating(MANIFEST, { UP: upstream.url, JWKS: issuer.jwksUrl });
});
afterAll(async () => {
  await site.close();
  await upstream.close();
  await issuer.close();
});

interface Looking {
  /** What was sent so far. */
  text(): string;
  events(name: string): Record<string, unknown>[];
  leave(): Promise<void>;
}

async function look(query = ''): Promise<Looking> {
  const leaving = new AbortController();
  const answer = await fetch(`${site.admin.url}/decisions${query}`, { signal: leaving.signal });
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  let text = '';
  const read = (async () => {
    for await (const piece of answer.body ?? []) text += Buffer.from(piece).toString();
  })().catch(() => undefined);
  await eventually('it has begun', () => text.startsWith(': from now on\n\n'));
  return {
    text: () => text,
    events: (name) =>
      [...text.matchAll(new RegExp(`^event: ${name}\ndata: (.*)\n\n`, 'gm'))].map(([, data = '']) => JSON.parse(data)),
    leave: async () => {
      leaving.abort();
      await read;
    },
  };
}

const ask = async (path: string, init: RequestInit = {}) => (await fetch(site.url + path, init)).text();

describe('/decisions', () => {
  it('tells what becomes of requests', async () => {
    const looking = await look();
    const token = await issuer.token({ company_role: 'user', sub: 'ann@example.com' });
    await ask('/closed?page=1', { headers: { Authorization: `Bearer ${token}` } });
    await ask('/closed');
    await ask('/nowhere');
    await eventually('all three', () => looking.events('decision').length === 3);
    const base = { at: expect.any(Number), id: expect.any(String), method: 'GET', ms: expect.any(Number) };
    const passed = { refusal: null, reason: null };
    const [line] = site.lines;
    expect(looking.events('decision')).toEqual([
      {
        ...base,
        path: '/closed',
        route: 'closed',
        status: 200,
        ...passed,
        subject: line?.['subject'],
        id: line?.['id'],
      },
      {
        ...base,
        path: '/closed',
        route: 'closed',
        status: 401,
        refusal: 'token_missing',
        reason: 'token_missing',
        subject: null,
      },
      {
        ...base,
        path: '/nowhere',
        route: null,
        status: 404,
        refusal: 'route_unknown',
        reason: 'route_unknown',
        subject: null,
      },
    ]);
    expect(line?.['subject']).toMatch(/^[0-9a-f]{16}$/);
    await looking.leave();
  });

  it('tells of bytes that are no request', async () => {
    const looking = await look('?only=refused');
    connect(site.port, '127.0.0.1').end('no request\r\n\r\n').resume();
    await eventually('it is there', () => looking.events('decision').length === 1);
    expect(looking.events('decision')[0]).toMatchObject({
      method: null,
      path: null,
      status: 400,
      refusal: 'message_malformed',
    });
    await looking.leave();
  });

  it('holds nothing that a client keeps secret', async () => {
    const looking = await look();
    const token = await issuer.token({ company_role: SECRET, sub: SECRET });
    const headers = { Authorization: `Bearer ${token}`, Cookie: `a=${SECRET}`, [SECRET]: SECRET };
    await ask(`/closed?${SECRET}=${SECRET}`, { headers });
    await ask(`/open/a?${SECRET}`, { method: 'POST', body: SECRET, headers: { ...headers, Authorization: SECRET } });
    await eventually('both', () => looking.events('decision').length === 2);
    expect(looking.text()).not.toContain(SECRET);
    expect(looking.text()).not.toContain(token);
    await looking.leave();
  });

  it.each([
    ['?filter=NOWHERE', ['/nowhere']],
    ['?filter=get+open', ['/open/a']],
    ['?filter=404', ['/nowhere']],
    ['?filter=route_unknown', ['/nowhere']],
    ['?filter=open+404', []],
    ['?only=refused', ['/nowhere', '/closed']],
    ['?only=refused&filter=closed', ['/closed']],
  ])('sends with %s what is asked for', async (query, expected) => {
    const [looking, all] = [await look(query), await look()];
    for (const path of ['/open/a', '/nowhere', '/closed']) await ask(path);
    await eventually('all', () => all.events('decision').length === 3);
    // Both are written in the same rhythm: what is not there by the next write does not come.
    await ask('/nowhere/last');
    await eventually('one more', () => all.events('decision').length === 4);
    const shown = looking.events('decision').map(({ path }) => path);
    expect(shown.filter((path) => path !== '/nowhere/last')).toEqual(expected);
    await looking.leave();
    await all.leave();
  });

  it('finds a request by its id, which a proxy that is trusted may give', async () => {
    const [looking, all] = [await look('?filter=req-404a'), await look()];
    for (const id of ['req-404', 'req-404a', 'req-404ab']) await ask('/open/a', { headers: { 'X-Request-Id': id } });
    await eventually('all', () => all.events('decision').length === 3);
    await eventually('the one', () => looking.events('decision').length > 0);
    expect(looking.events('decision').map(({ id }) => id)).toEqual(['req-404a']);
    await looking.leave();
    await all.leave();
  });

  it('counts those that are too many, and sends what was refused first', async () => {
    const looking = await look();
    const before = site.lines.length;
    await Promise.all(Array.from({ length: 400 }, () => ask('/open/a')));
    await ask('/nowhere');
    await eventually('all are done', () => site.lines.length === before + 401);
    const skipped = () => looking.events('skipped').reduce((sum, { count }) => sum + Number(count), 0);
    await eventually('all are told of', () => looking.events('decision').length + skipped() === 401);
    expect(skipped()).toBeGreaterThan(0);
    expect(looking.events('decision').some(({ refusal }) => refusal === 'route_unknown')).toBe(true);
    await looking.leave();
  });

  it('costs nothing once everybody has left, and asks for no more than a few', async () => {
    const all = await Promise.all(Array.from({ length: 16 }, () => look()));
    expect(site.gateway.watchers).toBe(16);
    const answer = await fetch(`${site.admin.url}/decisions`);
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { status: 503, detail: expect.stringContaining('too many') },
    ]);
    expect((await fetch(`${site.admin.url}/readyz`)).status).toBe(200);
    for (const looking of all) await looking.leave();
    await eventually('nobody looks on', () => site.gateway.watchers === 0);
    await (await fetch(`${site.admin.url}/decisions`, { method: 'HEAD' })).text();
    expect(site.gateway.watchers).toBe(0);
    expect((await fetch(`${site.admin.url}/decisions?only=passed`)).status).toBe(400);
  });
});
