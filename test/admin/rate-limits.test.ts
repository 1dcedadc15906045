import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../support/admin.ts';
import { scrape } from '../support/scrape.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const ACCOUNT = 'sentinel-ada@example.com';
const SECRET = 'sentinel-secret-0123456789';
const ADDRESS = '203.0.113.77';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
server: { trustedProxies: [127.0.0.1] }
upstreams: { up: { url: '\${UP}' } }
rateLimits:
  account: { key: { body: /email }, missing: refuse, allow: 2 per 1h, count: failures }
  client: { key: client, allow: 60 per 24h, burst: 1, mode: report }
  unused: { key: [route, client], allow: 1 per 1s }
routes:
  - id: login
    method: POST
    path: /login
    upstream: up
    access: public
    rateLimits: [account, client]
    body: { maxBytes: 1KB, schema: { type: object, required: [email], properties: { email: { type: string } } } }
  - { id: open, method: GET, path: /open, upstream: up, access: public }
`;

let upstream: Upstream;
let site: GatewayWithAdmin;

beforeAll(async () => {
  upstream = await startUpstream((_request, response, body) => {
    response.writeHead(body.toString().includes('right') ? 200 : 401).end();
  });
  site = await startGatewayWithAdmin(MANIFEST, { UP: upstream.url });
  for (const password of ['right', 'wrong', 'wrong', 'wrong']) await login(password);
});
afterAll(async () => {
  await site.close();
  await upstream.close();
});

/** Sends a login and waits until it is recorded. */
async function login(password: string): Promise<void> {
  const before = site.lines.length;
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': ADDRESS };
  const body = JSON.stringify({ email: ACCOUNT, password });
  await (await fetch(`${site.url}/login`, { method: 'POST', headers, body })).text();
  await eventually('recorded', () => site.lines.length > before);
}

async function read(path: string) {
  return JSON.parse(await (await fetch(site.admin.url + path)).text());
}

describe('a store that does not respond', () => {
  it('makes the gateway degraded, with the reason in /status', async () => {
    const text = MANIFEST.replace(
      'rateLimits:\n',
      "stores: { counters: { redis: 'redis://127.0.0.1:9', secret: '${SECRET}' } }\nrateLimits:\n",
    ).replace('mode: report }', 'store: counters }');
    const other = await startGatewayWithAdmin(text, { UP: upstream.url, SECRET });
    await (await fetch(`${other.url}/login`, { method: 'POST', body: '{}' })).text();
    const { status, reasons, stores, rate_limits } = JSON.parse(
      await (await fetch(`${other.admin.url}/status`)).text(),
    );
    await other.close();
    expect([status, reasons]).toEqual(['degraded', ['the store "counters" of rate limits does not respond']]);
    expect(stores).toEqual([
      {
        id: 'counters',
        state: 'down',
        since: expect.stringMatching(/^\d{4}-/),
        reason: 'no connection to the server',
        failures: { unreachable: expect.any(Number) },
        decisions_without: 1,
        pending: 0,
      },
    ]);
    expect(rate_limits[1]).toMatchObject({ id: 'client', store: 'counters', fallback: 1 });
    expect(JSON.stringify([stores, rate_limits])).not.toContain(SECRET);
  });
});

describe('the admin API', () => {
  it('reports each limit with its rule, its results and its values in /status', async () => {
    const { rate_limits, reported } = await read('/status');
    expect(rate_limits).toEqual([
      {
        id: 'account',
        key: ['body'],
        requests: 2,
        period_ms: 3_600_000,
        burst: 2,
        failures: [401, 403, 422],
        mode: 'enforce',
        store: null,
        allowed: 3,
        refused: 1,
        reported: 0,
        skipped: 0,
        undecided: 0,
        released: 1,
        fallback: 0,
        counters: 1,
        evicted: 0,
        overflowed: 0,
        retained: 0,
      },
      expect.objectContaining({ id: 'client', burst: 1, failures: null, mode: 'report', allowed: 1, reported: 3 }),
      expect.objectContaining({ id: 'unused', key: ['route', 'client'], allowed: 0, counters: 0 }),
    ]);
    // A limit that only reports is no violation of a schema.
    expect(reported).toEqual({});
  });

  it('reports the last minute and the last hour of each limit with requests in /traffic', async () => {
    const { limits } = await read('/traffic');
    const account = { requests: 4, refused: 1, reported: 0 };
    const client = { requests: 4, refused: 0, reported: 3 };
    expect(limits).toEqual([
      { id: 'account', ...account, last_hour: account },
      { id: 'client', ...client, last_hour: client },
    ]);
  });

  it('lists the limits of a route in the order in which they count', async () => {
    const { routes } = await read('/routes');
    expect(routes.map(({ rate_limits }: { rate_limits: string[] }) => rate_limits)).toEqual([
      ['client', 'account'],
      [],
    ]);
    const { limits } = await read('/route?id=login');
    expect(limits).toMatchObject([
      { id: 'client', key: ['client'], requests: 60, period_ms: 86_400_000, burst: 1, mode: 'report' },
      { id: 'account', failures: [401, 403, 422] },
    ]);
  });

  it('names the limits of a decision, and finds decisions by them', async () => {
    const controller = new AbortController();
    const response = await fetch(`${site.admin.url}/decisions?filter=account`, { signal: controller.signal });
    let text = '';
    const stream = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    await eventually('the stream is open', () => text.includes(': connected'));
    await login('wrong');
    await eventually('the decision', () => text.includes('event: decision'));
    controller.abort();
    await stream;
    const [, data = ''] = /^data: (.*)$/m.exec(text) ?? [];
    const decision = JSON.parse(data);
    expect(decision).toMatchObject({ refusal: 'rate_limit_exceeded', reason: 'rate_limit_exceeded', status: 429 });
    expect(new Set(decision.limits)).toEqual(new Set(['client', 'account']));
  });

  it('counts results, values and released requests as metrics', async () => {
    const { value } = await scrape(site.admin.url);
    const { counts } = site.gateway.rateLimiter;
    for (const limit of ['account', 'client', 'unused'])
      for (const result of ['allowed', 'refused', 'reported', 'skipped', 'undecided'] as const)
        expect(value('rate_limit_requests_total', { limit, result })).toBe(counts.get(limit)?.[result]);
    expect(value('rate_limit_requests_total', { limit: 'account', result: 'refused' })).toBe(2);
    expect(value('rate_limit_released_total', { limit: 'account' })).toBe(1);
    expect(value('rate_limit_fallback_total', { limit: 'account' })).toBe(0);
    expect(value('rate_limit_counters', { limit: 'account' })).toBe(1);
    expect(value('rate_limit_evicted_total', { limit: 'account' })).toBe(0);
    expect(value('rate_limit_overflowed_total', { limit: 'account' })).toBe(0);
    expect(value('validation_reports_total', { route: 'login' })).toBeNaN();
  });

  it('never shows a value that was counted, except the address in the log', async () => {
    for (const path of ['/status', '/traffic', '/history', '/route?id=login', '/metrics', '/manifest']) {
      const text = await (await fetch(site.admin.url + path)).text();
      expect(text).not.toContain('sentinel');
      expect(text).not.toContain(ADDRESS);
    }
    expect(JSON.stringify(site.lines)).not.toContain('sentinel');
  });
});
