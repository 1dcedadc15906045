import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TokenErrorCode } from '../../../src/engine/gateway/response/refusal.ts';
import type { Verifier } from '../../../src/engine/tokens/verifier.ts';
import { AUDIENCE, ISSUER } from '../../support/issuer.ts';
import { eventually } from '../../support/site.ts';
import { scaledMs } from '../../support/slowness.ts';
import { createTokenThreads } from '../../support/token-threads.ts';
import {
  claims,
  ecKey,
  type KeysServer,
  keyFile,
  manifestFor,
  rsaKey,
  type SigningKey,
  startKeysServer,
  tokenOf,
} from './keys.ts';

const one = ecKey('one');
const two = ecKey('two');
const MINUTE_MS = 60_000;

let server: KeysServer;
let count = 1;
/** The verifiers of the workers. */
let verifiers: readonly Verifier[];
let turn = 0;

beforeEach(async () => {
  server = await startKeysServer(one);
  verifiers = verifiersOf();
});

afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

function verifiersOf(changes: object = {}): readonly Verifier[] {
  const defaults = { jwks: server.url, algorithms: ['ES256'], issuer: ISSUER, audience: AUDIENCE };
  return createTokenThreads(count).compile(manifestFor({ jwt: { ...defaults, ...changes } }));
}

const tokenBy = (key: SigningKey, changes = {}) =>
  tokenOf({ alg: 'ES256', kid: key.jwk.kid }, claims({ exp: Date.now() / 1000 + 86_400, ...changes }), key);

/** Verifies a token in the next worker. */
async function verify(token: string): Promise<TokenErrorCode | 'accepted'> {
  turn += 1;
  const verifier = verifiers[turn % verifiers.length] as Verifier;
  const client = { key: `client ${turn}`, signal: new AbortController().signal };
  const verdict = await verifier.verify(token, client);
  return 'code' in verdict ? verdict.code : 'accepted';
}

const isCached = (token: string) => verifiers.some((verifier) => verifier.cached(token) !== undefined);

/** Replaces the clock that keys age by. The network keeps the real one. */
function freezeClock(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['performance'] });
  return (ms) => void vi.advanceTimersByTime(ms);
}

describe.each([1, 4])('with workers: %i,', (workers) => {
  beforeAll(() => {
    count = workers;
  });
  afterAll(() => {
    count = 1;
  });

  describe('the gateway fetches keys', () => {
    test('only after the first token arrives', () => expect(server.requestCount).toBe(0));

    test('once for fifty concurrent tokens', async () => {
      const tokens = Array.from({ length: 50 }, (_, index) => tokenBy(one, { sub: `s${index}` }));
      expect(new Set(await Promise.all(tokens.map(verify)))).toEqual(new Set(['accepted']));
      expect(server.requestCount).toBe(1);
    });

    test('never for a token that needs none', async () => {
      for (const token of ['a.b', `${tokenBy(one)}.x`, tokenBy(one, { exp: 1 }), tokenBy(one, { iss: 'x' })])
        expect(await verify(token)).not.toBe('accepted');
      expect(server.requestCount).toBe(0);
    });

    test('again when they are ten minutes old, without delaying any token', async () => {
      const advance = freezeClock();
      await verify(tokenBy(one));
      advance(9 * MINUTE_MS);
      expect(await verify(tokenBy(one))).toBe('accepted');
      expect(server.requestCount).toBe(1);
      const requested = new Promise<void>((resolve) => {
        // Never responds.
        server.respond = () => resolve();
      });
      advance(2 * MINUTE_MS);
      expect(await verify(tokenBy(one))).toBe('accepted');
      await requested;
      expect(server.requestCount).toBe(2);
    });
  });

  describe('an unknown key id', () => {
    test('causes one fetch per interval, even for fifty different ids', async () => {
      const advance = freezeClock();
      await verify(tokenBy(one));
      expect(server.requestCount).toBe(1);
      const unknown = () =>
        Promise.all(Array.from({ length: 50 }, (_, index) => verify(tokenBy(ecKey(`made-up-${index}`)))));
      advance(11_000);
      expect(new Set(await unknown())).toEqual(new Set(['key_unknown']));
      expect(server.requestCount).toBe(2);
      expect(new Set(await unknown())).toEqual(new Set(['key_unknown']));
      expect(server.requestCount).toBe(2);
      advance(11_000);
      expect(new Set(await unknown())).toEqual(new Set(['key_unknown']));
      expect(server.requestCount).toBe(3);
    });

    test('does not delay tokens with a known key id', async () => {
      const advance = freezeClock();
      await verify(tokenBy(one));
      advance(11_000);
      const requested = new Promise<void>((resolve) => {
        server.respond = () => resolve();
      });
      void verify(tokenBy(two));
      await requested;
      expect(await verify(tokenBy(one))).toBe('accepted');
    });
  });

  describe('a key rotation', () => {
    test('rejects no token of the old or the new key', async () => {
      const advance = freezeClock();
      expect(await verify(tokenBy(one))).toBe('accepted');
      advance(MINUTE_MS);
      server.publish(one, two);
      const tokens = Array.from({ length: 50 }, (_, index) =>
        tokenBy(index % 2 === 0 ? one : two, { sub: `s${index}` }),
      );
      expect(new Set(await Promise.all(tokens.map(verify)))).toEqual(new Set(['accepted']));
      expect(server.requestCount).toBe(2);
    });

    test('removes the old key, and its tokens from the cache', async () => {
      const advance = freezeClock();
      const old = tokenBy(one);
      expect(await verify(old)).toBe('accepted');
      expect(isCached(old)).toBe(true);
      advance(MINUTE_MS);
      server.publish(two);
      expect(await verify(tokenBy(two))).toBe('accepted');
      expect(isCached(old)).toBe(false);
      expect(await verify(old)).toBe('key_unknown');
    });

    test('to a key with the same id invalidates tokens of the old key', async () => {
      const advance = freezeClock();
      const old = tokenBy(one);
      expect(await verify(old)).toBe('accepted');
      server.publish(ecKey('one'), two);
      advance(MINUTE_MS);
      expect(await verify(tokenBy(two))).toBe('accepted');
      expect(await verify(old)).toBe('signature_wrong');
    });
  });

  describe('a key rotation that a token reveals', () => {
    test('right after the first fetch delays the token and then accepts it', async () => {
      expect(await verify(tokenBy(one))).toBe('accepted');
      server.publish(two);
      const tokens = Array.from({ length: 20 }, (_, index) => tokenBy(two, { sub: `s${index}` }));
      expect(new Set(await Promise.all(tokens.map(verify)))).toEqual(new Set(['accepted']));
      expect(server.requestCount).toBe(2);
    });

    test('is found as fast after a fetch that found no new key', async () => {
      const advance = freezeClock();
      await verify(tokenBy(one));
      advance(2_000);
      expect(await verify(tokenBy(ecKey('made-up')))).toBe('key_unknown');
      server.publish(two);
      advance(1);
      expect(await verify(tokenBy(two))).toBe('accepted');
      expect(server.requestCount).toBe(3);
    });

    test('that keeps the key id is found when a signature fails', async () => {
      const advance = freezeClock();
      await verify(tokenBy(one));
      const other = ecKey('one');
      server.publish(other);
      advance(2_000);
      expect(await verify(tokenBy(other))).toBe('accepted');
      expect(await verify(tokenBy(one))).toBe('signature_wrong');
      expect(server.requestCount).toBe(2);
    });

    test('during an earlier fetch causes one more fetch', async () => {
      const advance = freezeClock();
      await verify(tokenBy(one));
      advance(2_000);
      const sendResponses: (() => void)[] = [];
      const requested = new Promise<void>((resolve) => {
        server.respond = (response) => {
          sendResponses.push(() => void response.end(JSON.stringify({ keys: [one.jwk] })));
          resolve();
        };
      });
      const early = verify(tokenBy(ecKey('made-up')));
      await requested;
      advance(1);
      server.publish(two);
      const late = verify(tokenBy(two));
      for (const send of sendResponses) send();
      expect(await early).toBe('key_unknown');
      expect(await late).toBe('accepted');
    });

    test('of a key without an id is found too', async () => {
      const advance = freezeClock();
      const [old, next] = [ecKey(undefined), ecKey(undefined)];
      server.publish(old);
      expect(await verify(tokenOf({ alg: 'ES256' }, claims(), old))).toBe('accepted');
      server.publish(next);
      advance(2_000);
      expect(await verify(tokenOf({ alg: 'ES256' }, claims(), next))).toBe('accepted');
      expect(await verify(tokenOf({ alg: 'ES256' }, claims(), old))).toBe('signature_wrong');
    });

    test('that is found by the age of the keys clears the token cache', async () => {
      const advance = freezeClock();
      const old = tokenBy(one);
      await verify(old);
      server.publish(two);
      advance(11 * MINUTE_MS);
      expect(await verify(tokenBy(one))).toBe('accepted');
      await eventually('the gateway has the new keys', () => !isCached(old));
      expect(await verify(old)).toBe('key_unknown');
    });

    test('to an empty key set invalidates the old keys', async () => {
      const advance = freezeClock();
      const old = tokenBy(one);
      await verify(old);
      server.publish();
      advance(11 * MINUTE_MS);
      expect(await verify(tokenBy(one))).toBe('accepted');
      await eventually('the gateway has read the empty key set', () => !isCached(old));
      expect(await verify(old)).toBe('keys_unavailable');
      server.publish(one);
      expect(await verify(old)).toBe('accepted');
    });

    test('that only formats the same keys differently keeps the token cache', async () => {
      const advance = freezeClock();
      server.publish(one, two);
      const token = tokenBy(one);
      await verify(token);
      server.respond = (response) => {
        const keys = [two.jwk, { ...one.jwk, use: 'sig', x5t: 'AA' }, { kty: 'oct', k: 'AA' }];
        response.end(JSON.stringify({ keys, extra: true }));
      };
      advance(2_000);
      expect(await verify(tokenBy(ecKey('made-up')))).toBe('key_unknown');
      expect(isCached(token)).toBe(true);
    });
  });

  describe('made-up key ids', () => {
    test('cause at most one fetch every two seconds', async () => {
      const advance = freezeClock();
      await verify(tokenBy(one));
      advance(2_000);
      const batch = (name: string) =>
        Promise.all(Array.from({ length: 50 }, (_, index) => verify(tokenBy(ecKey(`${name}-${index}`)))));
      expect(new Set(await batch('a'))).toEqual(new Set(['key_unknown']));
      expect(server.requestCount).toBe(2);
      advance(1);
      const start = process.hrtime.bigint();
      expect(new Set(await batch('b'))).toEqual(new Set(['key_unknown']));
      expect(Number(process.hrtime.bigint() - start) / 1e6).toBeGreaterThan(1_900);
      expect(server.requestCount).toBe(3);
    });

    test('cause at most one fetch every five seconds each', async () => {
      const advance = freezeClock();
      await verify(tokenBy(one));
      const unknown = ecKey('made-up');
      for (const [ms, requestCount] of [
        [2_000, 2],
        [0, 2],
        [4_900, 2],
        [200, 3],
        [4_900, 3],
      ] as const) {
        advance(ms);
        expect([await verify(tokenBy(unknown)), server.requestCount]).toEqual(['key_unknown', requestCount]);
      }
    });

    test('and forged signatures with one key id cause at most one fetch every five seconds', async () => {
      const advance = freezeClock();
      await verify(tokenBy(one));
      const forged = ecKey('one');
      for (const [ms, requestCount] of [
        [2_000, 2],
        [4_900, 2],
        [200, 3],
      ] as const) {
        advance(ms);
        expect([await verify(tokenBy(forged)), server.requestCount]).toEqual(['signature_wrong', requestCount]);
      }
    });

    test('wait for the next fetch, but forged signatures do not', async () => {
      const start = performance.now();
      await verify(tokenBy(one));
      expect(await verify(tokenBy(ecKey('one')))).toBe('signature_wrong');
      expect(server.requestCount).toBe(1);
      expect(await verify(tokenBy(two))).toBe('key_unknown');
      expect(performance.now() - start).toBeGreaterThan(1_500);
      expect(server.requestCount).toBe(2);
    });
  });

  describe('while the issuer is unavailable', () => {
    test('fifty tokens cause one fetch and are rejected', async () => {
      server.respond = (response) => void response.destroy();
      const verdicts = await Promise.all(Array.from({ length: 50 }, () => verify(tokenBy(one))));
      expect(new Set(verdicts)).toEqual(new Set(['keys_unavailable']));
      expect(server.requestCount).toBe(1);
    });

    test('the first token after its recovery is accepted', async () => {
      server.respond = (response) => void response.destroy();
      expect(await verify(tokenBy(one))).toBe('keys_unavailable');
      server.publish(one);
      expect(await verify(tokenBy(one))).toBe('accepted');
    });

    test('a refused connection is the reported cause', async () => {
      await server.close();
      expect(await verifiers[0]?.verify(tokenBy(one))).toEqual({ code: 'keys_unavailable', cause: 'ECONNREFUSED' });
    });

    test('it receives one request every two seconds after five failures', async () => {
      const advance = freezeClock();
      server.respond = (response) => void response.destroy();
      for (let index = 0; index < 20; index += 1) expect(await verify(tokenBy(one))).toBe('keys_unavailable');
      expect(server.requestCount).toBe(5);
      advance(2_000);
      for (let index = 0; index < 20; index += 1) expect(await verify(tokenBy(one))).toBe('keys_unavailable');
      expect(server.requestCount).toBe(6);
      server.publish(one);
      expect(await verify(tokenBy(one))).toBe('keys_unavailable');
      advance(2_000);
      expect(await verify(tokenBy(one))).toBe('accepted');
    });

    test('cached keys are used for the configured time', async () => {
      verifiers = verifiersOf({ staleIfError: '0s' });
      const advance = freezeClock();
      expect(await verify(tokenBy(one))).toBe('accepted');
      server.respond = (response) => void response.destroy();
      advance(10 * MINUTE_MS);
      expect(await verify(tokenBy(one))).toBe('accepted');
      advance(1);
      expect(await verify(tokenBy(one))).toBe('keys_unavailable');
    });

    test('cached keys are used for an hour by default', async () => {
      const advance = freezeClock();
      expect(await verify(tokenBy(one))).toBe('accepted');
      await server.close();
      for (let minutes = 0; minutes < 65; minutes += 5) {
        advance(5 * MINUTE_MS);
        expect([minutes, await verify(tokenBy(one, { minutes }))]).toEqual([minutes, 'accepted']);
      }
      advance(10 * MINUTE_MS);
      expect(await verify(tokenBy(one))).toBe('keys_unavailable');
    });

    test('a token with an unknown key id is not rejected as invalid', async () => {
      const advance = freezeClock();
      expect(await verify(tokenBy(one))).toBe('accepted');
      await server.close();
      advance(MINUTE_MS);
      expect(await verify(tokenBy(two))).toBe('keys_unavailable');
      expect(await verify(tokenBy(one))).toBe('accepted');
      expect(await verify(tokenBy(ecKey('one')))).toBe('signature_wrong');
    });
  });

  test('the first token after hours without a token fetches the keys', async () => {
    const advance = freezeClock();
    expect(await verify(tokenBy(one))).toBe('accepted');
    advance(180 * MINUTE_MS);
    expect(await verify(tokenBy(one))).toBe('accepted');
    expect(server.requestCount).toBe(2);
  });

  test('an endless response is aborted at the timeout', async () => {
    verifiers = verifiersOf({ timeout: '300ms' });
    server.respond = (response) => void response.write('{"keys":[');
    const start = performance.now();
    const verdicts = await Promise.all([verify(tokenBy(one)), verify(tokenBy(one)), verify(tokenBy(two))]);
    expect(verdicts).toEqual(['keys_unavailable', 'keys_unavailable', 'keys_unavailable']);
    expect(performance.now() - start).toBeGreaterThan(280);
    expect(performance.now() - start).toBeLessThan(scaledMs(3_000));
    expect(server.requestCount).toBe(1);
  });
});

test('tokens with made-up key ids wait only up to the limit of one worker', async () => {
  const advance = freezeClock();
  await verify(tokenBy(one));
  advance(1_500);
  const stranger = ecKey('x');
  const tokens = Array.from({ length: 2_010 }, (_, index) =>
    tokenOf({ alg: 'ES256', kid: `x${index}` }, claims(), stranger),
  );
  const verdicts = await Promise.all(tokens.map(verify));
  expect(verdicts.filter((verdict) => verdict === 'key_unknown')).toHaveLength(2_000);
  expect(verdicts.filter((verdict) => verdict === 'keys_unavailable')).toHaveLength(10);
  expect(server.requestCount).toBe(2);
});

describe('a response without a usable key set is an error', () => {
  test.each<[string, KeysServer['respond']]>([
    ['HTML', (response) => void response.setHeader('content-type', 'text/html').end('<h1>hello</h1>')],
    ['an empty body', (response) => void response.end()],
    ['204', (response) => void response.writeHead(204).end()],
    ['500', (response) => void response.writeHead(500).end(JSON.stringify({ keys: [one.jwk] }))],
    ['404', (response) => void response.writeHead(404).end(JSON.stringify({ keys: [one.jwk] }))],
    ['201', (response) => void response.writeHead(201).end(JSON.stringify({ keys: [one.jwk] }))],
    ['no keys', (response) => void response.end('{"keys":[]}')],
    ['a duplicate name', (response) => void response.end(`{"keys":[],"keys":${JSON.stringify([one.jwk])}}`)],
    ['weak keys', (response) => void response.end(keyFile(rsaKey('one', 1024)))],
    ['101 keys', (response) => void response.end(JSON.stringify({ keys: Array(101).fill(one.jwk) }))],
    ['keys that are not objects', (response) => void response.end('{"keys":[null]}')],
    ['a list', (response) => void response.end(JSON.stringify([one.jwk]))],
    [
      'a truncated key set',
      (response) =>
        void response.writeHead(200, { 'content-length': 1000 }).write('{"keys":[', () => response.destroy()),
    ],
    ['300 kB', (response) => void response.end(JSON.stringify({ keys: [one.jwk], filler: 'x'.repeat(300_000) }))],
  ])('%s', async (_name, respond) => {
    server.respond = respond;
    expect(await verify(tokenBy(one))).toBe('keys_unavailable');
    server.publish(one);
    expect(await verify(tokenBy(one))).toBe('accepted');
  });

  test('stops reading a key set of 10 MB early', async () => {
    let written = 0;
    const closed = new Promise<void>((resolve) => {
      server.respond = (response) => {
        const chunk = Buffer.alloc(65_536, ' ');
        const more = () => {
          while (!response.destroyed && written < 10_485_760) {
            written += chunk.length;
            if (!response.write(chunk)) return void response.once('drain', more);
          }
          response.end();
        };
        more();
        void once(response, 'close').then(() => resolve());
      };
    });
    expect(await verify(tokenBy(one))).toBe('keys_unavailable');
    await closed;
    expect(written).toBeLessThan(10_485_760);
  });

  test.each([301, 302, 303, 307, 308])('does not follow a redirect (%i)', async (status) => {
    const other = await startKeysServer(one);
    try {
      server.respond = (response) => void response.writeHead(status, { location: other.url }).end();
      expect(await verify(tokenBy(one))).toBe('keys_unavailable');
      expect(other.requestCount).toBe(0);
    } finally {
      await other.close();
    }
  });

  test('ignores a malformed key beside a valid one', async () => {
    const broken = { kty: 'EC', crv: 'P-256', kid: 'broken', x: 'AA', y: 'AA' };
    server.respond = (response) =>
      void response.end(JSON.stringify({ keys: [broken, { kty: 'unheard-of' }, one.jwk] }));
    expect(await verify(tokenBy(one))).toBe('accepted');
    expect(await verify(tokenOf({ alg: 'ES256', kid: 'broken' }, claims(), two))).not.toBe('accepted');
  });
});
