import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TokenErrorCode } from '../../../src/plan/tokens/verification-result.ts';
import type { Verifier } from '../../../src/plan/tokens/verifier.ts';
import { eventually } from '../../support/site.ts';
import {
  claims,
  ecKey,
  type KeysServer,
  keyFile,
  rsaKey,
  type SigningKey,
  startKeysServer,
  tokenOf,
  verifierOf,
} from './keys.ts';

const one = ecKey('one');
const two = ecKey('two');
const MINUTE_MS = 60_000;

let server: KeysServer;
let verifier: Verifier;

beforeEach(async () => {
  server = await startKeysServer(one);
  verifier = verifierOf({ jwks: server.url });
});

afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

const tokenBy = (key: SigningKey, changes = {}) =>
  tokenOf({ alg: 'ES256', kid: key.jwk.kid }, claims({ exp: Date.now() / 1000 + 86_400, ...changes }), key);

async function judge(token: string): Promise<TokenErrorCode | 'accepted'> {
  const verdict = await verifier.verify(token);
  return 'code' in verdict ? verdict.code : 'accepted';
}

/** Takes the clock by which keys age from the machine; the network keeps its own. */
function holdClock(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['performance'] });
  return (ms) => void vi.advanceTimersByTime(ms);
}

describe('keys are asked for', () => {
  test('not before a token comes', () => expect(server.asked).toBe(0));

  test('once by fifty tokens at once', async () => {
    const tokens = Array.from({ length: 50 }, (_, index) => tokenBy(one, { sub: `s${index}` }));
    expect(new Set(await Promise.all(tokens.map(judge)))).toEqual(new Set(['accepted']));
    expect(server.asked).toBe(1);
  });

  test('not for a token that has no three parts', async () => {
    await judge('a.b');
    await judge(`${tokenBy(one)}.x`);
    expect(server.asked).toBe(0);
  });

  test('again when they are ten minutes old, without keeping anyone waiting', async () => {
    const pass = holdClock();
    await judge(tokenBy(one));
    pass(9 * MINUTE_MS);
    expect(await judge(tokenBy(one))).toBe('accepted');
    expect(server.asked).toBe(1);
    const asked = new Promise<void>((resolve) => {
      // Never responds.
      server.answer = () => resolve();
    });
    pass(2 * MINUTE_MS);
    expect(await judge(tokenBy(one))).toBe('accepted');
    await asked;
    expect(server.asked).toBe(2);
  });
});

describe('an unknown name', () => {
  test('asks once in a cooldown, whoever asks', async () => {
    const pass = holdClock();
    await judge(tokenBy(one));
    expect(server.asked).toBe(1);
    const unknown = () =>
      Promise.all(Array.from({ length: 50 }, (_, index) => judge(tokenBy(ecKey(`made-up-${index}`)))));
    pass(11_000);
    expect(new Set(await unknown())).toEqual(new Set(['key_unknown']));
    expect(server.asked).toBe(2);
    expect(new Set(await unknown())).toEqual(new Set(['key_unknown']));
    expect(server.asked).toBe(2);
    pass(11_000);
    expect(new Set(await unknown())).toEqual(new Set(['key_unknown']));
    expect(server.asked).toBe(3);
  });

  test('keeps no good token waiting', async () => {
    const pass = holdClock();
    await judge(tokenBy(one));
    pass(11_000);
    const asked = new Promise<void>((resolve) => {
      server.answer = () => resolve();
    });
    void judge(tokenBy(two));
    await asked;
    expect(await judge(tokenBy(one))).toBe('accepted');
  });
});

describe('rotation', () => {
  test('is followed without one refusal', async () => {
    const pass = holdClock();
    expect(await judge(tokenBy(one))).toBe('accepted');
    pass(MINUTE_MS);
    server.publish(one, two);
    const tokens = Array.from({ length: 50 }, (_, index) => tokenBy(index % 2 === 0 ? one : two, { sub: `s${index}` }));
    expect(new Set(await Promise.all(tokens.map(judge)))).toEqual(new Set(['accepted']));
    expect(server.asked).toBe(2);
  });

  test('takes the old key out, and the tokens that were good by it out of the cache', async () => {
    const pass = holdClock();
    const old = tokenBy(one);
    expect(await judge(old)).toBe('accepted');
    expect(verifier.cached(old)).toBeDefined();
    pass(MINUTE_MS);
    server.publish(two);
    expect(await judge(tokenBy(two))).toBe('accepted');
    expect(verifier.cached(old)).toBeUndefined();
    expect(await judge(old)).toBe('key_unknown');
  });

  test('to a key of the same name ends the trust in the old one', async () => {
    const pass = holdClock();
    const old = tokenBy(one);
    expect(await judge(old)).toBe('accepted');
    server.publish(ecKey('one'), two);
    pass(MINUTE_MS);
    expect(await judge(tokenBy(two))).toBe('accepted');
    expect(await judge(old)).toBe('signature_wrong');
  });
});

describe('a rotation', () => {
  test('right behind the first question is waited for, and no 401', async () => {
    expect(await judge(tokenBy(one))).toBe('accepted');
    server.publish(two);
    const tokens = Array.from({ length: 20 }, (_, index) => tokenBy(two, { sub: `s${index}` }));
    expect(new Set(await Promise.all(tokens.map(judge)))).toEqual(new Set(['accepted']));
    expect(server.asked).toBe(2);
  });

  test('behind a question that drove nothing is found as fast', async () => {
    const pass = holdClock();
    await judge(tokenBy(one));
    pass(2_000);
    expect(await judge(tokenBy(ecKey('made-up')))).toBe('key_unknown');
    server.publish(two);
    pass(1);
    expect(await judge(tokenBy(two))).toBe('accepted');
    expect(server.asked).toBe(3);
  });

  test('that keeps the name is found by a signature that fails', async () => {
    const pass = holdClock();
    await judge(tokenBy(one));
    const other = ecKey('one');
    server.publish(other);
    pass(2_000);
    expect(await judge(tokenBy(other))).toBe('accepted');
    expect(await judge(tokenBy(one))).toBe('signature_wrong');
    expect(server.asked).toBe(2);
  });

  test('while an older question is under way is asked for once more', async () => {
    const pass = holdClock();
    await judge(tokenBy(one));
    pass(2_000);
    const answers: (() => void)[] = [];
    const asked = new Promise<void>((resolve) => {
      server.answer = (response) => {
        answers.push(() => void response.end(JSON.stringify({ keys: [one.jwk] })));
        resolve();
      };
    });
    const early = judge(tokenBy(ecKey('made-up')));
    await asked;
    pass(1);
    server.publish(two);
    const late = judge(tokenBy(two));
    for (const answer of answers) answer();
    expect(await early).toBe('key_unknown');
    expect(await late).toBe('accepted');
  });

  test('of a key without a name is found too', async () => {
    const pass = holdClock();
    const [old, next] = [ecKey(undefined), ecKey(undefined)];
    server.publish(old);
    expect(await judge(tokenOf({ alg: 'ES256' }, claims(), old))).toBe('accepted');
    server.publish(next);
    pass(2_000);
    expect(await judge(tokenOf({ alg: 'ES256' }, claims(), next))).toBe('accepted');
    expect(await judge(tokenOf({ alg: 'ES256' }, claims(), old))).toBe('signature_wrong');
  });

  test('that was found by age empties what is known', async () => {
    const pass = holdClock();
    const old = tokenBy(one);
    await judge(old);
    server.publish(two);
    pass(11 * MINUTE_MS);
    expect(await judge(tokenBy(one))).toBe('accepted');
    await eventually('the new keys are there', () => verifier.cached(old) === undefined);
    expect(await judge(old)).toBe('key_unknown');
  });

  test('to no key at all ends the trust in the old ones', async () => {
    const pass = holdClock();
    const old = tokenBy(one);
    await judge(old);
    server.publish();
    pass(11 * MINUTE_MS);
    expect(await judge(tokenBy(one))).toBe('accepted');
    await eventually('the word is there', () => verifier.cached(old) === undefined);
    expect(await judge(old)).toBe('keys_unavailable');
    server.publish(one);
    expect(await judge(old)).toBe('accepted');
  });

  test('that only writes the keys otherwise empties nothing', async () => {
    const pass = holdClock();
    server.publish(one, two);
    const token = tokenBy(one);
    await judge(token);
    server.answer = (response) => {
      const keys = [two.jwk, { ...one.jwk, use: 'sig', x5t: 'AA' }, { kty: 'oct', k: 'AA' }];
      response.end(JSON.stringify({ keys, extra: true }));
    };
    pass(2_000);
    expect(await judge(tokenBy(ecKey('made-up')))).toBe('key_unknown');
    expect(verifier.cached(token)).toBeDefined();
  });
});

describe('made-up names', () => {
  test('drive one question in two seconds, whatever they are', async () => {
    const pass = holdClock();
    await judge(tokenBy(one));
    pass(2_000);
    const batch = (name: string) =>
      Promise.all(Array.from({ length: 50 }, (_, index) => judge(tokenBy(ecKey(`${name}-${index}`)))));
    expect(new Set(await batch('a'))).toEqual(new Set(['key_unknown']));
    expect(server.asked).toBe(2);
    pass(1);
    const start = process.hrtime.bigint();
    expect(new Set(await batch('b'))).toEqual(new Set(['key_unknown']));
    expect(Number(process.hrtime.bigint() - start) / 1e6).toBeGreaterThan(1_900);
    expect(server.asked).toBe(3);
  });

  test('and each of them one in five', async () => {
    const pass = holdClock();
    await judge(tokenBy(one));
    const unknown = ecKey('made-up');
    for (const [ms, asked] of [
      [2_000, 2],
      [0, 2],
      [4_900, 2],
      [200, 3],
      [4_900, 3],
    ] as const) {
      pass(ms);
      expect([await judge(tokenBy(unknown)), server.asked]).toEqual(['key_unknown', asked]);
    }
  });

  test('as do forged signatures of one name', async () => {
    const pass = holdClock();
    await judge(tokenBy(one));
    const forged = ecKey('one');
    for (const [ms, asked] of [
      [2_000, 2],
      [4_900, 2],
      [200, 3],
    ] as const) {
      pass(ms);
      expect([await judge(tokenBy(forged)), server.asked]).toEqual(['signature_wrong', asked]);
    }
  });

  test('are waited for, forged signatures are not', async () => {
    await judge(tokenBy(one));
    const start = performance.now();
    expect(await judge(tokenBy(ecKey('one')))).toBe('signature_wrong');
    expect(performance.now() - start).toBeLessThan(1_500);
    expect(server.asked).toBe(1);
    expect(await judge(tokenBy(two))).toBe('key_unknown');
    expect(performance.now() - start).toBeGreaterThan(1_500);
    expect(server.asked).toBe(2);
  });

  test('are not all waited for', async () => {
    const pass = holdClock();
    await judge(tokenBy(one));
    pass(1_500);
    const stranger = ecKey('x');
    const tokens = Array.from({ length: 2_010 }, (_, index) =>
      tokenOf({ alg: 'ES256', kid: `x${index}` }, claims(), stranger),
    );
    const verdicts = await Promise.all(tokens.map(judge));
    expect(verdicts.filter((verdict) => verdict === 'key_unknown')).toHaveLength(2_000);
    expect(verdicts.filter((verdict) => verdict === 'keys_unavailable')).toHaveLength(10);
    expect(server.asked).toBe(2);
  });
});

describe('while the issuer is down', () => {
  test('there are no keys, and no flood', async () => {
    server.answer = (response) => void response.destroy();
    const verdicts = await Promise.all(Array.from({ length: 50 }, () => judge(tokenBy(one))));
    expect(new Set(verdicts)).toEqual(new Set(['keys_unavailable']));
    expect(server.asked).toBe(1);
  });

  test('and once it is back the next token verifies', async () => {
    server.answer = (response) => void response.destroy();
    expect(await judge(tokenBy(one))).toBe('keys_unavailable');
    server.publish(one);
    expect(await judge(tokenBy(one))).toBe('accepted');
  });

  test('nobody listens at all', async () => {
    await server.close();
    expect(await verifier.verify(tokenBy(one))).toEqual({ code: 'keys_unavailable', cause: 'ECONNREFUSED' });
  });

  test('it is asked once in two seconds, after five failures', async () => {
    const pass = holdClock();
    server.answer = (response) => void response.destroy();
    for (let index = 0; index < 20; index += 1) expect(await judge(tokenBy(one))).toBe('keys_unavailable');
    expect(server.asked).toBe(5);
    pass(2_000);
    for (let index = 0; index < 20; index += 1) expect(await judge(tokenBy(one))).toBe('keys_unavailable');
    expect(server.asked).toBe(6);
    server.publish(one);
    expect(await judge(tokenBy(one))).toBe('keys_unavailable');
    pass(2_000);
    expect(await judge(tokenBy(one))).toBe('accepted');
  });

  test('the keys that are known serve as long as the manifest says', async () => {
    verifier = verifierOf({ jwks: server.url, staleIfError: '0s' });
    const pass = holdClock();
    expect(await judge(tokenBy(one))).toBe('accepted');
    server.answer = (response) => void response.destroy();
    pass(10 * MINUTE_MS);
    expect(await judge(tokenBy(one))).toBe('accepted');
    pass(1);
    expect(await judge(tokenBy(one))).toBe('keys_unavailable');
  });

  test('the keys that are known serve for an hour', async () => {
    const pass = holdClock();
    expect(await judge(tokenBy(one))).toBe('accepted');
    await server.close();
    for (let minutes = 0; minutes < 65; minutes += 5) {
      pass(5 * MINUTE_MS);
      expect([minutes, await judge(tokenBy(one, { minutes }))]).toEqual([minutes, 'accepted']);
    }
    pass(10 * MINUTE_MS);
    expect(await judge(tokenBy(one))).toBe('keys_unavailable');
  });

  test('a token with an unknown name may be good: that is no 401', async () => {
    const pass = holdClock();
    expect(await judge(tokenBy(one))).toBe('accepted');
    await server.close();
    pass(MINUTE_MS);
    expect(await judge(tokenBy(two))).toBe('keys_unavailable');
    expect(await judge(tokenBy(one))).toBe('accepted');
    expect(await judge(tokenBy(ecKey('one')))).toBe('signature_wrong');
  });
});

test('after hours without a token the next one finds keys', async () => {
  const pass = holdClock();
  expect(await judge(tokenBy(one))).toBe('accepted');
  pass(180 * MINUTE_MS);
  expect(await judge(tokenBy(one))).toBe('accepted');
  expect(server.asked).toBe(2);
});

describe('what is no key set is none', () => {
  test.each<[string, KeysServer['answer']]>([
    ['HTML', (response) => void response.setHeader('content-type', 'text/html').end('<h1>hello</h1>')],
    ['nothing', (response) => void response.end()],
    ['204', (response) => void response.writeHead(204).end()],
    ['500', (response) => void response.writeHead(500).end(JSON.stringify({ keys: [one.jwk] }))],
    ['404', (response) => void response.writeHead(404).end(JSON.stringify({ keys: [one.jwk] }))],
    ['201', (response) => void response.writeHead(201).end(JSON.stringify({ keys: [one.jwk] }))],
    ['no keys', (response) => void response.end('{"keys":[]}')],
    ['a name twice', (response) => void response.end(`{"keys":[],"keys":${JSON.stringify([one.jwk])}}`)],
    ['weak keys', (response) => void response.end(keyFile(rsaKey('one', 1024)))],
    ['a key too many', (response) => void response.end(JSON.stringify({ keys: Array(101).fill(one.jwk) }))],
    ['keys that are none', (response) => void response.end('{"keys":[null]}')],
    ['a list', (response) => void response.end(JSON.stringify([one.jwk]))],
    [
      'half of it',
      (response) =>
        void response.writeHead(200, { 'content-length': 1000 }).write('{"keys":[', () => response.destroy()),
    ],
    ['300 kB', (response) => void response.end(JSON.stringify({ keys: [one.jwk], filler: 'x'.repeat(300_000) }))],
  ])('%s', async (_name, answer) => {
    server.answer = answer;
    expect(await judge(tokenBy(one))).toBe('keys_unavailable');
    server.publish(one);
    expect(await judge(tokenBy(one))).toBe('accepted');
  });

  test('10 MB, of which no more than a little is read', async () => {
    let written = 0;
    const closed = new Promise<void>((resolve) => {
      server.answer = (response) => {
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
    expect(await judge(tokenBy(one))).toBe('keys_unavailable');
    await closed;
    expect(written).toBeLessThan(10_485_760);
  });

  test.each([301, 302, 303, 307, 308])('a redirect (%i) is not followed', async (status) => {
    const other = await startKeysServer(one);
    try {
      server.answer = (response) => void response.writeHead(status, { location: other.url }).end();
      expect(await judge(tokenBy(one))).toBe('keys_unavailable');
      expect(other.asked).toBe(0);
    } finally {
      await other.close();
    }
  });

  test('an answer that never ends is given up when the time is over', async () => {
    verifier = verifierOf({ jwks: server.url, timeout: '300ms' });
    server.answer = (response) => void response.write('{"keys":[');
    const start = performance.now();
    const verdicts = await Promise.all([judge(tokenBy(one)), judge(tokenBy(one)), judge(tokenBy(two))]);
    expect(verdicts).toEqual(['keys_unavailable', 'keys_unavailable', 'keys_unavailable']);
    expect(performance.now() - start).toBeGreaterThan(280);
    expect(performance.now() - start).toBeLessThan(3_000);
    expect(server.asked).toBe(1);
  });

  test('one bad key among good ones takes nothing from them', async () => {
    const broken = { kty: 'EC', crv: 'P-256', kid: 'broken', x: 'AA', y: 'AA' };
    server.answer = (response) => void response.end(JSON.stringify({ keys: [broken, { kty: 'unheard-of' }, one.jwk] }));
    expect(await judge(tokenBy(one))).toBe('accepted');
    expect(await judge(tokenOf({ alg: 'ES256', kid: 'broken' }, claims(), two))).not.toBe('accepted');
  });
});
