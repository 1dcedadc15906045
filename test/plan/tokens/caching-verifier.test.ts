import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TokenErrorCode } from '../../../src/engine/gateway/response/refusal.ts';
import { CachingVerifier } from '../../../src/engine/tokens/caching-verifier.ts';
import type { KeySource, VerifiedToken } from '../../../src/engine/tokens/token-method.ts';
import type { Principal, Verifier } from '../../../src/engine/tokens/verifier.ts';
import { eventually } from '../../support/site.ts';
import { type Identity, introspecting, outcomeOf, sendJson, startIdentity, userinfoOf } from './identity-service.ts';
import { claims, ecKey, keyFile, seconds, tokenOf, verifierOf } from './keys.ts';

let identity: Identity;

beforeEach(async () => {
  identity = await startIdentity();
});

afterEach(async () => {
  vi.useRealTimers();
  await identity.close();
});

/** Replaces the clocks of the cache. The network keeps the real one. */
function freezeClock(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  return (ms) => void vi.advanceTimersByTime(ms);
}

async function principalOf(verifier: Verifier, token: string): Promise<Principal> {
  const verdict = await verifier.verify(token);
  if ('code' in verdict) throw new Error(verdict.code);
  return verdict.principal;
}

const KINDS: readonly [string, (changes?: object) => { verifier: Verifier; token: string }][] = [
  [
    'jwt',
    (changes) => {
      const key = ecKey('one');
      const token = tokenOf({ alg: 'ES256', kid: 'one' }, claims({ exp: seconds() + 86_400 }), key);
      return { verifier: verifierOf(changes, keyFile(key)), token };
    },
  ],
  ['introspection', (changes) => ({ verifier: introspecting(identity.url, changes), token: 'opaque' })],
  ['userinfo', (changes) => ({ verifier: userinfoOf(identity.url, changes), token: 'opaque' })],
];

describe.each(KINDS)('a token verified by %s', (_kind, make) => {
  test('is cached, and no other token is', async () => {
    const { verifier, token } = make();
    expect(verifier.cached(token)).toBeUndefined();
    const principal = await principalOf(verifier, token);
    expect(verifier.cached(token)).toBe(principal);
    expect(verifier.cached(`${token}A`)).toBeUndefined();
    expect(verifier.cached(token.slice(0, -1))).toBeUndefined();
    expect(verifier.cached('')).toBeUndefined();
  });

  test('is cached for 60 seconds by default', async () => {
    const { verifier, token } = make();
    const advance = freezeClock();
    expect(await principalOf(verifier, token)).toMatchObject({ expiresAt: Date.now() + 60_000 });
    advance(59_999);
    expect(verifier.cached(token)).toBeDefined();
    advance(1);
    expect(verifier.cached(token)).toBeUndefined();
  });

  test('is cached for the configured time', async () => {
    for (const [maxAge, ms] of [
      ['2s', 2_000],
      ['10m', 600_000],
    ] as const) {
      const { verifier, token } = make({ cache: { maxAge } });
      const advance = freezeClock();
      await verifier.verify(token);
      advance(ms - 1);
      expect(verifier.cached(token)).toBeDefined();
      advance(1);
      expect(verifier.cached(token)).toBeUndefined();
      vi.useRealTimers();
    }
  });

  test('is not cached with the maximum age 0s', async () => {
    const { verifier, token } = make({ cache: { maxAge: '0s' } });
    await verifier.verify(token);
    expect(verifier.cached(token)).toBeUndefined();
  });

  test('has a hash of its subject for the log', async () => {
    const { verifier, token } = make();
    const expected = createHash('sha256').update('someone').digest('hex').slice(0, 16);
    expect((await principalOf(verifier, token)).subject).toBe(expected);
  });

  test('is verified once for fifty concurrent requests', async () => {
    const { verifier, token } = make();
    const verdicts = await Promise.all(Array.from({ length: 50 }, () => verifier.verify(token)));
    expect(new Set(verdicts).size).toBe(1);
    expect(identity.requests.length).toBeLessThanOrEqual(1);
  });
});

describe.each(KINDS.slice(1))('the age of a response of a slow issuer to %s', (kind, make) => {
  /** Verifies a token, and returns the function that sends the response to the request. */
  async function hold(verifier: Verifier, token: string) {
    const requests = identity.requests.length;
    let respond: (isValid: boolean) => void = () => undefined;
    identity.respond = (response) => {
      respond = (isValid) => {
        if (isValid || kind === 'introspection') sendJson(response, { active: isValid, sub: 'someone' });
        else sendJson(response, {}, 401);
      };
    };
    const outcome = outcomeOf(verifier, token);
    await eventually('the issuer has the request', () => identity.requests.length === requests + 1);
    return { outcome, respond: (isValid: boolean) => respond(isValid) };
  }

  test('begins with the request', async () => {
    const { verifier, token } = make({ cache: { maxAge: '3s' } });
    const advance = freezeClock();
    const { outcome, respond } = await hold(verifier, token);
    advance(2_000);
    respond(true);
    expect(await outcome).toBe('accepted');
    advance(999);
    expect(verifier.cached(token)).toBeDefined();
    advance(1);
    expect(verifier.cached(token)).toBeUndefined();
  });

  test('begins with the request for a rejected token', async () => {
    const { verifier, token } = make();
    const advance = freezeClock();
    const { outcome, respond } = await hold(verifier, token);
    advance(2_000);
    respond(false);
    expect(await outcome).toBe('token_inactive');
    advance(2_999);
    expect(await outcomeOf(verifier, token)).toBe('token_inactive');
    expect(identity.requests).toHaveLength(1);
    advance(2);
    const next = await hold(verifier, token);
    next.respond(true);
    expect(await next.outcome).toBe('accepted');
  });

  test.each(['3s', '0s'])('is too high for a client that joins later than %s', async (maxAge) => {
    const { verifier, token } = make({ cache: { maxAge } });
    const advance = freezeClock();
    const { outcome, respond } = await hold(verifier, token);
    advance(maxAge === '3s' ? 3_000 : 0);
    const inTime = outcomeOf(verifier, token);
    advance(1);
    const tooLate = [outcomeOf(verifier, token), outcomeOf(verifier, token)];
    identity.respond = (response) =>
      sendJson(response, kind === 'introspection' ? { active: false } : {}, kind === 'introspection' ? 200 : 401);
    respond(true);
    expect([await outcome, await inTime]).toEqual(['accepted', 'accepted']);
    expect(await Promise.all(tooLate)).toEqual(['token_inactive', 'token_inactive']);
    expect(identity.requests).toHaveLength(2);
  });
});

describe('the subject for the log', () => {
  test.each([[undefined], [null], [1], [''], [['someone']]])(
    'of the claim %j is the hash of a string, or absent',
    async (sub) => {
      identity.respond = (response) => sendJson(response, { active: true, ...(sub === undefined ? {} : { sub }) });
      const { subject } = await principalOf(introspecting(identity.url), 'token');
      expect(subject).toBe(sub === '' ? 'e3b0c44298fc1c14' : undefined);
    },
  );
});

describe('the token cache', () => {
  const good = (token: string, bytes = 1): VerifiedToken => ({ claims: { sub: token }, bytes });
  const trust = { cache: { maxAge: '60s', maxEntries: 3 }, clockToleranceMs: 0, staleIfErrorMs: 0 };
  const keySourceOf = (cachedKeys: () => object) =>
    ({
      get cachedKeys() {
        return cachedKeys();
      },
    }) as KeySource;
  const cachedOf = (verifier: Verifier, tokens: string[]) => tokens.filter((token) => verifier.cached(token));

  test('has a limit of entries, and evicts the least recently used one', async () => {
    const verifier = new CachingVerifier('', { verify: async (token) => good(token) }, trust);
    for (const token of ['a', 'b', 'c']) await verifier.verify(token);
    verifier.cached('a');
    await verifier.verify('d');
    expect(cachedOf(verifier, ['a', 'b', 'c', 'd'])).toEqual(['a', 'c', 'd']);
  });

  test('has a limit of bytes', async () => {
    const verify = async (token: string) => good(token, 20 * 1024 * 1024);
    const verifier = new CachingVerifier('', { verify }, trust);
    for (const token of ['a', 'b']) await verifier.verify(token);
    expect(cachedOf(verifier, ['a', 'b'])).toEqual(['b']);
  });

  test('ignores tokens that were verified with an older key set', async () => {
    let keySet = {};
    const verifier = new CachingVerifier(
      '',
      { verify: async (token) => ({ ...good(token), keySet }), keySource: keySourceOf(() => keySet) },
      trust,
    );
    await verifier.verify('a');
    expect(cachedOf(verifier, ['a'])).toEqual(['a']);
    keySet = {};
    expect(cachedOf(verifier, ['a'])).toEqual([]);
  });

  test('ignores a token whose keys changed during its verification', async () => {
    const old = {};
    let current = old;
    const verify = async (token: string) => {
      current = {};
      return { ...good(token), keySet: old };
    };
    const verifier = new CachingVerifier('', { verify, keySource: keySourceOf(() => current) }, trust);
    await verifier.verify('a');
    expect(cachedOf(verifier, ['a'])).toEqual([]);
  });

  test('does not hold rejected tokens of local verification', async () => {
    const codes: (TokenErrorCode | undefined)[] = ['key_unknown', undefined];
    const verify = async (token: string) => {
      const code = codes.shift();
      return code === undefined ? good(token) : { code };
    };
    const verifier = new CachingVerifier('', { verify }, trust);
    expect(await outcomeOf(verifier, 'a')).toBe('key_unknown');
    expect(await outcomeOf(verifier, 'a')).toBe('accepted');
  });
});

describe.each<[string, (changes?: object) => Verifier, Identity['respond'], Identity['respond']]>([
  [
    'introspection',
    (changes) => introspecting(identity.url, changes),
    (response) => sendJson(response, { active: true, sub: 'someone' }),
    (response) => sendJson(response, { active: false }),
  ],
  [
    'userinfo',
    (changes) => userinfoOf(identity.url, changes),
    (response) => sendJson(response, { sub: 'someone' }),
    (response) => sendJson(response, '', 401),
  ],
])('an issuer with %s', (_kind, make, accept, refuse) => {
  test('receives no further request for a cached token', async () => {
    const verifier = make();
    identity.respond = accept;
    await verifier.verify('token');
    for (let index = 0; index < 10; index += 1) expect(verifier.cached('token')).toBeDefined();
    expect(identity.requests).toHaveLength(1);
  });

  test('receives one request in five seconds for a rejected token', async () => {
    const verifier = make();
    const advance = freezeClock();
    identity.respond = refuse;
    for (let index = 0; index < 10; index += 1) expect(await outcomeOf(verifier, 'token')).toBe('token_inactive');
    expect(identity.requests).toHaveLength(1);
    expect(await outcomeOf(verifier, 'another')).toBe('token_inactive');
    expect(identity.requests).toHaveLength(2);
    advance(5_001);
    identity.respond = accept;
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    expect(identity.requests).toHaveLength(3);
  });

  test('invalidates a cached token by rejecting it', async () => {
    const verifier = make({ staleIfError: '1h' });
    const advance = freezeClock();
    identity.respond = accept;
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    advance(60_000);
    identity.respond = refuse;
    expect(await outcomeOf(verifier, 'token')).toBe('token_inactive');
    advance(5_001);
    identity.respond = (response) => sendJson(response, '', 500);
    expect(await outcomeOf(verifier, 'token')).toBe('keys_unavailable');
  });

  test('that is unavailable invalidates cached tokens at the end of their cache time by default', async () => {
    const verifier = make();
    const advance = freezeClock();
    identity.respond = accept;
    await verifier.verify('token');
    identity.respond = (response) => void response.socket?.destroy();
    advance(59_000);
    expect(verifier.cached('token')).toBeDefined();
    advance(1_000);
    expect(verifier.cached('token')).toBeUndefined();
    expect(await outcomeOf(verifier, 'token')).toBe('keys_unavailable');
  });

  test('that is unavailable extends the cache time by the configured time', async () => {
    const verifier = make({ staleIfError: '2m' });
    const advance = freezeClock();
    identity.respond = accept;
    await verifier.verify('token');
    identity.respond = (response) => void response.socket?.destroy();
    advance(60_000);
    expect(verifier.cached('token')).toBeUndefined();
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    expect(await outcomeOf(verifier, 'another')).toBe('keys_unavailable');
    advance(119_999);
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    advance(1);
    expect(await outcomeOf(verifier, 'token')).toBe('keys_unavailable');
  });

  test('that is unavailable never extends a token beyond its expiry', async () => {
    const verifier = make({ staleIfError: '2m', clockTolerance: '0s' });
    const advance = freezeClock();
    const exp = seconds() + 90;
    identity.respond = (response) => sendJson(response, { active: true, exp });
    await verifier.verify('token');
    identity.respond = (response) => void response.socket?.destroy();
    advance(80_000);
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    advance(exp * 1000 - Date.now());
    expect(await outcomeOf(verifier, 'token')).toBe('keys_unavailable');
  });

  test('that is unavailable receives one request every two seconds after five failures', async () => {
    const verifier = make();
    const advance = freezeClock();
    identity.respond = (response) => sendJson(response, '', 503);
    for (let index = 0; index < 20; index += 1) expect(await outcomeOf(verifier, `t${index}`)).toBe('keys_unavailable');
    expect(identity.requests).toHaveLength(5);
    expect(await verifier.verify('token')).toEqual({ code: 'keys_unavailable', cause: 'circuit_open' });
    advance(2_000);
    await Promise.all(Array.from({ length: 20 }, (_, index) => verifier.verify(`u${index}`)));
    expect(identity.requests).toHaveLength(6);
    advance(2_000);
    identity.respond = accept;
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    expect(await outcomeOf(verifier, 'another')).toBe('accepted');
  });

  test('still receives requests after tokens that cause errors in it', async () => {
    const verifier = make();
    identity.respond = (response, { token }) => (token === 'good' ? accept : broken)(response, { token, url: '' });
    const broken: Identity['respond'] = (response) => sendJson(response, 'oops', 500);
    for (let index = 0; index < 20; index += 1) expect(await outcomeOf(verifier, `t${index}`)).toBe('keys_unavailable');
    expect(await outcomeOf(verifier, 'good')).toBe('accepted');
  });

  test('has at most 64 connections, which are reused', async () => {
    identity.respond = accept;
    const verifier = make();
    const send = (count: number, name: string) =>
      Promise.all(Array.from({ length: count }, (_, index) => outcomeOf(verifier, `${name}${index}`)));
    expect(new Set(await send(200, 'a'))).toEqual(new Set(['accepted']));
    expect(identity.maxConcurrent).toBeLessThanOrEqual(64);
    expect(identity.connections).toBeLessThanOrEqual(64);
    const before = identity.connections;
    await send(20, 'b');
    expect(identity.connections).toBe(before);
  });

  test('receives a request again after a reused connection was reset', async () => {
    identity.respond = accept;
    const verifier = make();
    expect(await outcomeOf(verifier, 'a')).toBe('accepted');
    let resets = 0;
    identity.respond = (response, request) => {
      if (resets > 0) return accept(response, request);
      resets += 1;
      response.socket?.resetAndDestroy();
    };
    expect(await outcomeOf(verifier, 'b')).toBe('accepted');
    expect(resets).toBe(1);
  });

  test('has at most two thousand pending requests', async () => {
    const open: Parameters<Identity['respond']>[] = [];
    identity.respond = (...request) => void open.push(request);
    const verifier = make({ timeout: '60s' });
    const waiting = Array.from({ length: 2_000 }, (_, index) => outcomeOf(verifier, `t${index}`));
    expect(await verifier.verify('one-more')).toEqual({ code: 'keys_unavailable', cause: 'too_many_requests' });
    await eventually('the requests arrive', () => open.length === 64);
    identity.respond = accept;
    for (const request of open) accept(...request);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['accepted']));
    expect(await outcomeOf(verifier, 'one-more')).toBe('accepted');
  });
});

test('the cache stores no text of a token', async () => {
  const seen: unknown[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    sendJson(response, { sub: 'someone' });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const verifier = userinfoOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(verifier.key).toMatch(/^[0-9a-f]{64}$/);
  const principal = await principalOf(verifier, 'secret-token');
  expect(JSON.stringify(principal)).not.toContain('secret-token');
  expect(seen).toEqual(['Bearer secret-token']);
  server.closeAllConnections();
  server.close();
});
