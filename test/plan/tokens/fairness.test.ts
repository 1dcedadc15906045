import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { VerificationClient, Verifier } from '../../../src/plan/tokens/verifier.ts';
import { eventually } from '../../support/site.ts';
import { type Identity, introspecting, sendJson, startIdentity, userinfoOf } from './asking.ts';
import { claims, ecKey, type KeysServer, startKeysServer, tokenOf, verifierOf } from './keys.ts';

let identity: Identity;
/** Responses that the service owes. */
let owed: { readonly token: string; readonly response: ServerResponse }[];

beforeEach(async () => {
  identity = await startIdentity();
  owed = [];
});

afterEach(async () => {
  vi.useRealTimers();
  await identity.close();
});

const hang: Identity['respond'] = (response, { token }) => void owed.push({ token, response });
const accept: Identity['respond'] = (response) => sendJson(response, { active: true, sub: 'someone' });

/** A client that can leave. */
function client(key: string): VerificationClient & { leave(): void } {
  const gone = new AbortController();
  return { key, signal: gone.signal, leave: () => gone.abort() };
}

const staying = (key: string): VerificationClient => client(key);

async function outcome(verifier: Verifier, token: string, who: VerificationClient): Promise<string> {
  const verdict = await verifier.verify(token, who);
  return 'code' in verdict ? (verdict.cause ?? verdict.code) : 'accepted';
}

describe.each([
  ['introspection', () => introspecting(identity.url, { timeout: '30s' })],
  ['userinfo', () => userinfoOf(identity.url, { timeout: '30s' })],
])('by %s', (_way, make) => {
  test('a flood of made-up tokens from one client leaves connections and places to others', async () => {
    const verifier = make();
    identity.respond = (response, question) => (question.token.startsWith('good') ? accept : hang)(response, question);
    const flood = Array.from({ length: 2_000 }, (_, index) => outcome(verifier, `bad${index}`, staying('10.0.0.1')));
    await eventually('its share is asked about', () => owed.length === 32);
    for (let index = 0; index < 50; index += 1)
      expect(await outcome(verifier, `good${index}`, staying(`10.0.1.${index}`))).toBe('accepted');
    expect(owed.length).toBe(32);
    expect(verifier.status.verifying).toBe(1_000);
    identity.respond = (response) => sendJson(response, '', 401);
    for (const { response } of owed) sendJson(response, '', 401);
    const outcomes = await Promise.all(flood);
    expect(outcomes.filter((cause) => cause === 'too_many_requests')).toHaveLength(1_000);
    expect(outcomes).not.toContain('circuit_open');
    identity.respond = accept;
    expect(await outcome(verifier, 'another', staying('10.0.0.1'))).toBe('accepted');
  });

  test.each([
    ['closes the connection', (response: ServerResponse) => void response.socket?.destroy()],
    ['responds 503', (response: ServerResponse) => sendJson(response, '', 503)],
    ['sends no JSON', (response: ServerResponse) => void response.socket?.end('garbage\r\n\r\n')],
    ['switches protocols', (response: ServerResponse) => void response.writeHead(101).end()],
  ])('tokens of one client on which the service %s do not shut out others', async (_title, break_) => {
    const verifier = make();
    identity.respond = (response, question) => {
      if (question.token.startsWith('good')) accept(response, question);
      else break_(response);
    };
    expect(await outcome(verifier, 'good', staying('10.0.1.1'))).toBe('accepted');
    for (let index = 0; index < 20; index += 1) {
      expect(await outcome(verifier, `bad${index}`, staying('10.0.0.1'))).not.toBe('accepted');
      expect(await outcome(verifier, `bad${index}again`, staying('10.0.0.1'))).not.toBe('accepted');
      if (index % 5 === 4) expect(await outcome(verifier, `good${index}`, staying(`10.0.1.${index}`))).toBe('accepted');
    }
  });

  test('clients that leave give their places back, and do not count against the service', async () => {
    const verifier = make();
    identity.respond = hang;
    const clients = Array.from({ length: 100 }, () => client('10.0.0.1'));
    const left = clients.map((who, index) => outcome(verifier, `t${index}`, who));
    await eventually('they are asked', () => owed.length === 32);
    const closed = owed.map(({ response }) => new Promise((resolve) => response.once('close', resolve)));
    for (const who of clients) who.leave();
    expect(new Set(await Promise.all(left))).toEqual(new Set(['client_disconnected']));
    await Promise.all(closed);
    expect(verifier.status.verifying).toBe(0);
    expect(verifier.status.results.size).toBe(0);
    expect(owed.length).toBe(32);
    identity.respond = accept;
    expect(await outcome(verifier, 't0', staying('10.0.0.1'))).toBe('accepted');
  });

  test('a token is asked about for as long as one client waits for it', async () => {
    const verifier = make();
    identity.respond = hang;
    const [first, second] = [client('10.0.0.1'), client('10.0.0.2')];
    const outcomes = [outcome(verifier, 'token', first), outcome(verifier, 'token', second)];
    await eventually('it is asked', () => owed.length === 1);
    first.leave();
    accept(owed[0]?.response as ServerResponse, { token: '', url: '' });
    expect(await Promise.all(outcomes)).toEqual(['accepted', 'accepted']);
    expect(identity.requests).toHaveLength(1);
  });

  test('a client that comes behind the last one that left has its token asked about anew', async () => {
    const verifier = make();
    identity.respond = hang;
    const first = client('10.0.0.1');
    const abandoned = outcome(verifier, 'token', first);
    await eventually('it is asked', () => owed.length === 1);
    first.leave();
    identity.respond = accept;
    expect(await outcome(verifier, 'token', staying('10.0.0.1'))).toBe('accepted');
    expect(await abandoned).toBe('client_disconnected');
    const gone = client('10.0.0.1');
    gone.leave();
    identity.respond = hang;
    expect(await outcome(verifier, 'other', gone)).toBe('client_disconnected');
  });

  test('the trial of an open breaker is not ended by its client', async () => {
    const verifier = make();
    vi.useFakeTimers({ toFake: ['performance'] });
    identity.respond = (response) => sendJson(response, '', 503);
    for (let index = 0; index < 5; index += 1) await verifier.verify(`t${index}`);
    expect(await outcome(verifier, 'token', staying('10.0.0.2'))).toBe('circuit_open');
    vi.advanceTimersByTime(2_000);
    identity.respond = hang;
    const trial = client('10.0.0.1');
    const settled = outcome(verifier, 'trial', trial);
    await eventually('the trial is asked', () => owed.length === 1);
    trial.leave();
    accept(owed[0]?.response as ServerResponse, { token: '', url: '' });
    await settled;
    identity.respond = accept;
    expect(await outcome(verifier, 'token', staying('10.0.0.2'))).toBe('accepted');
  });

  test('429, which one client may cause, shuts out nobody', async () => {
    const verifier = make();
    identity.respond = (response, { token }) =>
      token === 'good' ? accept(response, { token, url: '' }) : sendJson(response, '', 429);
    for (let index = 0; index < 20; index += 1)
      expect(await outcome(verifier, `t${index}`, staying('10.0.0.1'))).toBe('status_429');
    expect(await outcome(verifier, 'good', staying('10.0.0.2'))).toBe('accepted');
  });
});

test('questions that waited for a connection and ran out of time do not count against the service', async () => {
  const verifier = introspecting(identity.url, { timeout: '4s' });
  // A slow service that responds in time to each question that it gets at once.
  identity.respond = (response, { token }) => void setTimeout(() => accept(response, { token, url: '' }), 2_500);
  const outcomes = await Promise.all(
    Array.from({ length: 300 }, (_, index) => outcome(verifier, `t${index}`, staying('10.0.0.1'))),
  );
  expect(outcomes).toContain('timeout');
  identity.respond = accept;
  expect(await outcome(verifier, 'good', staying('10.0.0.2'))).toBe('accepted');
});

describe('keys', () => {
  let server: KeysServer;
  const one = ecKey('one');
  beforeEach(async () => {
    server = await startKeysServer(one);
  });
  afterEach(() => server.close());

  test('made-up names of one client leave places to wait in to others', async () => {
    const verifier = verifierOf({ jwks: server.url });
    const two = ecKey('two');
    const by = (key: typeof one, kid: string) => tokenOf({ alg: 'ES256', kid }, claims(), key);
    expect(await outcome(verifier, by(one, 'one'), staying('10.0.0.2'))).toBe('accepted');
    const flood = Array.from({ length: 1_200 }, (_, index) =>
      outcome(verifier, by(one, `made-up-${index}`), staying('10.0.0.1')),
    );
    await eventually('the flood waits', () => verifier.status.verifying === 1_000);
    server.publish(one, two);
    expect(await outcome(verifier, by(two, 'two'), staying('10.0.0.2'))).toBe('accepted');
    const outcomes = await Promise.all(flood);
    expect(outcomes.filter((cause) => cause === 'key_unknown')).toHaveLength(1_000);
    expect(server.asked).toBeLessThanOrEqual(3);
  });
});
