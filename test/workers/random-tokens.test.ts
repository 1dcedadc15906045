import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import type { PlannedManifest } from '../../src/engine/load.ts';
import type { MethodVerifier } from '../../src/engine/tokens/verifier.ts';
import { type Identity, sendJson, startIdentity } from '../plan/tokens/identity-service.ts';
import {
  claims,
  ecKey,
  type KeysServer,
  manifestFor,
  type SigningKey,
  startKeysServer,
  tokenOf,
} from '../plan/tokens/keys.ts';
import { AUDIENCE, ISSUER } from '../support/issuer.ts';
import { turns } from '../support/pause.ts';
import { runs } from '../support/runs.ts';
import { eventually } from '../support/site.ts';
import { createTokenThreads } from '../support/token-threads.ts';

/** Compares three workers that share what they verify with one verifier, which has its own identity service. */

const COUNT = 3;
const STEPS = 30;
/** Keys are fresh for ten minutes. */
const MAX_FRESH_MS = 500_000;

afterEach(() => void vi.useRealTimers());

/** Verifies a token as a request does. */
async function use(verifier: MethodVerifier, token: string): Promise<unknown> {
  const cached = verifier.cached(token);
  if (cached !== undefined) return cached.claims;
  const result = await verifier.verify(token, { key: '10.0.0.1', signal: new AbortController().signal });
  return 'code' in result ? [result.code, result.cause] : result.principal.claims;
}

/** The steps of a sequence: the clock advances, something changes, and then a worker gets a token. */
const step = <Change>(changes: fc.Arbitrary<Change>) =>
  fc.record({
    advanceMs: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(2_100, 3_000) },
      { weight: 6, arbitrary: fc.integer({ min: 2_001, max: 30_000 }) },
      // The keys are old then, so an unknown key waits for two fetches.
      { weight: 1, arbitrary: fc.constant(700_000) },
    ),
    change: fc.option(changes, { nil: undefined, freq: 3 }),
    worker: fc.nat(COUNT - 1),
    token: fc.nat(3),
  });

test('tokens that the identity service verifies have the results of one verifier, and cause as many requests', async () => {
  const services: [Identity, Identity] = [await startIdentity(), await startIdentity()];
  const respond: Readonly<Record<string, Identity['respond']>> = {
    accept: (response, { token }) => sendJson(response, { active: true, sub: token, exp: Date.now() / 1_000 + 40 }),
    reject: (response) => sendJson(response, { active: false }),
    fail: (response) => sendJson(response, '', 503),
    odd: (response) => sendJson(response, { active: 'yes' }),
    close: (response) => void response.socket?.destroy(),
  };
  const manifestOf = ({ url }: Identity) =>
    manifestFor(
      { introspection: { endpoint: `${url}/i`, clientId: 'g', clientSecret: '${S}', staleIfError: '30s' } },
      { env: { S: 'hidden one' } },
    );
  const property = async (
    steps: readonly { advanceMs: number; change: string | undefined; worker: number; token: number }[],
  ) => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const threads = createTokenThreads(COUNT);
    const group = threads.compile(manifestOf(services[0]));
    const single = verifierIn(manifestOf(services[1]));
    for (const service of services) {
      service.requests.length = 0;
      service.respond = respond['accept'] as Identity['respond'];
    }
    for (const { advanceMs, change, worker, token } of steps) {
      vi.advanceTimersByTime(advanceMs);
      for (const service of services) service.respond = respond[change ?? ''] ?? service.respond;
      const outcome = await use(group[worker] as MethodVerifier, `token${token}`);
      expect(outcome).toEqual(await use(single, `token${token}`));
      expect(services[0].requests.length).toBe(services[1].requests.length);
    }
    const { hits, misses, ...counts } = (group[0] as MethodVerifier).status;
    expect({ ...counts, hits: 0, misses: 0 }).toEqual({ ...single.status, hits: 0, misses: 0 });
    expect(hits + misses).toBe(steps.length);
    vi.useRealTimers();
  };
  const changes = fc.constantFrom(...Object.keys(respond), 'accept', 'accept');
  const steps = fc.array(step(changes), { minLength: STEPS, maxLength: STEPS });
  await fc.assert(fc.asyncProperty(steps, property), { numRuns: runs(60) });
  await Promise.all(services.map((service) => service.close()));
});

const KEYS = ['a', 'b', 'c', 'd'].map((kid) => ecKey(kid));
const IMPOSTOR = ecKey('a');

interface KeyStep {
  readonly advanceMs: number;
  /** The keys that the issuer publishes from now on, or an error. */
  readonly change?: readonly SigningKey[] | 'fail';
  readonly worker: number;
  readonly token: number;
}

const keySteps = fc.array(
  step(
    fc.oneof(
      fc.subarray(KEYS),
      fc.subarray([...KEYS.slice(1), IMPOSTOR]),
      fc.constantFrom<KeyStep['change']>('fail', KEYS.slice(0, 2)),
    ),
  ),
  { minLength: STEPS, maxLength: STEPS },
) as fc.Arbitrary<KeyStep[]>;

function jwtManifest({ url }: KeysServer, maxAge: string): PlannedManifest {
  // On a busy machine no fetch may end early.
  const limits = { timeout: '60s', staleIfError: '10m' };
  const jwt = { jwks: url, algorithms: ['ES256'], issuer: ISSUER, audience: AUDIENCE, ...limits };
  return manifestFor({ jwt: { ...jwt, cache: { maxAge } } });
}

function tokensOfKeys(): string[] {
  const payload = claims({ exp: Date.now() / 1_000 + 86_400 });
  return KEYS.map((key) => tokenOf({ alg: 'ES256', kid: key.jwk.kid }, payload, key));
}

function applyChange(server: KeysServer, change: KeyStep['change']): void {
  if (change === 'fail') server.respond = (response) => void response.writeHead(500).end();
  else if (change !== undefined) server.publish(...change);
}

test('signed tokens that are not cached have the results of one verifier, and cause as many fetches', async () => {
  const tokens = tokensOfKeys();
  const property = async (steps: readonly KeyStep[]) => {
    const [server, another] = [await startKeysServer(...KEYS.slice(0, 2)), await startKeysServer(...KEYS.slice(0, 2))];
    vi.useFakeTimers({ toFake: ['performance'] });
    const threads = createTokenThreads(COUNT);
    const group = threads.compile(jwtManifest(server, '0s'));
    const single = verifierIn(jwtManifest(another, '0s'));
    for (const { advanceMs, change, worker, token } of steps) {
      // The keys stay fresh. Old ones are also fetched in the background, in no order with the request of the token.
      vi.advanceTimersByTime(Math.min(advanceMs, MAX_FRESH_MS / STEPS));
      for (const each of [server, another]) applyChange(each, change);
      const both = [group[worker] as MethodVerifier, single].map((verifier) => use(verifier, tokens[token] as string));
      const [outcome, expected] = await Promise.all(both);
      expect(outcome).toEqual(expected);
      await fetched(group[0] as MethodVerifier, server);
      await fetched(single, another);
      expect(server.requestCount).toBe(another.requestCount);
    }
    vi.useRealTimers();
    await Promise.all([server.close(), another.close()]);
  };
  await fc.assert(fc.asyncProperty(keySteps, property), { numRuns: runs(20) });
});

test('signed tokens are cached only with keys of the last fetch, in any worker', async () => {
  const tokens = tokensOfKeys();
  let cachedTokens = 0;
  const property = async (steps: readonly KeyStep[]) => {
    let published: readonly SigningKey[] = KEYS.slice(0, 2);
    let received: readonly SigningKey[] = [];
    const server = await startKeysServer();
    const publish: KeysServer['respond'] = (response) => {
      received = published;
      response.end(JSON.stringify({ keys: published.map(({ jwk }) => jwk) }));
    };
    server.respond = publish;
    vi.useFakeTimers({ toFake: ['performance'] });
    const threads = createTokenThreads(COUNT);
    const group = threads.compile(jwtManifest(server, '1h'));
    for (const { advanceMs, change, worker, token } of steps) {
      vi.advanceTimersByTime(advanceMs);
      if (typeof change === 'object') {
        published = change;
        server.respond = publish;
      } else applyChange(server, change);
      await use(group[worker] as MethodVerifier, tokens[token] as string);
      await fetched(group[0] as MethodVerifier, server);
      const cached = group.flatMap((verifier) =>
        KEYS.filter((_key, index) => verifier.cached(tokens[index] as string)),
      );
      cachedTokens += cached.length;
      for (const key of cached) expect(received).toContain(key);
    }
    vi.useRealTimers();
    await server.close();
  };
  await fc.assert(fc.asyncProperty(keySteps, property), { numRuns: runs(20) });
  expect(cachedTokens).toBeGreaterThan(50);
});

/** Waits for a fetch that no token waits for. */
async function fetched(verifier: MethodVerifier, server: KeysServer): Promise<void> {
  await turns(30);
  await eventually('the fetch ends', () => {
    const { fetches, failedFetches } = verifier.status;
    return fetches + failedFetches === server.requestCount;
  });
}

function verifierIn({ plan }: PlannedManifest): MethodVerifier {
  if (plan.auth === undefined) throw new Error('the manifest has no auth');
  return plan.auth.verifier.methods[0] as MethodVerifier;
}
