import { get } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refusal } from '../../../src/engine/gateway/response/refusal.ts';
import { createUnparsedRecord } from '../../../src/engine/gateway/telemetry/request-recorder.ts';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../../support/admin.ts';
import { AUDIENCE, ISSUER, type Issuer, startIssuer } from '../../support/issuer.ts';
import { scrape } from '../../support/scrape.ts';
import { eventually } from '../../support/site.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
server: { trustedProxies: [127.0.0.1/32] }
upstreams: { up: { url: '\${UP}' }, gone: { url: 'http://127.0.0.1:9' } }
schemas:
  Item: { type: object, required: [name], properties: { name: { type: string } }, additionalProperties: { type: string } }
  Note: { type: object, properties: { items: { type: array, items: { $ref: '#/schemas/Item' } } }, additionalProperties: { type: string } }
auth:
  tokens:
    jwt: { jwks: '\${JWKS}', algorithms: [ES256], issuer: '${ISSUER}', audience: ${AUDIENCE} }
  role: { claim: /company_role, allow: [admin, user], message: admins and users only }
routes:
  - { id: open, method: any, path: /open/**, upstream: up, access: public }
  - { id: closed, method: GET, path: /closed, upstream: up, access: protected }
  - { id: gone, method: GET, path: /gone, upstream: gone, access: public }
  - { id: note, method: POST, path: /note, upstream: up, access: public, body: { schema: { $ref: '#/schemas/Note' } } }
`;
const SECRET = 'sentinel-7f3a';

let upstream: Upstream;
let issuer: Issuer;
let site: GatewayWithAdmin;

beforeAll(async () => {
  upstream = await startUpstream(
    ({ url }, response) => void response.writeHead(url === '/open/bad' ? 500 : 200).end('ok'),
  );
  issuer = await startIssuer();
  site = await startGatewayWithAdmin(MANIFEST, { UP: upstream.url, JWKS: issuer.jwksUrl });
});
afterAll(async () => {
  await site.close();
  await upstream.close();
  await issuer.close();
});

interface DecisionStream {
  /** Returns the received text. */
  text(): string;
  events(name: string): Record<string, unknown>[];
  close(): Promise<void>;
}

async function openStream(query = ''): Promise<DecisionStream> {
  const controller = new AbortController();
  const response = await fetch(`${site.admin.url}/decisions${query}`, { signal: controller.signal });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  let text = '';
  const read = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  })().catch(() => undefined);
  await eventually('the stream is open', () => text.startsWith(': connected\n\n'));
  return {
    text: () => text,
    events: (name) =>
      [...text.matchAll(new RegExp(`^event: ${name}\ndata: (.*)\n\n`, 'gm'))].map(([, data = '']) => JSON.parse(data)),
    close: async () => {
      controller.abort();
      await read;
    },
  };
}

/** Opens a stream from another address of this machine, and returns its status. */
function statusFrom(localAddress: string): Promise<{ status: number | undefined; close: () => void }> {
  return new Promise((resolve, reject) => {
    const request = get(`${site.admin.url}/decisions`, { localAddress, agent: false }, (response) => {
      response.on('error', () => undefined).resume();
      resolve({ status: response.statusCode, close: () => request.destroy() });
    });
    request.on('error', reject);
  });
}

const send = async (path: string, init: RequestInit = {}) => (await fetch(site.url + path, init)).text();

describe('/decisions', () => {
  it('sends a decision for each request', async () => {
    const stream = await openStream();
    const token = await issuer.token({ company_role: 'user', sub: 'ann@example.com' });
    await send('/closed?page=1', { headers: { Authorization: `Bearer ${token}` } });
    await send('/closed');
    await send('/nowhere');
    await eventually('all three decisions arrive', () => stream.events('decision').length === 3);
    const sender = { method: 'GET', client: '127.0.0.1', refused_path: null };
    const base = { ...sender, at: expect.any(Number), id: expect.any(String), ms: expect.any(Number) };
    const notRefused = { refusal: null, reason: null };
    const notForwarded = { limits: [], pointers: [], upstream: null, retries: 0, gateway_ms: null, upstream_ms: null };
    const [line] = site.lines;
    expect(stream.events('decision')).toEqual([
      {
        ...base,
        ...notForwarded,
        upstream: 'up',
        gateway_ms: expect.any(Number),
        upstream_ms: expect.any(Number),
        path: '/closed',
        keyed: false,
        route: 'closed',
        status: 200,
        ...notRefused,
        subject: line?.['subject'],
        id: line?.['id'],
      },
      {
        ...base,
        ...notForwarded,
        path: '/closed',
        keyed: false,
        route: 'closed',
        status: 401,
        refusal: 'token_missing',
        reason: 'token_missing',
        subject: null,
      },
      {
        ...base,
        ...notForwarded,
        path: '/nowhere',
        keyed: false,
        route: null,
        status: 404,
        refusal: 'route_unknown',
        reason: 'route_unknown',
        subject: null,
      },
    ]);
    expect(line?.['subject']).toMatch(/^[0-9a-f]{16}$/);
    await stream.close();
  });

  it('sends the locations of violations, with only the names of the manifest', async () => {
    const stream = await openStream('?only=refused');
    const body = JSON.stringify({ items: [{ name: 1 }, { [SECRET]: 1 }], [SECRET]: 1 });
    await send('/note', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    await eventually('the decision arrives', () => stream.events('decision').length === 1);
    const [{ pointers, upstream } = {}] = stream.events('decision');
    expect(new Set(pointers as string[])).toEqual(new Set(['/*', '/items/0/name', '/items/1/name', '/items/1/*']));
    expect(upstream).toBe(null);
    expect(stream.text()).not.toContain(SECRET);
    await stream.close();
  });

  it('selects refused requests and failed ones, which differ', async () => {
    const [refused, failed] = [await openStream('?only=refused'), await openStream('?only=failed')];
    for (const path of ['/open/1', '/closed', '/gone', '/open/bad']) await send(path);
    const statusesOf = (stream: DecisionStream) => stream.events('decision').map(({ status }) => status);
    await eventually('both arrive', () => statusesOf(failed).length === 2 && statusesOf(refused).length === 1);
    expect([statusesOf(refused), statusesOf(failed)]).toEqual([[401], [502, 500]]);
    await refused.close();
    await failed.close();
  });

  it('sends a decision for bytes that are not a request', async () => {
    const stream = await openStream('?only=refused');
    connect(site.port, '127.0.0.1').end('no request\r\n\r\n').resume();
    await eventually('the decision arrives', () => stream.events('decision').length === 1);
    expect(stream.events('decision')[0]).toMatchObject({
      method: null,
      path: null,
      status: 400,
      refusal: 'message_malformed',
    });
    await stream.close();
  });

  it('contains no credentials, queries, headers or bodies', async () => {
    const stream = await openStream();
    const token = await issuer.token({ company_role: SECRET, sub: SECRET });
    const headers = { Authorization: `Bearer ${token}`, Cookie: `a=${SECRET}`, [SECRET]: SECRET };
    await send(`/closed?${SECRET}=${SECRET}`, { headers });
    await send(`/open/a?${SECRET}`, { method: 'POST', body: SECRET, headers: { ...headers, Authorization: SECRET } });
    await eventually('both decisions arrive', () => stream.events('decision').length === 2);
    expect(stream.text()).not.toContain(SECRET);
    expect(stream.text()).not.toContain(token);
    await stream.close();
  });

  it.each([
    ['?filter=NOWHERE', ['/nowhere']],
    ['?filter=get+open', ['/open/a']],
    ['?filter=404', ['/nowhere']],
    ['?filter=route_unknown', ['/nowhere']],
    ['?filter=open+404', []],
    ['?filter=route:open', ['/open/a']],
    ['?filter=route:ope', []],
    ['?filter=upstream:up+get', ['/open/a']],
    ['?filter=refusal:route_unknown', ['/nowhere']],
    ['?filter=limits:other', []],
    ['?only=refused', ['/nowhere', '/closed']],
    ['?only=refused&filter=closed', ['/closed']],
  ])('sends the decisions that match %s', async (query, expected) => {
    const [stream, all] = [await openStream(query), await openStream()];
    for (const path of ['/open/a', '/nowhere', '/closed']) await send(path);
    await eventually('all decisions arrive', () => all.events('decision').length === 3);
    // Both streams are written at the same time, so a decision that is missing after another write was filtered out.
    await send('/nowhere/last');
    await eventually('one more decision arrives', () => all.events('decision').length === 4);
    const paths = stream.events('decision').map(({ path }) => path);
    expect(paths.filter((path) => path !== '/nowhere/last')).toEqual(expected);
    await stream.close();
    await all.close();
  });

  it('finds a request by its id, which a trusted proxy may set', async () => {
    const [stream, all] = [await openStream('?filter=req-404a'), await openStream()];
    for (const id of ['req-404', 'req-404a', 'req-404ab']) await send('/open/a', { headers: { 'X-Request-Id': id } });
    await eventually('all decisions arrive', () => all.events('decision').length === 3);
    await eventually('the decision arrives', () => stream.events('decision').length > 0);
    expect(stream.events('decision').map(({ id }) => id)).toEqual(['req-404a']);
    await stream.close();
    await all.close();
  });

  it('counts skipped decisions, and prefers refused requests', async () => {
    const stream = await openStream();
    const before = site.lines.length;
    const skipped = () => stream.events('skipped').reduce((sum, { count }) => sum + Number(count), 0);
    let sent = 0;
    // A busy machine may send one batch so slowly that nothing has to be skipped.
    await eventually('decisions are skipped', async () => {
      await Promise.all(Array.from({ length: 400 }, () => send('/open/a')));
      await send('/nowhere');
      sent += 401;
      return skipped() > 0;
    });
    await eventually('all requests are logged', () => site.lines.length === before + sent);
    await eventually('all decisions are sent or counted', () => stream.events('decision').length + skipped() === sent);
    expect(stream.events('decision').some(({ refusal }) => refusal === 'route_unknown')).toBe(true);
    await stream.close();
  });

  it('limits streams in total and per client, and unsubscribes after the last one', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => openStream()));
    expect(site.gateway.subscribers).toBe(1);
    const response = await fetch(`${site.admin.url}/decisions`);
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: 503, detail: expect.stringContaining('too many') },
    ]);
    // One client address cannot open all streams.
    const others = await Promise.all(Array.from({ length: 8 }, () => statusFrom('127.0.0.2')));
    expect(others.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const last = await statusFrom('127.0.0.3');
    expect(last.status).toBe(503);
    expect((await fetch(`${site.admin.url}/readyz`)).status).toBe(200);
    for (const { close } of [...others, last]) close();
    for (const stream of all) await stream.close();
    await eventually('the last stream is closed', () => site.gateway.subscribers === 0);
    await (await fetch(`${site.admin.url}/decisions`, { method: 'HEAD' })).text();
    expect(site.gateway.subscribers).toBe(0);
    expect((await fetch(`${site.admin.url}/decisions?only=passed`)).status).toBe(400);
  });

  it.each([
    ['nine words', Array(9).fill('a').join('+')],
    ['a long word', 'a'.repeat(201)],
  ])('refuses a filter of %s', async (_case, filter) => {
    const response = await fetch(`${site.admin.url}/decisions?filter=${filter}`);
    expect([response.status, await response.json()]).toEqual([
      400,
      { status: 400, detail: 'the filter is too long; use at most 8 words and 200 characters' },
    ]);
  });

  it('searches a bounded number of characters, and reports how many decisions it skipped', async () => {
    const { gateway } = site;
    const { subscribe } = gateway;
    let publish: Parameters<typeof subscribe>[0] = () => undefined;
    gateway.subscribe = (listener) => {
      publish = listener;
      return subscribe.call(gateway, listener);
    };
    const streams = await Promise.all(Array.from({ length: 8 }, () => openStream('?filter=a+b+c+d+e+f+g+nowhere')));
    const path = `/${'abcdefg'.repeat(20)}`;
    const unparsed = createUnparsedRecord('x', new Refusal('message_malformed'), undefined);
    const record = { ...unparsed, method: 'GET', status: 200, refusal: undefined, path };
    const COUNT = 20_000;
    for (let at = 0; at < COUNT; at += 1) publish({ ...record, time: at });
    const skipped = (stream: DecisionStream) =>
      stream.events('skipped').reduce((sum, { count }) => sum + Number(count), 0);
    await eventually('all streams report skipped decisions', () =>
      streams.every((stream) => skipped(stream) > COUNT * 0.9),
    );
    expect(streams.flatMap((stream) => stream.events('decision'))).toEqual([]);
    const { value } = await scrape(site.admin.url);
    expect(value('skipped_decisions_total')).toBeGreaterThan(8 * COUNT * 0.9);
    for (const stream of streams) await stream.close();
    await eventually('all streams are closed', () => gateway.subscribers === 0);
    gateway.subscribe = subscribe;
  });

  it('bounds the characters of one write, also for a fast client', async () => {
    const stream = await openStream();
    const before = site.lines.length;
    await Promise.all(Array.from({ length: 60 }, () => send(`/open/${'a'.repeat(12_000)}`)));
    await eventually('all requests are logged', () => site.lines.length === before + 60);
    const skipped = () => stream.events('skipped').reduce((sum, { count }) => sum + Number(count), 0);
    await eventually('all decisions are sent or counted', () => stream.events('decision').length + skipped() === 60);
    // One write has at most 64 kB plus one decision.
    expect(stream.events('decision').length).toBeLessThan(60);
    await stream.close();
  });
});
