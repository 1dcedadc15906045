import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Platform, startPlatform } from '../../support/platform.ts';
import { eventually } from '../../support/site.ts';

let platform: Platform;
let now = 0;

beforeEach(async () => {
  platform = await startPlatform(() => now);
});
afterEach(() => platform.close());

const USER = 'user@acme.example';
const PASSWORD = 'demo-password';

async function statusesOf(requests: readonly Promise<Response>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(requests)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const login = (email: string, password = 'wrong', headers = {}) =>
  platform.call('POST', '/api/v1/login', { body: { email, password }, headers });

const repeat = (times: number, send: (index: number) => Promise<Response>) =>
  Array.from({ length: times }, (_, n) => send(n));

/** Returns the parts of a response that a client sees, without those that differ between any two requests. */
async function visible(response: Response) {
  const { request_id, ...body } = (await response.json()) as Record<string, unknown>;
  expect(request_id).toEqual(expect.any(String));
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !['date', 'retry-after'].includes(name)));
  return { status: response.status, headers, body };
}

describe('gateway.yaml', () => {
  it('forwards 5 of 100 parallel guesses for an account, in any spelling of it and with any forwarding header', async () => {
    const spellings = [USER, USER.toUpperCase(), ` ${USER}`, 'User@acme.example'];
    const send = (n: number) => login(spellings[n % 4] as string, 'wrong', { 'X-Forwarded-For': `192.0.2.${n}` });
    expect(await statusesOf(repeat(100, send))).toEqual({ 401: 5, 429: 95 });
    expect((await login(USER, PASSWORD)).status).toBe(429);
    expect((await login('admin@acme.example', PASSWORD)).status).toBe(200);
  });

  it('forwards 30 failures of an address, for logins, social logins and second factors together', async () => {
    expect(await statusesOf(repeat(20, (n) => login(`a${n}@acme.example`)))).toEqual({ 401: 20 });
    const social = () =>
      platform.call('POST', '/api/v1/social-auth', { body: { provider: 'google', access_token: 'invented' } });
    expect(await statusesOf(repeat(9, social))).toEqual({ 401: 9 });
    const factor = () =>
      platform.call('POST', '/api/v1/login/mfa/totp', { body: { challenge_id: 'invented', code: '000000' } });
    expect(await statusesOf(repeat(1, factor))).toEqual({ 401: 1 });
    expect(await statusesOf([login('new@acme.example'), social(), factor()])).toEqual({ 429: 3 });
  });

  it('refuses guesses for existing and unknown accounts, and by either limit, in the same way', async () => {
    await Promise.all([...repeat(5, () => login(USER)), ...repeat(5, () => login('nobody@acme.example'))]);
    const existing = await visible(await login(USER));
    expect(existing).toMatchObject({ status: 429, body: { code: 'rate_limit_exceeded' } });
    expect(await visible(await login('nobody@acme.example'))).toEqual(existing);
    await Promise.all(repeat(30, (n) => login(`a${n}@acme.example`)));
    expect(await visible(await login('new@acme.example'))).toEqual(existing);
    await eventually('the log', () => platform.lines.at(-1)?.['limit'] === 'login-address');
    expect(platform.lines.map(({ limit }) => limit)).toContain('login-account');
  });

  it('allows one more guess for an account every 3 minutes', async () => {
    await Promise.all(repeat(5, () => login(USER)));
    const refused = await login(USER);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '180']);
    now += 179_000;
    expect((await login(USER)).status).toBe(429);
    now += 1_000;
    expect((await login(USER)).status).toBe(401);
    expect((await login(USER)).status).toBe(429);
  });

  it('does not count successful logins', async () => {
    for (let round = 0; round < 3; round += 1)
      expect(await statusesOf(repeat(4, () => login(USER, PASSWORD)))).toEqual({ 200: 4 });
  });

  it('counts every password reset and verification of an address', async () => {
    const forgot = () => platform.call('POST', '/api/v1/password/forgot', { body: { email: USER } });
    const verify = () => platform.call('POST', '/api/v1/email/verification', { body: { email: USER } });
    expect(await statusesOf([...repeat(15, forgot), ...repeat(15, verify)])).toEqual({ 202: 30 });
    expect(await statusesOf([forgot(), verify()])).toEqual({ 429: 2 });
    expect((await login(USER, PASSWORD)).status).toBe(200);
  });

  it('has a limit on every route except public downloads, and only reports those of callers', () => {
    const { routes, rateLimits: all } = platform.gateway.plan;
    expect(all.filter(({ mode }) => mode === 'report').map(({ id }) => id)).toEqual(['caller']);
    const limitsOf = ({ rateLimits }: (typeof routes)[number]) => Object.values(rateLimits ?? {}).flat();
    for (const route of routes.filter(({ access }) => access === 'protected'))
      expect([route.id, limitsOf(route).map(({ id }) => id)]).toEqual([route.id, ['caller']]);
    const without = routes.filter((route) => limitsOf(route).length === 0);
    expect(without.map(({ id }) => id)).toEqual([
      'certificate-download',
      'document-download',
      'document-verification',
      'attachment-download',
    ]);
  });
});
