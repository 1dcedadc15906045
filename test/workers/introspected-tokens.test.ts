import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { PlannedManifest } from '../../src/engine/load.ts';
import type { MethodVerifier, VerificationClient } from '../../src/engine/tokens/verifier.ts';
import { type Identity, outcomeOf, sendJson, startIdentity } from '../plan/tokens/identity-service.ts';
import { manifestFor } from '../plan/tokens/keys.ts';
import { turns } from '../support/pause.ts';
import { eventually } from '../support/site.ts';
import { createTokenThreads, type TokenThreads } from '../support/token-threads.ts';

const COUNT = 4;

let identity: Identity;
/** Requests of the identity service without a response so far. */
let pending: { readonly token: string; readonly response: ServerResponse }[];
let threads: TokenThreads;
let verifiers: readonly MethodVerifier[];

beforeEach(async () => {
  identity = await startIdentity();
  pending = [];
  threads = createTokenThreads(COUNT);
  verifiers = threads.compile(manifestOf());
});

afterEach(async () => {
  vi.useRealTimers();
  await identity.close();
});

const hang: Identity['respond'] = (response, { token }) => {
  pending.push({ token, response });
  response.on('close', () => {
    pending = pending.filter((each) => each.response !== response);
  });
};
const accept: Identity['respond'] = (response) => sendJson(response, { active: true, sub: 'someone' });
const reject: Identity['respond'] = (response) => sendJson(response, { active: false });
const fail: Identity['respond'] = (response) => sendJson(response, '', 503);

function manifestOf(changes: object = {}): PlannedManifest {
  const defaults = { endpoint: `${identity.url}/introspect`, clientId: 'gateway', clientSecret: '${SECRET}' };
  return manifestFor({ introspection: { ...defaults, ...changes } }, { env: { SECRET: 'hidden one' } }, threads.plan);
}

/** Verifies a token as a request does. */
async function use(index: number, token: string, key = '10.0.0.1', signal = new AbortController().signal) {
  const verifier = verifiers[index] as MethodVerifier;
  if (verifier.cached(token)) return 'accepted';
  const result = await verifier.verify(token, { key, signal });
  return 'code' in result ? (result.cause ?? result.code) : 'accepted';
}

const inAll = (token: string) => Promise.all(verifiers.map((_verifier, index) => use(index, token)));

/** Replaces the clocks of the caches. The network keeps the real one. */
function freezeClock(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  return (ms) => void vi.advanceTimersByTime(ms);
}

function client(key: string): VerificationClient & { disconnect(): void } {
  const controller = new AbortController();
  return { key, signal: controller.signal, disconnect: () => controller.abort() };
}

describe('an unknown token', () => {
  test('of 200 requests in four workers is verified by one request', async () => {
    const outcomes = await Promise.all(Array.from({ length: 200 }, (_, index) => use(index % COUNT, 'token')));
    expect(new Set(outcomes)).toEqual(new Set(['accepted']));
    expect(identity.requests).toHaveLength(1);
    const { hits, misses, results, entries, verifying } = (verifiers[0] as MethodVerifier).status;
    expect({ hits, misses, entries, verifying }).toEqual({ hits: 0, misses: 200, entries: 1, verifying: 0 });
    expect(results).toEqual(new Map([['valid', 1]]));
  });

  test('has the same claims in all workers', async () => {
    const claims = { active: true, sub: 'ä', company_role: ['user'], nested: { a: [null, 1.5, '\u2028', {}] } };
    identity.respond = (response) => sendJson(response, claims);
    await inAll('token');
    const principals = verifiers.map((verifier) => verifier.cached('token'));
    for (const principal of principals) expect(principal).toEqual(principals[0]);
    expect(principals[0]?.claims).toEqual(claims);
  });

  test('is cached until the same time in all workers', async () => {
    const advance = freezeClock();
    await use(0, 'token');
    advance(59_000);
    expect(await use(1, 'token')).toBe('accepted');
    expect(identity.requests).toHaveLength(1);
    advance(999);
    expect(verifiers[1]?.cached('token')).toBeDefined();
    advance(1);
    expect(verifiers.map((verifier) => verifier.cached('token'))).toEqual([undefined, undefined, undefined, undefined]);
    identity.respond = reject;
    expect(new Set(await inAll('token'))).toEqual(new Set(['token_inactive']));
    expect(identity.requests).toHaveLength(2);
  });

  test('is rejected in all workers after one request, until the same time', async () => {
    identity.respond = reject;
    const advance = freezeClock();
    expect(await use(3, 'token')).toBe('token_inactive');
    advance(4_999);
    expect(new Set(await inAll('token'))).toEqual(new Set(['token_inactive']));
    expect(identity.requests).toHaveLength(1);
    expect(verifiers[0]?.status.refused).toBe(1);
    advance(2);
    identity.respond = accept;
    expect(new Set(await inAll('token'))).toEqual(new Set(['accepted']));
    expect(identity.requests).toHaveLength(2);
  });

  test('is verified again for a worker that joins a slow verification too late', async () => {
    verifiers = threads.compile(manifestOf({ cache: { maxAge: '3s' } }));
    const advance = freezeClock();
    let respond: () => void = () => undefined;
    identity.respond = (...request) => {
      respond = () => accept(...request);
    };
    const first = use(1, 'token');
    await eventually('the identity service has the request', () => identity.requests.length === 1);
    advance(2_900);
    // This worker begins a verification of its own, which joins that of the main thread.
    const second = use(2, 'token');
    await turns(20);
    advance(200);
    const late = [use(2, 'token'), use(3, 'token')];
    identity.respond = reject;
    respond();
    expect([await first, await second]).toEqual(['accepted', 'accepted']);
    expect(await Promise.all(late)).toEqual(['token_inactive', 'token_inactive']);
    expect(identity.requests).toHaveLength(2);
  });

  test('that is malformed is sent nowhere', async () => {
    for (const token of ['', 'a b', 'ä', 'a'.repeat(8_193)])
      expect(new Set(await inAll(token))).toEqual(new Set(['token_malformed']));
    expect(identity.requests).toHaveLength(0);
  });
});

describe('while the identity service', () => {
  test('fails, each worker accepts stale tokens until the same time', async () => {
    verifiers = threads.compile(manifestOf({ staleIfError: '2m' }));
    const advance = freezeClock();
    await use(1, 'token');
    advance(60_000);
    identity.respond = fail;
    expect(await inAll('token')).toEqual(Array(COUNT).fill('accepted'));
    advance(119_999);
    expect(await inAll('token')).toEqual(Array(COUNT).fill('accepted'));
    advance(1);
    expect(await inAll('token')).not.toContain('accepted');
  });

  test('fails, five failures of any workers open one breaker', async () => {
    identity.respond = fail;
    for (let index = 0; index < 5; index += 1) expect(await use(index % COUNT, `t${index}`)).toBe('status_503');
    expect(new Set(await inAll('token'))).toEqual(new Set(['circuit_open']));
    expect(identity.requests).toHaveLength(5);
  });

  test('hangs, each worker ends its requests in time', async () => {
    verifiers = threads.compile(manifestOf({ timeout: '100ms' }));
    identity.respond = hang;
    expect(await inAll('token')).toEqual(Array(COUNT).fill('timeout'));
    expect(identity.requests).toHaveLength(1);
  });

  test('hangs, one client holds its share of the connections in all workers together', async () => {
    verifiers = threads.compile(manifestOf({ timeout: '30s' }));
    identity.respond = (response, request) => (request.token.startsWith('good') ? accept : hang)(response, request);
    const flood = client('10.0.0.9');
    const outcomes = Promise.all(
      Array.from({ length: 400 }, (_, index) => use(index % COUNT, `bad${index}`, flood.key, flood.signal)),
    );
    await eventually('the requests of its share arrive', () => pending.length === 32);
    for (let index = 0; index < 12; index += 1)
      expect(await use(index % COUNT, `good${index}`, `10.0.1.${index}`)).toBe('accepted');
    expect(pending).toHaveLength(32);
    flood.disconnect();
    expect(new Set(await outcomes)).toEqual(new Set(['client_disconnected']));
    await eventually('its requests are aborted', () => pending.length === 0);
    expect(verifiers[0]?.status.verifying).toBe(0);
  });
});

describe('a request to the identity service', () => {
  test('is aborted when the last of its clients disconnects, in any worker', async () => {
    identity.respond = hang;
    const clients = verifiers.map((_verifier, index) => client(`10.0.0.${index}`));
    const outcomes = clients.map(({ key, signal }, index) => use(index, 'token', key, signal));
    await eventually('the request arrives', () => pending.length === 1);
    for (const each of clients.slice(1)) each.disconnect();
    await turns(20);
    expect(pending).toHaveLength(1);
    clients[0]?.disconnect();
    await eventually('the request is aborted', () => pending.length === 0);
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['client_disconnected']));
    identity.respond = accept;
    expect(await inAll('token')).toEqual(Array(COUNT).fill('accepted'));
    expect(identity.requests).toHaveLength(2);
  });

  test('is aborted when the worker that waits for it ends', async () => {
    identity.respond = hang;
    void use(1, 'token');
    void use(2, 'another');
    await eventually('both requests arrive', () => pending.length === 2);
    threads.terminate(1);
    await eventually('its request is aborted', () => pending.length === 1);
    expect(pending[0]?.token).toBe('another');
    expect(verifiers[0]?.status.verifying).toBe(1);
    accept(pending[0]?.response as ServerResponse, { token: '', url: '' });
    await eventually('the other request ends', () => verifiers[0]?.status.verifying === 0);
  });

  test('continues for other workers when one of them ends', async () => {
    identity.respond = hang;
    void use(1, 'token');
    const other = use(2, 'token');
    await eventually('the request arrives', () => pending.length === 1);
    await turns(20);
    threads.terminate(1);
    await turns(20);
    accept(pending[0]?.response as ServerResponse, { token: '', url: '' });
    expect(await other).toBe('accepted');
    expect(identity.requests).toHaveLength(1);
  });
});

describe('after a reload', () => {
  test('that does not change the tokens, workers keep their caches and counts', async () => {
    await inAll('token');
    const before = verifiers;
    verifiers = threads.compile(manifestOf());
    expect(verifiers.map((verifier, index) => verifier === before[index])).toEqual([true, true, true, true]);
    expect(await inAll('token')).toEqual(Array(COUNT).fill('accepted'));
    expect(identity.requests).toHaveLength(1);
    expect(verifiers[0]?.status).toMatchObject({ hits: 4, misses: 4 });
  });

  test('that changes the tokens, requests of the old plan end with its result', async () => {
    identity.respond = hang;
    const outcomes = inAll('token');
    await eventually('the request arrives', () => pending.length === 1);
    const old = verifiers;
    verifiers = threads.compile(manifestOf({ cache: { maxAge: '5s' } }));
    expect(verifiers.some((verifier, index) => verifier === old[index])).toBe(false);
    accept(pending[0]?.response as ServerResponse, { token: '', url: '' });
    expect(await outcomes).toEqual(Array(COUNT).fill('accepted'));
    expect(old.map((verifier) => verifier.cached('token') !== undefined)).toEqual(Array(COUNT).fill(true));
    expect(verifiers.map((verifier) => verifier.cached('token'))).toEqual(Array(COUNT).fill(undefined));
  });

  test('a worker verifies the tokens of an old plan itself once the main thread has forgotten it', async () => {
    threads.forgetVerifiers();
    const verifier = verifiers[1] as MethodVerifier;
    expect(await outcomeOf(verifier, 'token')).toBe('accepted');
    expect(verifier.cached('token')).toBeDefined();
    identity.respond = reject;
    expect(await outcomeOf(verifier, 'other')).toBe('token_inactive');
    expect(identity.requests).toHaveLength(2);
  });
});

test('the limit on requests of one worker leaves some for other clients', async () => {
  identity.respond = hang;
  const flood = client('10.0.0.9');
  const outcomes = Array.from({ length: 1_500 }, (_, index) => use(1, `bad${index}`, flood.key, flood.signal));
  await eventually('the requests of its share arrive', () => pending.length === 32);
  const other = use(1, 'good', '10.0.0.2');
  await eventually('the request of another client arrives', () => pending.some(({ token }) => token === 'good'));
  flood.disconnect();
  const causes = await Promise.all(outcomes);
  expect(causes.filter((cause) => cause === 'too_many_requests')).toHaveLength(500);
  expect(causes.filter((cause) => cause === 'client_disconnected')).toHaveLength(1_000);
  for (const { token, response } of pending) if (token === 'good') accept(response, { token, url: '' });
  expect(await other).toBe('accepted');
});
