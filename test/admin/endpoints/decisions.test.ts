import { get } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refusal } from '../../../src/gateway/response/refusal.ts';
import { createUnparsedRecord } from '../../../src/gateway/telemetry/request-record.ts';
import { type Operating, startOperating } from '../../support/admin.ts';
import { AUDIENCE, ISSUER, type Issuer, startIssuer } from '../../support/issuer.ts';
import { scrape } from '../../support/scrape.ts';
import { eventually } from '../../support/site.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

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

/** Opens a stream from another address of this machine. */
function statusFrom(localAddress: string): Promise<{ status: number | undefined; leave: () => void }> {
  return new Promise((resolve, reject) => {
    const request = get(`${site.admin.url}/decisions`, { localAddress, agent: false }, (response) => {
      response.on('error', () => undefined).resume();
      resolve({ status: response.statusCode, leave: () => request.destroy() });
    });
    request.on('error', reject);
  });
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
    const all = await Promise.all(Array.from({ length: 8 }, () => look()));
    expect(site.gateway.subscribers).toBe(1);
    const answer = await fetch(`${site.admin.url}/decisions`);
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { status: 503, detail: expect.stringContaining('too many') },
    ]);
    // One address cannot take all of the streams.
    const others = await Promise.all(Array.from({ length: 8 }, () => statusFrom('127.0.0.2')));
    expect(others.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const last = await statusFrom('127.0.0.3');
    expect(last.status).toBe(503);
    expect((await fetch(`${site.admin.url}/readyz`)).status).toBe(200);
    for (const { leave } of [...others, last]) leave();
    for (const looking of all) await looking.leave();
    await eventually('nobody looks on', () => site.gateway.subscribers === 0);
    await (await fetch(`${site.admin.url}/decisions`, { method: 'HEAD' })).text();
    expect(site.gateway.subscribers).toBe(0);
    expect((await fetch(`${site.admin.url}/decisions?only=passed`)).status).toBe(400);
  });

  it.each([
    ['nine words', Array(9).fill('a').join('+')],
    ['a long word', 'a'.repeat(201)],
  ])('takes no filter of %s', async (_case, filter) => {
    const response = await fetch(`${site.admin.url}/decisions?filter=${filter}`);
    expect([response.status, await response.json()]).toEqual([
      400,
      { status: 400, detail: 'a filter has at most 8 words and 200 characters' },
    ]);
  });

  it('searches a bounded number of characters, whatever the traffic, and says how many decisions it skipped', async () => {
    const { gateway } = site;
    const { subscribe } = gateway;
    let publish: Parameters<typeof subscribe>[0] = () => undefined;
    gateway.subscribe = (hear) => {
      publish = hear;
      return subscribe.call(gateway, hear);
    };
    const looking = await Promise.all(Array.from({ length: 8 }, () => look('?filter=a+b+c+d+e+f+g+nowhere')));
    const path = `/${'abcdefg'.repeat(20)}`;
    const unparsed = createUnparsedRecord('x', new Refusal('message_malformed'), undefined);
    const record = { ...unparsed, method: 'GET', status: 200, refusal: undefined, path };
    const COUNT = 20_000;
    for (let at = 0; at < COUNT; at += 1) publish({ ...record, time: at });
    const skipped = (one: Looking) => one.events('skipped').reduce((sum, { count }) => sum + Number(count), 0);
    await eventually('all streams say what they skipped', () => looking.every((one) => skipped(one) > COUNT * 0.9));
    expect(looking.flatMap((one) => one.events('decision'))).toEqual([]);
    const { value } = await scrape(site.admin.url);
    expect(value('skipped_decisions_total')).toBeGreaterThan(8 * COUNT * 0.9);
    for (const one of looking) await one.leave();
    await eventually('all have left', () => gateway.subscribers === 0);
    gateway.subscribe = subscribe;
  });

  it('writes a bounded number of characters at a time, to those who read too', async () => {
    const looking = await look();
    const before = site.lines.length;
    await Promise.all(Array.from({ length: 60 }, () => ask(`/open/${'a'.repeat(12_000)}`)));
    await eventually('all are done', () => site.lines.length === before + 60);
    const skipped = () => looking.events('skipped').reduce((sum, { count }) => sum + Number(count), 0);
    await eventually('all are told of', () => looking.events('decision').length + skipped() === 60);
    // One write has at most 64 kB, and one decision more.
    expect(looking.events('decision').length).toBeLessThan(60);
    await looking.leave();
  });
});
