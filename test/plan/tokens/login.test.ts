import { describe, expect, test } from 'vitest';
import type { Auth, RouteEntry } from '../../../src/engine/manifest/manifest.generated.ts';
import type { Finding } from '../../../src/engine/problem/finding.ts';
import { compileLogin } from '../../../src/engine/tokens/login.ts';

const part = (text: string) => Buffer.from(text).toString('base64url');
const JWT = `${part('{"alg":"ES256"}')}.${part('{"sub":"a"}')}.c2ln`;

const JWTS = { tokens: { jwt: {} }, role: 'any' } as Auth;
const OTHERS = { tokens: { userinfo: {} }, role: 'any' } as Auth;

function compiled(login: Partial<RouteEntry['login']>, auth: Auth | undefined = JWTS) {
  const findings: Finding[] = [];
  const entry = { websocket: false as const, login: { maxBytes: '1MB', ...login } };
  return { rule: compileLogin(entry, 3, auth, findings), findings };
}

describe('a login rule without a token location', () => {
  const { rule } = compiled({});
  const search = (text: string, headers: readonly string[] = []) => {
    const body = Buffer.from(text);
    const response = { status: 200, reason: 'OK', headers, body, encodedBody: body };
    return rule?.findTokens(response, { client: '', reserve: () => undefined });
  };

  test('finds every JWT in the body and the headers', () => {
    expect(search(`{"a":["${JWT}"],"b":"Bearer ${JWT}"}`)).toEqual({ declared: [JWT], undeclared: [] });
    expect(search('{}', ['Set-Cookie', `a=${JWT}`, 'X-A', 'b', 'Location', `/#${JWT}`])).toEqual({
      declared: [JWT],
      undeclared: [],
    });
    expect(search('', [JWT, 'b'])).toEqual({ declared: [JWT], undeclared: [] });
    expect(search('{"mfa":true}')).toEqual({ declared: [], undeclared: [] });
    expect(search(`{"a":"${JWT}","a":1}`)).toBe('login_response_not_json');
  });

  test('is an error if tokens are not JWTs, which have no recognizable form', () => {
    expect(compiled({}, OTHERS).findings).toEqual([
      {
        rule: 'login-token-path',
        severity: 'error',
        location: { path: ['routes', 3, 'login'], at: 'key' },
        message: 'only a JWT is found anywhere in the response; add token: /data/access_token or header: X-Auth-Token',
      },
    ]);
    for (const login of [{ token: '/a' }, { token: ['/a', '/b'] }, { header: 'X-A' }])
      expect(compiled(login, OTHERS).findings).toEqual([]);
    expect(compiled({}).findings).toEqual([]);
  });
});
