import { afterEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Respond, startUpstream, type Upstream } from '../../support/upstream.ts';

let upstream: Upstream | undefined;
let gateway: TestGateway | undefined;

afterEach(async () => {
  await gateway?.close();
  await upstream?.close();
});

const respondToLogin: Respond = (_request, response, body) => {
  const { password } = JSON.parse(body.toString());
  response.statusCode = password === 'right' ? 200 : 401;
  response.end();
};

function manifestOf(limits: string, route: string): string {
  return `version: 1
listen: 127.0.0.1:0
upstreams: { identity: { url: '${upstream?.url}' } }
rateLimits:
${limits}
routes:
  - id: login
    method: POST
    path: /login
    upstream: identity
    access: public
    body:
      maxBytes: 4KB
      schema: { type: object, required: [email, password], properties: { email: { type: string }, password: { type: string } } }
    ${route}`;
}

async function start(limits: string, route: string, respond: Respond = respondToLogin): Promise<void> {
  upstream = await startUpstream(respond);
  gateway = await startGateway(manifestOf(limits, route));
}

const login = (email: string, password = 'wrong') =>
  fetch(`${gateway?.url}/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });

const ACCOUNT = '  account: { key: { body: /email, fold: case }, missing: refuse, allow: 5 per 15m, count: failures }';

describe('count: failures', () => {
  it('lets exactly 5 of 200 parallel guesses reach the upstream', async () => {
    await start(ACCOUNT, 'rateLimits: [account]');
    const responses = await Promise.all(Array.from({ length: 200 }, () => login('user@example.com')));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(195);
    expect(upstream?.requests).toHaveLength(5);
  });

  it('takes successful logins back', async () => {
    await start(ACCOUNT, 'rateLimits: [account]');
    for (let index = 0; index < 20; index += 1) expect((await login('user@example.com', 'right')).status).toBe(200);
    for (let index = 0; index < 5; index += 1) expect((await login('user@example.com')).status).toBe(401);
    expect((await login('user@example.com', 'right')).status).toBe(429);
  });

  it('counts spellings of one account together', async () => {
    await start(ACCOUNT, 'rateLimits: [account]');
    for (const email of ['a@example.com', 'A@example.com', ' a@EXAMPLE.com', 'ａ@example.com', 'a@example.com '])
      expect((await login(email)).status).toBe(401);
    expect((await login('a@example.com')).status).toBe(429);
    expect((await login('b@example.com')).status).toBe(401);
  });
});

describe('a request over the limit', () => {
  it('gets 429 with the exact time to wait, and no hint of the limit', async () => {
    await start('  client: { key: client, allow: 1 per 90s }', 'rateLimits: [client]');
    expect((await login('a')).status).toBe(401);
    const response = await login('a');
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('90');
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    const { code, detail } = (await response.json()) as Record<string, string>;
    expect(code).toBe('rate_limit_exceeded');
    expect(detail).not.toContain('client');
    await expect.poll(() => gateway?.lines.at(-1)).toMatchObject({ refusal: 'rate_limit_exceeded', limit: 'client' });
  });

  it('counts against no limit, before or after the one that refuses it', async () => {
    const limits = `  address: { key: client, allow: 12 per 15m }
  account: { key: { body: /email }, missing: refuse, allow: 2 per 15m }
  accounts: { key: [client, { body: /email }], missing: refuse, allow: 3 per 1h }`;
    await start(limits, 'rateLimits: [address, account, accounts]');
    for (let index = 0; index < 2; index += 1) expect((await login('a@example.com')).status).toBe(401);
    for (let index = 0; index < 20; index += 1) expect((await login('a@example.com')).status).toBe(429);
    for (let index = 0; index < 10; index += 1) expect((await login(`b${index}@example.com`)).status).toBe(401);
    expect((await login('c@example.com')).status).toBe(429);
    const { counts } = gateway?.gateway.rateLimiter ?? {};
    expect(counts?.get('address')).toMatchObject({ allowed: 32, released: 20, refused: 1 });
    expect(counts?.get('account')).toMatchObject({ allowed: 12, refused: 20 });
    expect(counts?.get('accounts')).toMatchObject({ allowed: 32, released: 20, refused: 0 });
  });

  it('is forwarded and recorded if the limit only reports', async () => {
    await start('  client: { key: client, allow: 1 per 90s, mode: report }', 'rateLimits: [client]');
    await login('a');
    expect((await login('a')).status).toBe(401);
    await expect
      .poll(() => gateway?.lines.at(-1))
      .toMatchObject({
        reported: [{ code: 'rate_limit_exceeded', limit: 'client' }],
      });
    expect(gateway?.gateway.rateLimiter.counts.get('client')).toMatchObject({ allowed: 1, reported: 1 });
  });
});

it('continues to count after a reload that enforces the limit', async () => {
  const limit = (mode: string) => `  client: { key: client, allow: 3 per 15m, mode: ${mode} }`;
  await start(limit('report'), 'rateLimits: [client]');
  for (let index = 0; index < 3; index += 1) await login('a');
  gateway?.swap(manifestOf(limit('enforce'), 'rateLimits: [client]'));
  expect((await login('a')).status).toBe(429);
});
