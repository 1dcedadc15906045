import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { PlannedManifest } from '../../src/engine/load.ts';
import type { MethodVerifier } from '../../src/engine/tokens/verifier.ts';
import {
  claims,
  ecKey,
  encode,
  type KeysServer,
  keyFile,
  manifestFor,
  rsaKey,
  type SigningKey,
  startKeysServer,
  tokenOf,
} from '../plan/tokens/keys.ts';
import { AUDIENCE, ISSUER } from '../support/issuer.ts';
import { turns } from '../support/pause.ts';
import { eventually } from '../support/site.ts';
import { createTokenThreads, type TokenThreads } from '../support/token-threads.ts';

const COUNT = 4;
const MINUTE_MS = 60_000;
const one = ecKey('one');
const two = ecKey('two');

let server: KeysServer;
let threads: TokenThreads;
let verifiers: readonly MethodVerifier[];

beforeEach(async () => {
  server = await startKeysServer(one);
  threads = createTokenThreads(COUNT);
  verifiers = threads.compile(manifestOf());
});

afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

function manifestOf(changes: object = {}, file?: string): PlannedManifest {
  const defaults = { jwks: server.url, algorithms: ['ES256'], issuer: ISSUER, audience: AUDIENCE };
  return manifestFor({ jwt: { ...defaults, ...changes } }, file === undefined ? {} : { file }, threads.plan);
}

const tokenBy = (key: SigningKey, changes = {}, kid = key.jwk.kid) =>
  tokenOf({ alg: 'ES256', kid }, claims({ exp: Date.now() / 1000 + 86_400, ...changes }), key);

/** Verifies a token as a request does. */
async function use(index: number, token: string): Promise<string> {
  const verifier = verifiers[index] as MethodVerifier;
  if (verifier.cached(token)) return 'accepted';
  const result = await verifier.verify(token, { key: '10.0.0.1', signal: new AbortController().signal });
  return 'code' in result ? (result.cause ?? result.code) : 'accepted';
}

const inAll = (token: string) => Promise.all(verifiers.map((_verifier, index) => use(index, token)));
const all = (outcome: string) => Array(COUNT).fill(outcome);

/** Replaces the clock that keys age by. The network keeps the real one. */
function freezeClock(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['performance'] });
  return (ms) => void vi.advanceTimersByTime(ms);
}

describe('keys are fetched', () => {
  test('once for 200 tokens in four workers', async () => {
    const tokens = Array.from({ length: 200 }, (_, index) => tokenBy(one, { sub: `s${index}` }));
    const outcomes = await Promise.all(tokens.map((token, index) => use(index % COUNT, token)));
    expect(new Set(outcomes)).toEqual(new Set(['accepted']));
    expect(server.requestCount).toBe(1);
    expect(verifiers[0]?.status).toMatchObject({ keys: 'known', fetches: 1, misses: 200, hits: 0, entries: 200 });
    expect(verifiers[0]?.status.results).toEqual(new Map([['valid', 200]]));
  });

  test('once by the preparation of the main thread, for all workers', async () => {
    await verifiers[0]?.prepare();
    expect(await inAll(tokenBy(one))).toEqual(all('accepted'));
    expect(server.requestCount).toBe(1);
  });

  test('again once for all workers while they are ten minutes old, and then no longer', async () => {
    const advance = freezeClock();
    await inAll(tokenBy(one));
    advance(11 * MINUTE_MS);
    await use(2, tokenBy(one, { sub: 'a' }));
    await eventually('the second fetch ends', () => verifiers[0]?.status.fetches === 2);
    for (const sub of ['b', 'c', 'd']) await inAll(tokenBy(one, { sub }));
    expect(server.requestCount).toBe(2);
  });
});

describe('after a rotation', () => {
  test('one fetch makes tokens of the new key valid and tokens of the removed key invalid, in all workers', async () => {
    const advance = freezeClock();
    const old = tokenBy(one);
    expect(await inAll(old)).toEqual(all('accepted'));
    server.publish(two);
    advance(11_000);
    expect(verifiers.every((verifier) => verifier.cached(old) !== undefined)).toBe(true);
    expect(await use(3, tokenBy(two))).toBe('accepted');
    expect(verifiers.map((verifier) => verifier.cached(old))).toEqual(all('').fill(undefined as never));
    const fresh = tokenBy(two, { sub: 'fresh' });
    expect(await inAll(fresh)).toEqual(all('accepted'));
    expect(await inAll(fresh)).toEqual(all('accepted'));
    expect(server.requestCount).toBe(2);
    advance(2_000);
    expect(await inAll(old)).toEqual(all('key_unknown'));
    expect(server.requestCount).toBe(3);
  });

  test('a token of a key that remains is verified again, and then cached in all workers', async () => {
    const advance = freezeClock();
    const token = tokenBy(one);
    await inAll(token);
    server.publish(one, two);
    advance(11_000);
    await use(1, tokenBy(two));
    expect(verifiers.some((verifier) => verifier.cached(token) !== undefined)).toBe(false);
    expect(await inAll(token)).toEqual(all('accepted'));
    expect(verifiers.every((verifier) => verifier.cached(token) !== undefined)).toBe(true);
  });
});

describe('while the issuer is unavailable', () => {
  test('keys are used for `staleIfError` in all workers, and not longer', async () => {
    verifiers = threads.compile(manifestOf({ staleIfError: '20m' }));
    const advance = freezeClock();
    await use(0, tokenBy(one));
    await use(1, tokenBy(one));
    server.respond = (response) => void response.writeHead(500).end();
    advance(29 * MINUTE_MS);
    expect(await inAll(tokenBy(one, { sub: 'a' }))).toEqual(all('accepted'));
    await eventually('the fetch fails', () => verifiers[0]?.status.failedFetches === 1);
    advance(2 * MINUTE_MS);
    expect(await inAll(tokenBy(one, { sub: 'b' }))).toEqual(all('keys_status_500'));
    expect(verifiers[0]?.status.keys).toBe('stale');
  });
});

describe('a verifier', () => {
  test('receives keys of all types', async () => {
    const rsa = rsaKey('rsa');
    server.publish(one, rsa);
    verifiers = threads.compile(manifestOf({ algorithms: ['ES256', 'RS256'] }));
    expect(await inAll(tokenOf({ alg: 'RS256', kid: 'rsa' }, claims(), rsa))).toEqual(all('accepted'));
    expect(await inAll(tokenOf({ alg: 'RS256', kid: 'one' }, claims(), rsa))).toEqual(all('key_unknown'));
    expect(await inAll(tokenBy(one))).toEqual(all('accepted'));
  });

  test('accepts no algorithm that the manifest does not list', async () => {
    const rsa = rsaKey('rsa');
    server.publish(one, rsa);
    for (const alg of ['none', 'HS256', 'RS256', 'ES384'])
      expect(await inAll(tokenOf({ alg, kid: 'rsa' }, claims(), rsa))).toEqual(all('algorithm_not_allowed'));
    const [head = '', body = ''] = tokenBy(one).split('.');
    expect(await inAll(`${head}.${body}.${encode('x'.repeat(64))}`)).toEqual(all('signature_wrong'));
  });

  test('that has keys before other workers use it shares them', async () => {
    const manifest = manifestOf({ cache: { maxAge: '5s' } });
    await manifest.plan.auth?.verifier.methods[0]?.prepare();
    verifiers = threads.compile(manifest);
    const token = tokenBy(one);
    expect(await inAll(token)).toEqual(all('accepted'));
    expect(verifiers.every((verifier) => verifier.cached(token) !== undefined)).toBe(true);
    expect(server.requestCount).toBe(1);
  });

  test('with keys of a file needs no other thread, and counts in all workers', async () => {
    verifiers = threads.compile(manifestOf({ jwks: './keys.json' }, keyFile(one)));
    threads.forgetVerifiers();
    const token = tokenBy(one);
    expect(await inAll(token)).toEqual(all('accepted'));
    expect(await inAll(token)).toEqual(all('accepted'));
    expect(verifiers[0]?.status).toMatchObject({ keys: 'known', hits: 4, misses: 4, entries: 4, fetches: 0 });
    expect(verifiers[0]?.status.results).toEqual(new Map([['valid', 4]]));
  });

  test('fetches keys itself once the main thread has forgotten it, and follows their rotation', async () => {
    const advance = freezeClock();
    const token = tokenBy(one);
    await inAll(token);
    threads.forgetVerifiers();
    expect(await use(1, tokenBy(one, { sub: 'a' }))).toBe('accepted');
    expect(server.requestCount).toBe(1);
    server.publish(two);
    advance(11_000);
    expect(await use(1, tokenBy(two))).toBe('accepted');
    expect(await use(1, tokenBy(one, { sub: 'b' }))).toBe('key_unknown');
    expect(await use(2, tokenBy(two))).toBe('accepted');
  });
});

describe('after a reload', () => {
  test('that returns to earlier tokens, a worker that has missed the other plan sees rotations again', async () => {
    const advance = freezeClock();
    const [, worker] = verifiers as [MethodVerifier, MethodVerifier];
    const token = tokenBy(one);
    await use(1, token);
    // The main thread alone activates another plan, and then the first one again with a new verifier.
    const main = createTokenThreads(1);
    main.compile(manifestOf({ cache: { maxAge: '5s' } }));
    verifiers = threads.compile(manifestForAnotherPrevious(main));
    expect(verifiers[1]).toBe(worker);
    expect(verifiers[0]?.key).toBe(worker.key);
    expect(await use(1, token)).toBe('accepted');
    server.publish(two);
    advance(11_000);
    expect(await use(0, tokenBy(two))).toBe('accepted');
    expect(worker.cached(token)).toBeUndefined();
  });

  test('requests of the old plan end with its result', async () => {
    let release = () => {};
    const { respond } = server;
    server.respond = (...exchange) => {
      release = () => respond(...exchange);
    };
    const outcomes = inAll(tokenBy(one));
    await eventually('the fetch begins', () => server.requestCount === 1);
    threads.compile(manifestOf({ cache: { maxAge: '5s' } }));
    threads.terminate(3);
    await turns(20);
    release();
    expect((await Promise.all([outcomes]))[0].slice(0, 3)).toEqual(all('accepted').slice(0, 3));
  });
});

function manifestForAnotherPrevious(main: TokenThreads): PlannedManifest {
  const defaults = { jwks: server.url, algorithms: ['ES256'], issuer: ISSUER, audience: AUDIENCE };
  return manifestFor({ jwt: defaults }, {}, main.plan);
}
