import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { totp } from '../../examples/platform/totp.ts';
import { type Platform, startPlatform } from '../support/platform.ts';

const MESSAGE = 'API gateway is restricted to company admin and user roles';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

async function lastMailBody(email: string, subject: RegExp): Promise<string> {
  const outbox = await fetch(`${platform.sandbox.identityUrl}/outbox`);
  const { data } = (await outbox.json()) as { data: { to: string; subject: string; body: string }[] };
  const mail = data.filter(({ to }) => to === email).findLast((each) => subject.test(each.subject));
  return mail?.body ?? '';
}

async function mailedToken(email: string, subject: RegExp): Promise<string> {
  return /[A-Za-z0-9_-]{20,}/.exec(await lastMailBody(email, subject))?.[0] ?? '';
}

async function mailedCode(email: string): Promise<string> {
  return /\d{6}/.exec(await lastMailBody(email, /code/i))?.[0] ?? '';
}

describe('login', () => {
  it('returns a bearer token at data.access_token for protected routes', async () => {
    const body = { email: 'user@acme.example', password: 'demo-password' };
    const response = await platform.call('POST', '/api/v1/login', { body });
    expect(response.status).toBe(200);
    const { data } = (await response.json()) as { data: { access_token: string } };
    expect(data.access_token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect((await platform.call('GET', '/api/contacts', { token: data.access_token })).status).toBe(200);
  });

  it('allows the roles admin and user', async () => {
    for (const email of ['admin@acme.example', 'user@acme.example']) {
      const token = await platform.login(email);
      expect((await platform.call('GET', '/api/workflows', { token })).status).toBe(200);
    }
  });

  it('refuses another role with 403 and the message, without the token', async () => {
    const body = { email: 'auditor@acme.example', password: 'demo-password' };
    const response = await platform.call('POST', '/api/v1/login', { body });
    expect(response.status).toBe(403);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ message: MESSAGE, detail: MESSAGE, code: 'role_not_allowed' });
    expect(text).not.toContain('eyJ');
  });

  it("forwards the upstream's 401 for wrong credentials unchanged", async () => {
    const body = { email: 'user@acme.example', password: 'wrong' };
    const response = await platform.call('POST', '/api/v1/login', { body });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ status: 'error', message: 'invalid credentials' });
  });

  it('forwards an MFA challenge, which a code completes', async () => {
    const body = { email: 'mfa@acme.example', password: 'demo-password' };
    const challenge = await platform.call('POST', '/api/v1/login', { body });
    expect(challenge.status).toBe(200);
    const { data } = (await challenge.json()) as { data: Record<string, string> };
    expect(data).not.toHaveProperty('access_token');
    const secret = platform.sandbox.accounts.find(({ email }) => email === 'mfa@acme.example')?.totpSecret ?? '';
    const completion = { challenge_id: data['challenge_id'], code: totp(secret, Date.now()) };
    const completed = await platform.call('POST', '/api/v1/login/mfa/totp', { body: completion });
    const { data: result } = (await completed.json()) as { data: { access_token: string } };
    expect((await platform.call('GET', '/api/contacts', { token: result.access_token })).status).toBe(200);
  });

  it('checks the role of a social login', async () => {
    const social = (access_token: string) =>
      platform.call('POST', '/api/v1/social-auth', { body: { provider: 'google', access_token } });
    expect((await social('google-demo-token-of-the-user')).status).toBe(200);
    const refused = await social('google-demo-token-of-the-auditor');
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ message: MESSAGE });
    expect((await social('no such token')).status).toBe(401);
  });
});

describe('the role check of protected requests', () => {
  it('refuses another role with 403 and the message on every protected route', async () => {
    const token = await platform.tokenPastTheGateway('auditor@acme.example');
    const protectedRoutes = platform.gateway.plan.routes.filter(({ access }) => access === 'protected');
    expect(protectedRoutes.length).toBeGreaterThan(15);
    for (const route of protectedRoutes) {
      const path = route.path.replaceAll(/\{\w+\}/g, 'x').replace('**', 'x');
      const response = await platform.call(route.methods[0] ?? '', path, { token });
      expect([route.id, response.status]).toEqual([route.id, 403]);
      expect(await response.json()).toMatchObject({ message: MESSAGE });
    }
  });

  it('refuses a missing or invalid token with 401 and a Bearer challenge', async () => {
    const none = await platform.call('GET', '/api/contacts');
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="signing-gateway"']);
    const invalid = await platform.call('GET', '/api/contacts', { token: 'not.a.token' });
    expect(invalid.status).toBe(401);
    expect(invalid.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  it('accepts no other credentials: API keys, signatures, cookies', async () => {
    const token = await platform.login('user@acme.example');
    const others = { 'X-Api-Key': token, Cookie: `access_token=${token}`, 'X-Signature': token };
    expect((await platform.call('GET', '/api/contacts', { headers: others })).status).toBe(401);
    expect((await platform.call('GET', `/api/contacts?access_token=${token}`)).status).toBe(401);
  });
});

describe('factors', () => {
  it('enrols factors on the protected MFA routes', async () => {
    expect((await platform.call('POST', '/api/v1/mfa/totp/enroll')).status).toBe(401);
    const token = await platform.login('admin@globex.example');
    const enrolled = await platform.call('POST', '/api/v1/mfa/totp/enroll', { token });
    const { data } = (await enrolled.json()) as { data: { secret: string } };
    const body = { code: totp(data.secret, Date.now()) };
    expect((await platform.call('POST', '/api/v1/mfa/totp/confirm', { token, body })).ok).toBe(true);
    const factors = await platform.call('GET', '/api/v1/mfa/factors', { token });
    expect(JSON.stringify(await factors.json())).toContain('totp');
  });

  it('enrols an e-mail factor, which the next login requires', async () => {
    const email = 'user@acme.example';
    const token = await platform.login(email);
    expect((await platform.call('POST', '/api/v1/mfa/email/enroll', { token })).status).toBe(202);
    const body = { code: await mailedCode(email) };
    expect((await platform.call('POST', '/api/v1/mfa/email/confirm', { token, body })).status).toBe(200);
    const challenge = await platform.call('POST', '/api/v1/login', { body: { email, password: 'demo-password' } });
    const { data } = (await challenge.json()) as { data: Record<string, unknown> };
    expect(data).toMatchObject({ mfa_required: true, methods: ['email'] });
    const completion = { challenge_id: data['challenge_id'], code: await mailedCode(email) };
    const completed = await platform.call('POST', '/api/v1/login/mfa/email', { body: completion });
    expect(completed.status).toBe(200);
    expect((await platform.call('DELETE', '/api/v1/mfa/factors/email', { token })).status).toBe(200);
    expect(await platform.login(email)).toMatch(/^eyJ/);
  });
});

describe('password reset and e-mail verification', () => {
  it('resets a password with a mailed token, without a login', async () => {
    const email = 'user@acme.example';
    expect((await platform.call('POST', '/api/v1/password/forgot', { body: { email } })).status).toBe(202);
    const body = { token: await mailedToken(email, /password/i), password: 'another-password' };
    expect((await platform.call('POST', '/api/v1/password/reset', { body })).ok).toBe(true);
    const login = await platform.call('POST', '/api/v1/login', { body: { email, password: 'another-password' } });
    expect(login.status).toBe(200);
  });

  it('verifies an e-mail address with a mailed token, without a login', async () => {
    const email = 'admin@acme.example';
    expect((await platform.call('POST', '/api/v1/email/verification', { body: { email } })).status).toBe(202);
    const body = { token: await mailedToken(email, /verif|confirm/i) };
    expect((await platform.call('POST', '/api/v1/email/verify', { body })).status).toBe(200);
  });

  it('verifies an e-mail address with the link in a mail', async () => {
    const email = 'admin@acme.example';
    await platform.call('POST', '/api/v1/email/verification', { body: { email } });
    const link = `/api/v1/email/verify?token=${await mailedToken(email, /verif|confirm/i)}`;
    expect((await platform.call('GET', link)).status).toBe(200);
    expect((await platform.call('GET', link)).status).toBe(404);
  });
});
