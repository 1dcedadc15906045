import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../examples/platform/sandbox.ts';
import { totp } from '../../examples/platform/totp.ts';
import { type RequestOptions, request, startSandbox, tokenOf } from './client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

const identity = (line: string, options?: RequestOptions) => request(sandbox.identityUrl, line, options);
const lastMail = async () => (await identity('GET /outbox')).body.data.at(-1);

describe('login', () => {
  it.each(['admin', 'user', 'auditor'])('issues a token to the %s that the published key verifies', async (role) => {
    const json = { email: `${role}@acme.example`, password: 'demo-password' };
    const login = await identity('POST /api/v1/login', { json });
    expect(login.body.data).toMatchObject({ token_type: 'Bearer', expires_in: 3600, role });
    const keys = createLocalJWKSet((await identity('GET /.well-known/jwks.json')).body);
    const { payload, protectedHeader } = await jwtVerify(login.body.data.access_token, keys);
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'JWT', kid: expect.any(String) });
    expect(payload).toMatchObject({
      iss: 'https://identity.signing.example',
      aud: 'signing-gateway',
      company_role: role,
      company_id: 'acme',
      email: json.email,
      jti: expect.any(String),
    });
    expect(Number(payload.exp) - Number(payload.iat)).toBe(3600);
  });

  it('refuses a wrong password and an unknown address with the same message', async () => {
    const refused = { status: 401, body: { status: 'error', message: 'invalid credentials' } };
    for (const email of ['user@acme.example', 'nobody@acme.example']) {
      const response = await identity('POST /api/v1/login', { json: { email, password: 'wrong' } });
      expect(response).toMatchObject(refused);
    }
  });

  it('refuses missing fields and invalid JSON', async () => {
    const missing = await identity('POST /api/v1/login', { json: { email: 'user@acme.example' } });
    expect(missing).toMatchObject({ status: 400, body: { message: '"password" is required' } });
    expect(await identity('POST /api/v1/login', { body: '{' })).toMatchObject({ status: 400 });
    expect(await identity('POST /api/v1/login', { body: '[]' })).toMatchObject({ status: 400 });
  });

  it.each([
    ['google', 'google-demo-token-of-the-user', 'user'],
    ['google', 'google-demo-token-of-the-auditor', 'auditor'],
    ['facebook', 'facebook-demo-token-of-the-admin', 'admin'],
  ])('accepts the token of %s: %s', async (provider, access_token, role) => {
    const response = await identity('POST /api/v1/social-auth', { json: { provider, access_token } });
    expect(response.body.data).toMatchObject({ role, access_token: expect.any(String) });
  });

  it('refuses a social token of another provider', async () => {
    const json = { provider: 'facebook', access_token: 'google-demo-token-of-the-user' };
    expect(await identity('POST /api/v1/social-auth', { json })).toMatchObject({ status: 401 });
  });
});

describe('the second factor', () => {
  const credentials = { email: 'mfa@acme.example', password: 'demo-password' };
  const challenge = async () => (await identity('POST /api/v1/login', { json: credentials })).body.data;
  const complete = (challenge_id: string, code: string) =>
    identity('POST /api/v1/login/mfa/totp', { json: { challenge_id, code } });

  it('generates the codes of RFC 6238', () => {
    expect(totp('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', 59_000)).toBe('287082');
    expect(totp('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', 1_111_111_109_000)).toBe('081804');
  });

  it('requires a code and accepts it once', async () => {
    const first = await challenge();
    expect(first).toMatchObject({ mfa_required: true, methods: ['totp'], expires_in: 300 });
    expect(first).not.toHaveProperty('access_token');
    const secret = sandbox.accounts.find(({ email }) => email === credentials.email)?.totpSecret ?? '';
    const code = totp(secret, Date.now());
    expect((await complete(first.challenge_id, code)).body.data.access_token).toEqual(expect.any(String));
    expect(await complete(first.challenge_id, totp(secret, Date.now() + 30_000))).toMatchObject({ status: 401 });
    expect(await complete((await challenge()).challenge_id, code)).toMatchObject({ status: 401 });
  });

  it('ends a challenge with a wrong code', async () => {
    const { challenge_id } = await challenge();
    expect((await complete(challenge_id, 'wrong')).body.message).toBe('invalid code; log in again');
    expect((await complete(challenge_id, 'wrong')).body.message).toBe('the challenge is used or expired; log in again');
  });

  it('is enrolled, and required at the next login', async () => {
    const token = await tokenOf(sandbox, 'admin@globex.example');
    const { secret, otpauth_url } = (await identity('POST /api/v1/mfa/totp/enroll', { token })).body.data;
    expect(otpauth_url).toContain(secret);
    const code = totp(secret, Date.now());
    expect(await identity('POST /api/v1/mfa/totp/confirm', { token, json: { code: 'no' } })).toMatchObject({
      status: 400,
    });
    expect(await identity('POST /api/v1/mfa/totp/confirm', { token, json: { code } })).toMatchObject({ status: 200 });
    expect(await identity('POST /api/v1/mfa/totp/enroll', { token })).toMatchObject({ status: 409 });

    const factors = (await identity('GET /api/v1/mfa/factors', { token })).body.data;
    expect(factors).toEqual([{ kind: 'totp', confirmed_at: expect.any(String) }]);
    const json = { email: 'admin@globex.example', password: 'demo-password' };
    expect((await identity('POST /api/v1/login', { json })).body.data).toMatchObject({ mfa_required: true });
  });
});

describe('the e-mail factor', () => {
  const credentials = { email: 'user@acme.example', password: 'demo-password' };
  const login = async () => (await identity('POST /api/v1/login', { json: credentials })).body.data;
  const mailedCode = async (): Promise<string> => /^code: (\d{6})$/.exec((await lastMail()).body)?.[1] ?? '';
  const otherCode = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  let token: string;
  beforeAll(async () => {
    token = await tokenOf(sandbox, credentials.email);
  });
  const enrol = () => identity('POST /api/v1/mfa/email/enroll', { token });
  const confirm = (code: string) => identity('POST /api/v1/mfa/email/confirm', { token, json: { code } });
  const complete = (challenge_id: string, code: string, kind = 'email') =>
    identity(`POST /api/v1/login/mfa/${kind}`, { json: { challenge_id, code } });
  const remove = (kind: string) => identity(`DELETE /api/v1/mfa/factors/${kind}`, { token });

  it('is not required before a mailed code confirms it', async () => {
    expect(await enrol()).toMatchObject({ status: 202 });
    expect((await lastMail()).to).toBe(credentials.email);
    expect(await login()).toHaveProperty('access_token');
    expect((await identity('GET /api/v1/mfa/factors', { token })).body.data).toEqual([
      { kind: 'email', confirmed_at: null },
    ]);
  });

  it('accepts only the last code, for three attempts', async () => {
    await enrol();
    const old = await mailedCode();
    await enrol();
    const code = await mailedCode();
    if (old !== code) expect(await confirm(old)).toMatchObject({ status: 400 });
    else await confirm(otherCode(code));
    for (let attempt = 2; attempt <= 3; attempt += 1)
      expect(await confirm(otherCode(code))).toMatchObject({ status: 400 });
    expect(await confirm(code)).toMatchObject({ status: 400, body: { message: 'invalid or expired code' } });
  });

  it('is required at login after its confirmation, and is removed', async () => {
    await enrol();
    const code = await mailedCode();
    expect((await confirm(code)).body.data).toEqual([{ kind: 'email', confirmed_at: expect.any(String) }]);
    expect(await confirm(code)).toMatchObject({ status: 400 });
    expect(await enrol()).toMatchObject({ status: 409 });
    const challenge = await login();
    expect(challenge).toMatchObject({ mfa_required: true, methods: ['email'] });
    expect(challenge).not.toHaveProperty('access_token');
    const loginCode = await mailedCode();
    expect((await complete(challenge.challenge_id, loginCode)).body.data.access_token).toEqual(expect.any(String));
    expect(await complete((await login()).challenge_id, loginCode)).toMatchObject({
      status: loginCode === (await mailedCode()) ? 200 : 401,
    });
    expect(await complete((await login()).challenge_id, await mailedCode(), 'totp')).toMatchObject({ status: 401 });
    expect((await remove('email')).body.data).toEqual([]);
    expect(await remove('email')).toMatchObject({ status: 404 });
    expect(await remove('constructor')).toMatchObject({ status: 404 });
    expect(await login()).toHaveProperty('access_token');
  });

  it('does not make an unconfirmed TOTP factor complete a login', async () => {
    const { secret } = (await identity('POST /api/v1/mfa/totp/enroll', { token })).body.data;
    await enrol();
    await confirm(await mailedCode());
    const { challenge_id, methods } = await login();
    expect(methods).toEqual(['email']);
    expect(await complete(challenge_id, totp(secret, Date.now()), 'totp')).toMatchObject({ status: 401 });
    await remove('email');
    await remove('totp');
  });
});

describe('the authenticator', () => {
  it('shows the code that a TOTP factor accepts', async () => {
    const token = await tokenOf(sandbox, 'user@acme.example');
    const { secret } = (await identity('POST /api/v1/mfa/totp/enroll', { token })).body.data;
    const { code, seconds_left } = (await identity(`GET /authenticator/${secret}`)).body.data;
    expect(seconds_left).toBeGreaterThan(0);
    expect(await identity('POST /api/v1/mfa/totp/confirm', { token, json: { code } })).toMatchObject({ status: 200 });
    expect(await identity('DELETE /api/v1/mfa/factors/totp', { token })).toMatchObject({ status: 200 });
    expect(await identity('GET /authenticator/not-base32')).toMatchObject({ status: 400 });
  });
});

describe('recovery', () => {
  it('resets a password with the mailed token, once', async () => {
    const email = 'auditor@acme.example';
    const existing = await identity('POST /api/v1/password/forgot', { json: { email } });
    const token = (await lastMail()).body.replace('token: ', '');
    const unknown = await identity('POST /api/v1/password/forgot', { json: { email: 'nobody@acme.example' } });
    expect([unknown.status, unknown.body]).toEqual([202, existing.body]);
    const json = { token, password: 'another password' };
    expect(await identity('POST /api/v1/password/reset', { json: { token, password: 'short' } })).toMatchObject({
      status: 400,
    });
    expect(await identity('POST /api/v1/password/reset', { json })).toMatchObject({ status: 200 });
    expect(await identity('POST /api/v1/password/reset', { json })).toMatchObject({ status: 404 });
    const login = await identity('POST /api/v1/login', { json: { email, password: json.password } });
    expect(login).toMatchObject({ status: 200 });
  });

  it('verifies an address, but not with a token for another purpose', async () => {
    const json = { email: 'user@acme.example' };
    await identity('POST /api/v1/email/verification', { json });
    const [, token = '', link = ''] = /^token: (\S+)\nlink: (\S+)$/.exec((await lastMail()).body) ?? [];
    expect(link).toBe(`/api/v1/email/verify?token=${token}`);
    const misuse = await identity('POST /api/v1/password/reset', { json: { token, password: 'long enough' } });
    expect(misuse).toMatchObject({ status: 404 });
    expect(await identity('POST /api/v1/email/verify', { json: { token } })).toMatchObject({ status: 200 });
  });

  it('verifies an address with the mailed link, which a HEAD request does not use up', async () => {
    await identity('POST /api/v1/email/verification', { json: { email: 'user@acme.example' } });
    const [link] = /\/api\S+/.exec((await lastMail()).body) ?? [];
    expect(await identity(`HEAD ${link}`)).toMatchObject({ status: 200 });
    expect(await identity(`GET ${link}`)).toMatchObject({ status: 200 });
    expect(await identity(`GET ${link}`)).toMatchObject({ status: 404 });
    expect(await identity('GET /api/v1/email/verify')).toMatchObject({ status: 400 });
  });
});

describe('the company', () => {
  it('returns its settings, users and license, and updates its settings', async () => {
    const token = await tokenOf(sandbox, 'admin@acme.example');
    const changed = await identity('PATCH /api/company/settings', { token, json: { reminder_days: 7 } });
    expect(changed.body.data).toMatchObject({ locale: 'en', reminder_days: 7 });
    expect((await identity('GET /api/company/settings', { token })).body.data).toEqual(changed.body.data);
    const wrong = await identity('PATCH /api/company/settings', { token, json: { constructor: 1 } });
    expect(wrong).toMatchObject({ status: 400 });
    const users = (await identity('GET /api/company/users', { token })).body;
    expect(users.meta.total).toBe(4);
    expect(JSON.stringify(users)).not.toContain('globex');
    expect((await identity('GET /api/company/license', { token })).body.data).toMatchObject({ seats: 25 });
  });

  it('changes its settings only for an administrator', async () => {
    const json = { reminder_days: 9 };
    const token = await tokenOf(sandbox, 'user@acme.example');
    const refused = await identity('PATCH /api/company/settings', { token, json });
    expect(refused).toMatchObject({ status: 403, body: { message: 'only the role admin may do this, not user' } });
    expect((await identity('GET /api/company/settings', { token })).body.data.reminder_days).not.toBe(9);
  });

  it('requires a token', async () => {
    const response = await identity('GET /api/company/settings');
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await identity('GET /api/company/settings', { token: 'a.b.c' })).toMatchObject({ status: 401 });
  });
});
