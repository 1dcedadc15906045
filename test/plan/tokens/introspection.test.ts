import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TokenErrorCode } from '../../../src/engine/gateway/response/refusal.ts';
import { scaledMs } from '../../support/slowness.ts';
import { startUpstream } from '../../support/upstream.ts';
import { type Identity, introspecting, outcomeOf, sendJson, startIdentity } from './identity-service.ts';
import { seconds, verifierFor } from './keys.ts';

let identity: Identity;

beforeEach(async () => {
  identity = await startIdentity();
});

afterEach(() => identity.close());

describe('an introspection request', () => {
  const header = (name: string) => {
    const headers = identity.requests.at(-1)?.headers ?? [];
    return headers[headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name) + 1];
  };

  test('is a POST with a form (RFC 7662)', async () => {
    await introspecting(identity.url).verify('opaque~token+/==');
    const { method, url, body } = identity.requests[0] ?? {};
    expect([method, url]).toEqual(['POST', '/introspect']);
    expect(body?.toString()).toBe('token=opaque%7Etoken%2B%2F%3D%3D&token_type_hint=access_token');
    expect(header('content-type')).toBe('application/x-www-form-urlencoded');
    expect(header('accept')).toBe('application/json');
  });

  test('authenticates by a header with form-encoded credentials (RFC 6749 section 2.3.1)', async () => {
    const tokens = { endpoint: identity.url, clientId: 'a:b c', clientSecret: '${SECRET}' };
    await verifierFor({ introspection: tokens }, { env: { SECRET: 'p%:ä' } }).verify('t');
    expect(header('authorization')).toBe(`Basic ${Buffer.from('a%3Ab+c:p%25%3A%C3%A4').toString('base64')}`);
  });

  test('authenticates by the form if configured', async () => {
    await introspecting(identity.url, { clientAuthentication: 'post' }).verify('t');
    expect(identity.requests[0]?.body.toString()).toBe(
      'token=t&token_type_hint=access_token&client_id=gateway&client_secret=hidden+one',
    );
    expect(identity.requests[0]?.headers).not.toContain('Authorization');
  });

  test.each(['', 'a b', 'a\r\nX: y', 'a"', 'a,b', '=', 'ä', 'a=b', 'x'.repeat(8193)])(
    'is not sent for %j, which is not a bearer token',
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
  ['for the configured timeout', '200ms', {}],
  ['no longer than the timeouts of the upstream', '1h', { connect: '100ms', response: '100ms' }],
])('the gateway waits for a response %s', async (_name, timeout, timeouts) => {
  identity.respond = () => undefined;
  const endpoint = { upstream: 'up', path: '/introspect' };
  const tokens = { introspection: { endpoint, clientId: 'gateway', clientSecret: '${SECRET}', timeout } };
  const verifier = verifierFor(tokens, { env: { SECRET: 's' }, upstreams: { up: { url: identity.url, timeouts } } });
  const start = performance.now();
  expect(await verifier.verify('token')).toEqual({ code: 'keys_unavailable', cause: 'timeout' });
  expect(performance.now() - start).toBeGreaterThan(190);
  expect(performance.now() - start).toBeLessThan(scaledMs(2_500));
});

test('accepts a timeout above the maximum of a timer', async () => {
  expect(await outcomeOf(introspecting(identity.url, { timeout: '999999999h' }), 'token')).toBe('accepted');
});

describe('an introspection response', () => {
  test.each<[string, unknown, TokenErrorCode | 'accepted']>([
    ['that is active', { active: true }, 'accepted'],
    ['that is inactive', { active: false }, 'token_inactive'],
    ['that is inactive, with further claims', { active: false, exp: seconds() + 60 }, 'token_inactive'],
    ['with the string true', { active: 'true' }, 'keys_unavailable'],
    ['with the string false', { active: 'false' }, 'keys_unavailable'],
    ['with 1', { active: 1 }, 'keys_unavailable'],
    ['with null', { active: null }, 'keys_unavailable'],
    ['with a list', { active: [true] }, 'keys_unavailable'],
    ['with a map', { active: { active: true } }, 'keys_unavailable'],
    ['without active', {}, 'keys_unavailable'],
    ['with active in capitals', { ACTIVE: true }, 'keys_unavailable'],
    ['with active in a nested object', { data: { active: true } }, 'keys_unavailable'],
    ['of a token that expires later', { active: true, exp: seconds() + 60 }, 'accepted'],
    ['of an expired token', { active: true, exp: seconds() - 60 }, 'token_expired'],
    ['with a string as exp', { active: true, exp: String(seconds() + 60) }, 'claims_wrong'],
    ['of a token that is not valid yet', { active: true, nbf: seconds() + 60 }, 'token_not_yet_valid'],
    ['of a token from the future', { active: true, iat: seconds() + 60 }, 'token_not_yet_valid'],
    ['of a bearer token', { active: true, token_type: 'Bearer' }, 'accepted'],
    ['of an access token', { active: true, token_type: 'access_token' }, 'accepted'],
    ['of a refresh token', { active: true, token_type: 'refresh_token' }, 'type_wrong'],
    ['of a token that is bound to a key', { active: true, token_type: 'DPoP' }, 'type_wrong'],
    ['with a list as its type', { active: true, token_type: ['Bearer'] }, 'type_wrong'],
  ])('%s', async (_name, body, expected) => {
    identity.respond = (response) => sendJson(response, body);
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
  ])('%o of %o is %s', async (changes, body, expected) => {
    identity.respond = (response) => sendJson(response, { active: true, ...(body as object) });
    expect(await outcomeOf(introspecting(identity.url, changes), 'token')).toBe(expected);
  });
});

const GOOD = '{"active":true}';

describe('an unusable response makes the keys unavailable', () => {
  test.each<[string, Identity['respond']]>([
    ['HTML', (response) => sendJson(response, '<h1>hello</h1>', 200, 'text/html')],
    ['JSON with another media type', (response) => sendJson(response, GOOD, 200, 'text/plain')],
    [
      'JSON with two media types',
      (response) =>
        void response.writeHead(200, ['Content-Type', 'application/json', 'Content-Type', 'text/html']).end(GOOD),
    ],
    ['a signed response', (response) => sendJson(response, GOOD, 200, 'application/token-introspection+jwt')],
    ['JSON without a media type', (response) => void response.end(GOOD)],
    ['an empty body', (response) => sendJson(response, '')],
    ['a list', (response) => sendJson(response, [{ active: true }])],
    ['true', (response) => sendJson(response, true)],
    ['a duplicate name', (response) => sendJson(response, '{"active":false,"active":true}')],
    ['a duplicate name with an escape', (response) => sendJson(response, '{"active":true,"\\u0061ctive":true}')],
    ['__proto__', (response) => sendJson(response, '{"active":true,"__proto__":{"company_role":"admin"}}')],
    ['a byte order mark', (response) => sendJson(response, `\uFEFF${GOOD}`)],
    [
      'a truncated body',
      (response) => void response.writeHead(200, { 'Content-Length': 99, Connection: 'close' }).end(GOOD),
    ],
    ['a reset', (response) => void response.socket?.resetAndDestroy()],
    ['201', (response) => sendJson(response, GOOD, 201)],
    ['204', (response) => void response.writeHead(204).end()],
    ['400', (response) => sendJson(response, GOOD, 400)],
    ['401: wrong credentials of the gateway', (response) => sendJson(response, GOOD, 401)],
    ['403', (response) => sendJson(response, GOOD, 403)],
    ['404', (response) => sendJson(response, GOOD, 404)],
    ['429', (response) => sendJson(response, GOOD, 429)],
    ['500', (response) => sendJson(response, GOOD, 500)],
    ['503', (response) => sendJson(response, GOOD, 503)],
    ['300 kB', (response) => sendJson(response, { active: true, filler: 'x'.repeat(300_000) })],
    ['an endless body', (response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).write(GOOD)],
    ['no response', () => undefined],
  ])('%s', async (name, respond) => {
    identity.respond = respond;
    // The next response has to arrive in time too, also on a busy machine.
    const isEndless = name === 'an endless body' || name === 'no response';
    const verifier = introspecting(identity.url, { timeout: isEndless ? '1s' : '30s' });
    expect(await outcomeOf(verifier, 'token')).toBe('keys_unavailable');
    identity.respond = (response) => sendJson(response, GOOD);
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
  });

  test('stops reading a response of 10 MB early', async () => {
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

  test.each([301, 302, 303, 307, 308])('does not follow a redirect (%i)', async (status) => {
    const other = await startUpstream((_request, response) => sendJson(response, GOOD));
    try {
      identity.respond = (response) => void response.writeHead(status, { location: other.url }).end();
      expect(await outcomeOf(introspecting(identity.url), 'token')).toBe('keys_unavailable');
      expect(other.requests).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('reports a refused connection', async () => {
    const verifier = introspecting(identity.url);
    await identity.close();
    expect(await verifier.verify('token')).toEqual({ code: 'keys_unavailable', cause: 'ECONNREFUSED' });
    identity = await startIdentity();
  });

  test('reports the cause without the token and the secret', async () => {
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
