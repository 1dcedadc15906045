import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { VerificationClient, Verifier } from '../../../src/engine/tokens/verifier.ts';
import { pause, turns } from '../../support/pause.ts';
import { eventually } from '../../support/site.ts';
import { scaledMs } from '../../support/slowness.ts';
import { type Identity, introspecting, sendJson, startIdentity, userinfoOf } from './identity-service.ts';
import { claims, ecKey, type KeysServer, startKeysServer, tokenOf, verifierOf } from './keys.ts';

let identity: Identity;
/** Requests without a response so far. */
let pending: { readonly token: string; readonly response: ServerResponse }[];

beforeEach(async () => {
  identity = await startIdentity();
  pending = [];
});

afterEach(async () => {
  vi.useRealTimers();
  await identity.close();
});

const hang: Identity['respond'] = (response, { token }) => void pending.push({ token, response });
const accept: Identity['respond'] = (response) => sendJson(response, { active: true, sub: 'someone' });

/** A client that can disconnect. */
function client(key: string): VerificationClient & { disconnect(): void } {
  const disconnected = new AbortController();
  return { key, signal: disconnected.signal, disconnect: () => disconnected.abort() };
}

const connected = (key: string): VerificationClient => client(key);

async function outcome(verifier: Verifier, token: string, who: VerificationClient): Promise<string> {
  const verdict = await verifier.verify(token, who);
  return 'code' in verdict ? (verdict.cause ?? verdict.code) : 'accepted';
}

describe.each([
  ['introspection', () => introspecting(identity.url, { timeout: '1h' })],
  ['userinfo', () => userinfoOf(identity.url, { timeout: '1h' })],
])('by %s', (_way, make) => {
  test('a flood of made-up tokens from one client leaves connections and queue slots for others', async () => {
    const verifier = make();
    identity.respond = (response, request) => (request.token.startsWith('good') ? accept : hang)(response, request);
    const flood = Array.from({ length: 2_000 }, (_, index) => outcome(verifier, `bad${index}`, connected('10.0.0.1')));
    await eventually('the requests of its share arrive', () => pending.length === 32);
    for (let index = 0; index < 50; index += 1)
      expect(await outcome(verifier, `good${index}`, connected(`10.0.1.${index}`))).toBe('accepted');
    expect(pending.length).toBe(32);
    expect(verifier.methods[0]?.status.verifying).toBe(1_000);
    identity.respond = (response) => sendJson(response, '', 401);
    for (const { response } of pending) sendJson(response, '', 401);
    const outcomes = await Promise.all(flood);
    expect(outcomes.filter((cause) => cause === 'too_many_requests')).toHaveLength(1_000);
    expect(outcomes).not.toContain('circuit_open');
    identity.respond = accept;
    expect(await outcome(verifier, 'another', connected('10.0.0.1'))).toBe('accepted');
  });

  test.each([
    ['closes the connection', (response: ServerResponse) => void response.socket?.destroy()],
    ['responds 503', (response: ServerResponse) => sendJson(response, '', 503)],
    ['sends no JSON', (response: ServerResponse) => void response.socket?.end('garbage\r\n\r\n')],
    ['switches protocols', (response: ServerResponse) => void response.writeHead(101).end()],
  ])('tokens of one client on which the service %s do not block others', async (_title, fail) => {
    const verifier = make();
    identity.respond = (response, request) => {
      if (request.token.startsWith('good')) accept(response, request);
      else fail(response);
    };
    expect(await outcome(verifier, 'good', connected('10.0.1.1'))).toBe('accepted');
    for (let index = 0; index < 20; index += 1) {
      expect(await outcome(verifier, `bad${index}`, connected('10.0.0.1'))).not.toBe('accepted');
      expect(await outcome(verifier, `bad${index}again`, connected('10.0.0.1'))).not.toBe('accepted');
      if (index % 5 === 4)
        expect(await outcome(verifier, `good${index}`, connected(`10.0.1.${index}`))).toBe('accepted');
    }
  });

  test('disconnected clients release their slots, and do not count as failures of the service', async () => {
    const verifier = make();
    identity.respond = hang;
    const clients = Array.from({ length: 100 }, () => client('10.0.0.1'));
    const left = clients.map((who, index) => outcome(verifier, `t${index}`, who));
    await eventually('the requests arrive', () => pending.length === 32);
    const closed = pending.map(({ response }) => new Promise((resolve) => response.once('close', resolve)));
    for (const who of clients) who.disconnect();
    expect(new Set(await Promise.all(left))).toEqual(new Set(['client_disconnected']));
    await Promise.all(closed);
    expect(verifier.methods[0]?.status.verifying).toBe(0);
    expect(verifier.methods[0]?.status.results.size).toBe(0);
    expect(pending.length).toBe(32);
    identity.respond = accept;
    expect(await outcome(verifier, 't0', connected('10.0.0.1'))).toBe('accepted');
  });

  test('a verification continues while one client waits for it', async () => {
    const verifier = make();
    identity.respond = hang;
    const [first, second] = [client('10.0.0.1'), client('10.0.0.2')];
    const outcomes = [outcome(verifier, 'token', first), outcome(verifier, 'token', second)];
    await eventually('the request arrives', () => pending.length === 1);
    first.disconnect();
    accept(pending[0]?.response as ServerResponse, { token: '', url: '' });
    expect(await Promise.all(outcomes)).toEqual(['accepted', 'accepted']);
    expect(identity.requests).toHaveLength(1);
  });

  test('a client that arrives after the last one disconnected starts another verification', async () => {
    const verifier = make();
    identity.respond = hang;
    const first = client('10.0.0.1');
    const abandoned = outcome(verifier, 'token', first);
    await eventually('the request arrives', () => pending.length === 1);
    first.disconnect();
    identity.respond = accept;
    expect(await outcome(verifier, 'token', connected('10.0.0.1'))).toBe('accepted');
    expect(await abandoned).toBe('client_disconnected');
    const disconnected = client('10.0.0.1');
    disconnected.disconnect();
    identity.respond = hang;
    expect(await outcome(verifier, 'other', disconnected)).toBe('client_disconnected');
  });

  test('the trial of an open breaker continues without its client', async () => {
    const verifier = make();
    vi.useFakeTimers({ toFake: ['performance'] });
    identity.respond = (response) => sendJson(response, '', 503);
    for (let index = 0; index < 5; index += 1) await verifier.verify(`t${index}`);
    expect(await outcome(verifier, 'token', connected('10.0.0.2'))).toBe('circuit_open');
    vi.advanceTimersByTime(2_000);
    identity.respond = hang;
    const trial = client('10.0.0.1');
    const settled = outcome(verifier, 'trial', trial);
    await eventually('the trial request arrives', () => pending.length === 1);
    trial.disconnect();
    accept(pending[0]?.response as ServerResponse, { token: '', url: '' });
    await settled;
    identity.respond = accept;
    expect(await outcome(verifier, 'token', connected('10.0.0.2'))).toBe('accepted');
  });

  test('a 429, which one client may cause, does not block other clients', async () => {
    const verifier = make();
    identity.respond = (response, { token }) =>
      token === 'good' ? accept(response, { token, url: '' }) : sendJson(response, '', 429);
    for (let index = 0; index < 20; index += 1)
      expect(await outcome(verifier, `t${index}`, connected('10.0.0.1'))).toBe('status_429');
    expect(await outcome(verifier, 'good', connected('10.0.0.2'))).toBe('accepted');
  });
});

test('requests that time out after a wait for a connection do not count as failures of the service', async () => {
  const verifier = introspecting(identity.url, { timeout: `${scaledMs(4_000)}ms` });
  // A slow service that responds in time to each request that it receives immediately.
  identity.respond = (response, { token }) =>
    void pause(scaledMs(2_500)).then(() => accept(response, { token, url: '' }));
  const outcomes = await Promise.all(
    Array.from({ length: 300 }, (_, index) => outcome(verifier, `t${index}`, connected('10.0.0.1'))),
  );
  expect(outcomes).toContain('timeout');
  identity.respond = accept;
  expect(await outcome(verifier, 'good', connected('10.0.0.2'))).toBe('accepted');
});

describe('a key set', () => {
  let server: KeysServer;
  const one = ecKey('one');
  beforeEach(async () => {
    server = await startKeysServer(one);
  });
  afterEach(() => server.close());

  test('made-up key ids of one client leave queue slots for others', async () => {
    // Without a clock that runs, the next fetch is due in two seconds for all tokens of the flood.
    vi.useFakeTimers({ toFake: ['performance'] });
    const verifier = verifierOf({ jwks: server.url });
    const two = ecKey('two');
    const by = (key: typeof one, kid: string) => tokenOf({ alg: 'ES256', kid }, claims(), key);
    const tokens = Array.from({ length: 1_200 }, (_, index) => by(one, `made-up-${index}`));
    expect(await outcome(verifier, by(one, 'one'), connected('10.0.0.2'))).toBe('accepted');
    vi.advanceTimersByTime(1);
    const flood = tokens.map((token) => outcome(verifier, token, connected('10.0.0.1')));
    await turns(1);
    expect(verifier.methods[0]?.status.verifying).toBe(1_000);
    server.publish(one, two);
    expect(await outcome(verifier, by(two, 'two'), connected('10.0.0.2'))).toBe('accepted');
    const outcomes = await Promise.all(flood);
    expect(outcomes.filter((cause) => cause === 'key_unknown')).toHaveLength(1_000);
    expect(server.requestCount).toBeLessThanOrEqual(3);
  });
});
