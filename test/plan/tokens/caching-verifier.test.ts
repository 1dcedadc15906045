import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCachingVerifier, type VerifiedToken } from '../../../src/plan/tokens/caching-verifier.ts';
import type { Principal, TokenErrorCode } from '../../../src/plan/tokens/verification-result.ts';
import type { Verifier } from '../../../src/plan/tokens/verifier.ts';
import { eventually } from '../../support/site.ts';
import { type Identity, introspecting, outcomeOf, sendJson, startIdentity, userinfoOf } from './asking.ts';
import { claims, ecKey, keyFile, seconds, tokenOf, verifierOf } from './keys.ts';

let identity: Identity;

beforeEach(async () => {
  identity = await startIdentity();
});

afterEach(async () => {
  vi.useRealTimers();
  await identity.close();
});

/** Takes the clocks of trust from the machine; the network keeps its own. */
function holdClock(): (ms: number) => void {
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
  test('is known at once from then on, and no other is', async () => {
    const { verifier, token } = make();
    expect(verifier.cached(token)).toBeUndefined();
    const principal = await principalOf(verifier, token);
    expect(verifier.cached(token)).toBe(principal);
    expect(verifier.cached(`${token}A`)).toBeUndefined();
    expect(verifier.cached(token.slice(0, -1))).toBeUndefined();
    expect(verifier.cached('')).toBeUndefined();
  });

  test('is trusted for 60 seconds', async () => {
    const { verifier, token } = make();
    const pass = holdClock();
    expect(await principalOf(verifier, token)).toMatchObject({ expiresAt: Date.now() + 60_000 });
    pass(59_999);
    expect(verifier.cached(token)).toBeDefined();
    pass(1);
    expect(verifier.cached(token)).toBeUndefined();
  });

  test('is trusted for as long as the manifest says', async () => {
    for (const [maxAge, ms] of [
      ['2s', 2_000],
      ['10m', 600_000],
    ] as const) {
      const { verifier, token } = make({ cache: { maxAge } });
      const pass = holdClock();
      await verifier.verify(token);
      pass(ms - 1);
      expect(verifier.cached(token)).toBeDefined();
      pass(1);
      expect(verifier.cached(token)).toBeUndefined();
      vi.useRealTimers();
    }
  });

  test('is looked at each time where the manifest says 0s', async () => {
    const { verifier, token } = make({ cache: { maxAge: '0s' } });
    await verifier.verify(token);
    expect(verifier.cached(token)).toBeUndefined();
  });

  test('is known to the log by a hash of its subject', async () => {
    const { verifier, token } = make();
    const expected = createHash('sha256').update('someone').digest('hex').slice(0, 16);
    expect((await principalOf(verifier, token)).subject).toBe(expected);
  });

  test('is judged once by fifty requests at once', async () => {
    const { verifier, token } = make();
    const verdicts = await Promise.all(Array.from({ length: 50 }, () => verifier.verify(token)));
    expect(new Set(verdicts).size).toBe(1);
    expect(identity.requests.length).toBeLessThanOrEqual(1);
  });
});

describe('the subject', () => {
  test.each([[undefined], [null], [1], [''], [['someone']]])('of %j', async (sub) => {
    identity.respond = (response) => sendJson(response, { active: true, ...(sub === undefined ? {} : { sub }) });
    const { subject } = await principalOf(introspecting(identity.url), 'token');
    expect(subject).toBe(sub === '' ? 'e3b0c44298fc1c14' : undefined);
  });
});

describe('what is remembered', () => {
  const good = (token: string, bytes = 1): VerifiedToken => ({ claims: { sub: token }, bytes });
  const trust = { cache: { maxAge: '60s', maxEntries: 3 }, clockToleranceMs: 0, staleIfErrorMs: 0 };
  const known = (verifier: Verifier, tokens: string[]) => tokens.filter((token) => verifier.cached(token));

  test('is bounded in number: what was not used for the longest time goes first', async () => {
    const verifier = createCachingVerifier('', { verify: async (token) => good(token) }, trust);
    for (const token of ['a', 'b', 'c']) await verifier.verify(token);
    verifier.cached('a');
    await verifier.verify('d');
    expect(known(verifier, ['a', 'b', 'c', 'd'])).toEqual(['a', 'c', 'd']);
  });

  test('is bounded in bytes', async () => {
    const verify = async (token: string) => good(token, 20 * 1024 * 1024);
    const verifier = createCachingVerifier('', { verify }, trust);
    for (const token of ['a', 'b']) await verifier.verify(token);
    expect(known(verifier, ['a', 'b'])).toEqual(['b']);
  });

  test('counts only as long as its basis does', async () => {
    let keySet = {};
    const verifier = createCachingVerifier(
      '',
      { verify: async (token) => ({ ...good(token), keySet }), keySet: () => keySet },
      trust,
    );
    await verifier.verify('a');
    expect(known(verifier, ['a'])).toEqual(['a']);
    keySet = {};
    expect(known(verifier, ['a'])).toEqual([]);
  });

  test('is not what was judged by keys that are gone meanwhile', async () => {
    const old = {};
    let basis = old;
    const verify = async (token: string) => {
      basis = {};
      return { ...good(token), basis: old };
    };
    const verifier = createCachingVerifier('', { verify, keySet: () => basis }, trust);
    await verifier.verify('a');
    expect(known(verifier, ['a'])).toEqual([]);
  });

  test('is no refusal where nobody is asked', async () => {
    const faults: (TokenErrorCode | undefined)[] = ['key_unknown', undefined];
    const verify = async (token: string) => {
      const fault = faults.shift();
      return fault === undefined ? good(token) : { code: fault };
    };
    const verifier = createCachingVerifier('', { verify }, trust);
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
])('the issuer that is asked by %s', (_kind, make, accept, refuse) => {
  test('is asked no more about a token that is known', async () => {
    const verifier = make();
    identity.respond = accept;
    await verifier.verify('token');
    for (let index = 0; index < 10; index += 1) expect(verifier.cached('token')).toBeDefined();
    expect(identity.requests).toHaveLength(1);
  });

  test('is asked once in five seconds about a token that is not good', async () => {
    const verifier = make();
    const pass = holdClock();
    identity.respond = refuse;
    for (let index = 0; index < 10; index += 1) expect(await outcomeOf(verifier, 'token')).toBe('token_inactive');
    expect(identity.requests).toHaveLength(1);
    expect(await outcomeOf(verifier, 'another')).toBe('token_inactive');
    expect(identity.requests).toHaveLength(2);
    pass(5_001);
    identity.respond = accept;
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    expect(identity.requests).toHaveLength(3);
  });

  test('ends the trust in a token with its word', async () => {
    const verifier = make({ staleIfError: '1h' });
    const pass = holdClock();
    identity.respond = accept;
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    pass(60_000);
    identity.respond = refuse;
    expect(await outcomeOf(verifier, 'token')).toBe('token_inactive');
    pass(5_001);
    identity.respond = (response) => sendJson(response, '', 500);
    expect(await outcomeOf(verifier, 'token')).toBe('keys_unavailable');
  });

  test('that is down: what was good is no longer, where the manifest says nothing', async () => {
    const verifier = make();
    const pass = holdClock();
    identity.respond = accept;
    await verifier.verify('token');
    identity.respond = (response) => void response.socket?.destroy();
    pass(59_000);
    expect(verifier.cached('token')).toBeDefined();
    pass(1_000);
    expect(verifier.cached('token')).toBeUndefined();
    expect(await outcomeOf(verifier, 'token')).toBe('keys_unavailable');
  });

  test('that is down: what was good is so for the time that is stated', async () => {
    const verifier = make({ staleIfError: '2m' });
    const pass = holdClock();
    identity.respond = accept;
    await verifier.verify('token');
    identity.respond = (response) => void response.socket?.destroy();
    pass(60_000);
    expect(verifier.cached('token')).toBeUndefined();
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    expect(await outcomeOf(verifier, 'another')).toBe('keys_unavailable');
    pass(119_999);
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    pass(1);
    expect(await outcomeOf(verifier, 'token')).toBe('keys_unavailable');
  });

  test('that is down: no token outlives its own end', async () => {
    const verifier = make({ staleIfError: '2m', clockTolerance: '0s' });
    const pass = holdClock();
    const exp = seconds() + 90;
    identity.respond = (response) => sendJson(response, { active: true, exp });
    await verifier.verify('token');
    identity.respond = (response) => void response.socket?.destroy();
    pass(80_000);
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    pass(exp * 1000 - Date.now());
    expect(await outcomeOf(verifier, 'token')).toBe('keys_unavailable');
  });

  test('that gives no answers is asked once in two seconds, after five failures', async () => {
    const verifier = make();
    const pass = holdClock();
    identity.respond = (response) => sendJson(response, '', 503);
    for (let index = 0; index < 20; index += 1) expect(await outcomeOf(verifier, `t${index}`)).toBe('keys_unavailable');
    expect(identity.requests).toHaveLength(5);
    expect(await verifier.verify('token')).toEqual({ code: 'keys_unavailable', cause: 'circuit_open' });
    pass(2_000);
    await Promise.all(Array.from({ length: 20 }, (_, index) => verifier.verify(`u${index}`)));
    expect(identity.requests).toHaveLength(6);
    pass(2_000);
    identity.respond = accept;
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    expect(await outcomeOf(verifier, 'another')).toBe('accepted');
  });

  test('is not shut out by tokens that upset it', async () => {
    const verifier = make();
    identity.respond = (response, { token }) => (token === 'good' ? accept : broken)(response, { token, url: '' });
    const broken: Identity['respond'] = (response) => sendJson(response, 'oops', 500);
    for (let index = 0; index < 20; index += 1) expect(await outcomeOf(verifier, `t${index}`)).toBe('keys_unavailable');
    expect(await outcomeOf(verifier, 'good')).toBe('accepted');
  });

  test('is asked by 64 connections at most, and these are kept', async () => {
    identity.respond = accept;
    const verifier = make();
    const ask = (count: number, name: string) =>
      Promise.all(Array.from({ length: count }, (_, index) => outcomeOf(verifier, `${name}${index}`)));
    expect(new Set(await ask(200, 'a'))).toEqual(new Set(['accepted']));
    expect(identity.busiest).toBeLessThanOrEqual(64);
    expect(identity.connections).toBeLessThanOrEqual(64);
    const before = identity.connections;
    await ask(20, 'b');
    expect(identity.connections).toBe(before);
  });

  test('is asked again where a kept connection is gone', async () => {
    identity.respond = accept;
    const verifier = make();
    expect(await outcomeOf(verifier, 'a')).toBe('accepted');
    let resets = 0;
    identity.respond = (response, question) => {
      if (resets > 0) return accept(response, question);
      resets += 1;
      response.socket?.resetAndDestroy();
    };
    expect(await outcomeOf(verifier, 'b')).toBe('accepted');
    expect(resets).toBe(1);
  });

  test('has no more than two thousand questions before it', async () => {
    const open: Parameters<Identity['respond']>[] = [];
    identity.respond = (...question) => void open.push(question);
    const verifier = make();
    const waiting = Array.from({ length: 2_000 }, (_, index) => outcomeOf(verifier, `t${index}`));
    expect(await verifier.verify('one-more')).toEqual({ code: 'keys_unavailable', cause: 'too_many_requests' });
    await eventually('they are asked', () => open.length === 64);
    identity.respond = accept;
    for (const question of open) accept(...question);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['accepted']));
    expect(await outcomeOf(verifier, 'one-more')).toBe('accepted');
  });
});

test('no text of a token is kept', async () => {
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
