import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TokenErrorCode } from '../../../src/plan/tokens/verification-result.ts';
import { startUpstream } from '../../support/upstream.ts';
import { type Identity, introspecting, outcomeOf, sendJson, startIdentity } from './asking.ts';
import { seconds, verifierFor } from './keys.ts';

let identity: Identity;

beforeEach(async () => {
  identity = await startIdentity();
});

afterEach(() => identity.close());

describe('the question', () => {
  const header = (name: string) => {
    const headers = identity.requests.at(-1)?.headers ?? [];
    return headers[headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name) + 1];
  };

  test('is a form that is posted, as RFC 7662 has it', async () => {
    await introspecting(identity.url).verify('opaque~token+/==');
    const { method, url, body } = identity.requests[0] ?? {};
    expect([method, url]).toEqual(['POST', '/introspect']);
    expect(body?.toString()).toBe('token=opaque%7Etoken%2B%2F%3D%3D&token_type_hint=access_token');
    expect(header('content-type')).toBe('application/x-www-form-urlencoded');
    expect(header('accept')).toBe('application/json');
  });

  test('says who asks in the header, both parts encoded first (RFC 6749 section 2.3.1)', async () => {
    const tokens = { endpoint: identity.url, clientId: 'a:b c', clientSecret: '${SECRET}' };
    await verifierFor({ introspection: tokens }, { env: { SECRET: 'p%:ä' } }).verify('t');
    expect(header('authorization')).toBe(`Basic ${Buffer.from('a%3Ab+c:p%25%3A%C3%A4').toString('base64')}`);
  });

  test('or in the form', async () => {
    await introspecting(identity.url, { clientAuthentication: 'post' }).verify('t');
    expect(identity.requests[0]?.body.toString()).toBe(
      'token=t&token_type_hint=access_token&client_id=gateway&client_secret=not+told',
    );
    expect(identity.requests[0]?.headers).not.toContain('Authorization');
  });

  test.each(['', 'a b', 'a\r\nX: y', 'a"', 'a,b', '=', 'ä', 'a=b', 'x'.repeat(8193)])(
    'is not put for what is no bearer token: %j',
    async (token) => {
      expect(await outcomeOf(introspecting(identity.url), token)).toBe('token_malformed');
      expect(identity.requests).toEqual([]);
    },
  );

  test('goes to a path of an upstream', async () => {
    const endpoint = { upstream: 'up', path: '/oauth//introspect?realm=a' };
    const tokens = { introspection: { endpoint, clientId: 'gateway', clientSecret: '${SECRET}' } };
    const verifier = verifierFor(tokens, { env: { SECRET: 's' }, upstreams: { up: { url: identity.url } } });
    expect(await outcomeOf(verifier, 't')).toBe('accepted');
    expect(identity.requests[0]?.url).toBe('/oauth//introspect?realm=a');
  });
});

test.each([
  ['as long as the manifest says', '200ms', {}],
  ['no longer than the upstream itself may take', '1h', { connect: '100ms', response: '100ms' }],
])('an answer is waited for %s', async (_name, timeout, timeouts) => {
  identity.respond = () => undefined;
  const endpoint = { upstream: 'up', path: '/introspect' };
  const tokens = { introspection: { endpoint, clientId: 'gateway', clientSecret: '${SECRET}', timeout } };
  const verifier = verifierFor(tokens, { env: { SECRET: 's' }, upstreams: { up: { url: identity.url, timeouts } } });
  const start = performance.now();
  expect(await verifier.verify('token')).toEqual({ code: 'keys_unavailable', cause: 'timeout' });
  expect(performance.now() - start).toBeGreaterThan(190);
  expect(performance.now() - start).toBeLessThan(2_500);
});

test('a time limit may be as long as can be written', async () => {
  expect(await outcomeOf(introspecting(identity.url, { timeout: '999999999h' }), 'token')).toBe('accepted');
});

describe('the answer says that', () => {
  test.each<[string, unknown, TokenErrorCode | 'accepted']>([
    ['it is good', { active: true }, 'accepted'],
    ['it is not', { active: false }, 'token_inactive'],
    ['it is not, whatever else there is', { active: false, exp: seconds() + 60 }, 'token_inactive'],
    ['true, as a string', { active: 'true' }, 'keys_unavailable'],
    ['false, as a string', { active: 'false' }, 'keys_unavailable'],
    ['1', { active: 1 }, 'keys_unavailable'],
    ['null', { active: null }, 'keys_unavailable'],
    ['a list', { active: [true] }, 'keys_unavailable'],
    ['a map', { active: { active: true } }, 'keys_unavailable'],
    ['nothing', {}, 'keys_unavailable'],
    ['in capitals', { ACTIVE: true }, 'keys_unavailable'],
    ['further in', { data: { active: true } }, 'keys_unavailable'],
    ['it lives', { active: true, exp: seconds() + 60 }, 'accepted'],
    ['it is over', { active: true, exp: seconds() - 60 }, 'token_expired'],
    ['its end is a string', { active: true, exp: String(seconds() + 60) }, 'claims_wrong'],
    ['it begins later', { active: true, nbf: seconds() + 60 }, 'token_not_yet_valid'],
    ['it was made later', { active: true, iat: seconds() + 60 }, 'token_not_yet_valid'],
    ['it is its bearer’s', { active: true, token_type: 'Bearer' }, 'accepted'],
    ['it is an access token', { active: true, token_type: 'access_token' }, 'accepted'],
    ['it is a refresh token', { active: true, token_type: 'refresh_token' }, 'type_wrong'],
    ['it is bound to a key', { active: true, token_type: 'DPoP' }, 'type_wrong'],
    ['its type is a list', { active: true, token_type: ['Bearer'] }, 'type_wrong'],
  ])('%s', async (_name, answer, expected) => {
    identity.respond = (response) => sendJson(response, answer);
    const verifier = introspecting(identity.url);
    expect(await outcomeOf(verifier, 'token')).toBe(expected);
    expect(verifier.cached('token') !== undefined).toBe(expected === 'accepted');
  });

  test.each<[object, unknown, TokenErrorCode | 'accepted']>([
    [{}, { iss: 'https://other.test', aud: 'other' }, 'accepted'],
    [{ issuer: 'https://i.test' }, { iss: 'https://i.test' }, 'accepted'],
    [{ issuer: 'https://i.test' }, { iss: 'https://i.test/' }, 'issuer_wrong'],
    [{ issuer: 'https://i.test' }, {}, 'issuer_wrong'],
    [{ audience: 'me' }, { aud: ['you', 'me'] }, 'accepted'],
    [{ audience: 'me' }, { aud: 'you' }, 'audience_wrong'],
    [{ audience: 'me' }, {}, 'audience_wrong'],
    [{ requiredClaims: ['sub', 'exp'] }, { sub: 'a', exp: seconds() + 60 }, 'accepted'],
    [{ requiredClaims: ['sub', 'exp'] }, { sub: 'a' }, 'claims_wrong'],
    [{ clockTolerance: '2m' }, { exp: seconds() - 60 }, 'accepted'],
  ])('%o of %o is %s', async (changes, answer, expected) => {
    identity.respond = (response) => sendJson(response, { active: true, ...(answer as object) });
    expect(await outcomeOf(introspecting(identity.url, changes), 'token')).toBe(expected);
  });
});

const GOOD = '{"active":true}';

describe('what is no answer leaves the token unknown', () => {
  test.each<[string, Identity['respond']]>([
    ['HTML', (response) => sendJson(response, '<h1>hello</h1>', 200, 'text/html')],
    ['JSON by another name', (response) => sendJson(response, GOOD, 200, 'text/plain')],
    ['a signed answer', (response) => sendJson(response, GOOD, 200, 'application/token-introspection+jwt')],
    ['JSON without a name', (response) => void response.end(GOOD)],
    ['nothing', (response) => sendJson(response, '')],
    ['a list', (response) => sendJson(response, [{ active: true }])],
    ['true', (response) => sendJson(response, true)],
    ['a name twice', (response) => sendJson(response, '{"active":false,"active":true}')],
    ['a name twice, escaped', (response) => sendJson(response, '{"active":true,"\\u0061ctive":true}')],
    ['__proto__', (response) => sendJson(response, '{"active":true,"__proto__":{"company_role":"admin"}}')],
    ['a byte order mark', (response) => sendJson(response, `\uFEFF${GOOD}`)],
    ['half of it', (response) => void response.writeHead(200, { 'Content-Length': 99 }).end(GOOD)],
    ['a reset', (response) => void response.socket?.resetAndDestroy()],
    ['201', (response) => sendJson(response, GOOD, 201)],
    ['204', (response) => void response.writeHead(204).end()],
    ['400', (response) => sendJson(response, GOOD, 400)],
    ['401: the gateway itself is not known', (response) => sendJson(response, GOOD, 401)],
    ['403', (response) => sendJson(response, GOOD, 403)],
    ['404', (response) => sendJson(response, GOOD, 404)],
    ['429', (response) => sendJson(response, GOOD, 429)],
    ['500', (response) => sendJson(response, GOOD, 500)],
    ['503', (response) => sendJson(response, GOOD, 503)],
    ['300 kB', (response) => sendJson(response, { active: true, filler: 'x'.repeat(300_000) })],
    ['no end', (response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).write(GOOD)],
    ['no beginning', () => undefined],
  ])('%s', async (_name, respond) => {
    identity.respond = respond;
    const verifier = introspecting(identity.url, { timeout: '400ms' });
    expect(await outcomeOf(verifier, 'token')).toBe('keys_unavailable');
    identity.respond = (response) => sendJson(response, GOOD);
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
  });

  test('10 MB, of which no more than a little is read', async () => {
    let written = 0;
    const closed = new Promise<void>((resolve) => {
      identity.respond = (response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        const chunk = Buffer.alloc(65_536, ' ');
        const more = () => {
          while (!response.destroyed && written < 10_485_760) {
            written += chunk.length;
            if (!response.write(chunk)) return void response.once('drain', more);
          }
          response.end(GOOD);
        };
        response.on('close', resolve);
        more();
      };
    });
    expect(await introspecting(identity.url).verify('token')).toEqual({
      code: 'keys_unavailable',
      cause: 'response_too_long',
    });
    await closed;
    expect(written).toBeLessThan(10_485_760);
  });

  test.each([301, 302, 303, 307, 308])('a redirect (%i), which is not followed', async (status) => {
    const other = await startUpstream((_request, response) => sendJson(response, GOOD));
    try {
      identity.respond = (response) => void response.writeHead(status, { location: other.url }).end();
      expect(await outcomeOf(introspecting(identity.url), 'token')).toBe('keys_unavailable');
      expect(other.requests).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('nobody listens', async () => {
    const verifier = introspecting(identity.url);
    await identity.close();
    expect(await verifier.verify('token')).toEqual({ code: 'keys_unavailable', cause: 'ECONNREFUSED' });
    identity = await startIdentity();
  });

  test('and why is told, without the token and the secret', async () => {
    const causes: unknown[] = [];
    for (const respond of [
      (response) => sendJson(response, GOOD, 401),
      (response) => sendJson(response, { active: 'true' }),
      (response) => sendJson(response, 'no'),
    ] satisfies Identity['respond'][]) {
      identity.respond = respond;
      causes.push(await introspecting(identity.url).verify('token'));
    }
    expect(causes).toEqual([
      { code: 'keys_unavailable', cause: 'status_401' },
      { code: 'keys_unavailable', cause: 'active_not_boolean' },
      { code: 'keys_unavailable', cause: 'response_not_json' },
    ]);
  });
});
