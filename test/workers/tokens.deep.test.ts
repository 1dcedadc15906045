import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Identity, sendJson, startIdentity } from '../plan/tokens/identity-service.ts';
import { claims, ecKey, type KeysServer, startKeysServer, tokenOf } from '../plan/tokens/keys.ts';
import { AUDIENCE, ISSUER } from '../support/issuer.ts';
import { keepAliveHead, type Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { startWorkerThreads, type WorkerThreads } from '../support/worker-threads.ts';

/** Tokens in workers that are real threads. */

const SECRET = 'hidden one';
const one = ecKey('one');
const two = ecKey('two');

let upstream: Upstream;
let identity: Identity;
let keys: KeysServer;
let workers: WorkerThreads;
let wires: readonly [main: Wire, other: Wire];
let lastToken = 0;

beforeAll(async () => {
  upstream = await startUpstream();
});

afterAll(() => upstream.close());

beforeEach(async () => {
  identity = await startIdentity({ active: true, sub: 'someone', company_role: 'user' });
  keys = await startKeysServer(one);
});

afterEach(async () => {
  for (const wire of wires) wire.end();
  await workers.close();
  await Promise.all([identity.close(), keys.close()]);
});

const reject: Identity['respond'] = (response) => sendJson(response, { active: false });

function manifestOf(tokens: object, server = '{}'): string {
  return `version: 1
listen: 127.0.0.1:0
server: ${server}
upstreams:
  up: { url: '${upstream.url}' }
auth:
  tokens: ${JSON.stringify(tokens)}
  role: { claim: /company_role, allow: [user], message: users only }
routes:
  - { id: closed, method: GET, path: /closed, upstream: up, access: protected }
  - { id: also, method: GET, path: /also, upstream: up, access: protected }
`;
}

const introspection = (changes: object = {}) => ({
  introspection: {
    endpoint: `${identity.url}/introspect`,
    clientId: 'gateway',
    clientSecret: '${SECRET}',
    ...changes,
  },
});
const jwt = (changes: object = {}) => ({
  jwt: { jwks: keys.url, algorithms: ['ES256'], issuer: ISSUER, audience: AUDIENCE, ...changes },
});

async function start(tokens: object, count = 2): Promise<void> {
  workers = await startWorkerThreads(manifestOf(tokens), { SECRET }, count);
  wires = await workers.openWires();
}

const newToken = () => {
  lastToken += 1;
  return `token-${lastToken}`;
};
const signed = (key: typeof one, changes = {}) => tokenOf({ alg: 'ES256', kid: key.jwk.kid }, claims(changes), key);

function send(wire: Wire, token: string): void {
  wire.write(keepAliveHead('GET /closed HTTP/1.1', `Authorization: Bearer ${token}`));
}

async function statusOn(wire: Wire, token: string): Promise<number> {
  send(wire, token);
  return (await wire.response()).status;
}

const statuses = (token: string) => Promise.all(wires.map((wire) => statusOn(wire, token)));

test('200 requests with one unknown token over four workers cause one introspection', async () => {
  await start(introspection(), 4);
  const token = newToken();
  const responses = Array.from({ length: 200 }, async () => {
    const response = await fetch(`http://127.0.0.1:${workers.port}/closed`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    await response.arrayBuffer();
    return response.status;
  });
  expect(new Set(await Promise.all(responses))).toEqual(new Set([200]));
  expect(identity.requests).toHaveLength(1);
  const status = workers.gateway.plan.auth?.verifier.methods[0]?.status;
  expect((status?.hits ?? 0) + (status?.misses ?? 0)).toBe(200);
  expect(status).toMatchObject({ entries: 1, results: new Map([['valid', 1]]) });
});

describe('two workers', () => {
  test('share rejected tokens', async () => {
    await start(introspection());
    identity.respond = reject;
    const token = newToken();
    expect([await statusOn(wires[1], token), await statusOn(wires[0], token)]).toEqual([401, 401]);
    expect(identity.requests).toHaveLength(1);
  });

  test('share a circuit breaker, which says so in the log', async () => {
    await start(introspection());
    identity.respond = (response) => sendJson(response, '', 503);
    for (let index = 0; index < 5; index += 1) expect(await statusOn(wires[index % 2] as Wire, newToken())).toBe(503);
    expect(await statuses(newToken())).toEqual([503, 503]);
    expect(identity.requests).toHaveLength(5);
    await eventually('both lines are logged', () => logged('circuit_open') === 2);
  });

  test('end requests in time while the identity service hangs', async () => {
    await start(introspection({ timeout: '200ms' }));
    identity.respond = () => undefined;
    expect(await statuses(newToken())).toEqual([503, 503]);
    expect(identity.requests).toHaveLength(1);
  });

  test('accept tokens of a new key after one fetch, and no longer those of the removed key', async () => {
    await start(jwt());
    const old = signed(one);
    expect(await statuses(old)).toEqual([200, 200]);
    expect(await statuses(old)).toEqual([200, 200]);
    keys.publish(two);
    expect(await statusOn(wires[1], signed(two))).toBe(200);
    expect(await statuses(signed(two, { sub: 'other' }))).toEqual([200, 200]);
    expect(keys.requestCount).toBe(2);
    expect(await statuses(old)).toEqual([401, 401]);
    expect(keys.requestCount).toBe(3);
  });

  test('keep their caches over a reload that leaves the tokens unchanged', async () => {
    await start(introspection());
    const token = newToken();
    await statuses(token);
    await workers.reload(manifestOf(introspection(), "{ trustedProxies: ['10.0.0.0/8'] }"));
    expect(await statuses(token)).toEqual([200, 200]);
    expect(await statuses(newToken())).toEqual([200, 200]);
    expect(identity.requests).toHaveLength(2);
  });

  test('end requests of the old plan when a reload changes the tokens', async () => {
    await start(introspection());
    const pending: ServerResponse[] = [];
    identity.respond = (response) => void pending.push(response);
    for (const wire of wires) send(wire, 'token-of-the-old-plan');
    await eventually('the request arrives', () => pending.length === 1);
    await workers.reload(manifestOf(jwt()));
    sendJson(pending[0] as ServerResponse, { active: true, company_role: 'user' });
    for (const wire of wires) expect((await wire.response()).status).toBe(200);
    expect(await statuses('token-of-the-old-plan')).toEqual([401, 401]);
    expect(await statuses(signed(one))).toEqual([200, 200]);
    expect(keys.requestCount).toBe(1);
  });

  test('log no token and no secret', async () => {
    await start(introspection());
    const token = newToken();
    await statuses(token);
    identity.respond = reject;
    const other = newToken();
    await statuses(other);
    await eventually(
      'all lines are logged',
      () => workers.lines.filter((line) => line.includes('/closed')).length === 4,
    );
    for (const text of [token, other, SECRET]) expect(workers.lines.join('')).not.toContain(text);
  });
});

describe('a request to the identity service for another worker', () => {
  test('is aborted when the client disconnects', async () => {
    await start(introspection());
    let aborted = 0;
    identity.respond = (response) => void response.on('close', () => (aborted += 1));
    send(wires[1], newToken());
    await eventually('the request arrives', () => identity.requests.length === 1);
    wires[1].end();
    await eventually('the request is aborted', () => aborted === 1);
  });

  test('is aborted when the worker ends, and the next worker verifies tokens', async () => {
    await start(introspection());
    let aborted = 0;
    const accept = identity.respond;
    identity.respond = (response) => void response.on('close', () => (aborted += 1));
    send(wires[1], newToken());
    await eventually('the request arrives', () => identity.requests.length === 1);
    await workers.threads[0]?.terminate();
    await eventually('the request is aborted', () => aborted === 1);
    await eventually('the worker is replaced', () => workers.group.status.serving === 2);
    identity.respond = accept;
    wires[0].end();
    wires = await workers.openWires();
    const token = newToken();
    expect(await statuses(token)).toEqual([200, 200]);
    expect(await statuses(token)).toEqual([200, 200]);
    expect(identity.requests).toHaveLength(2);
    expect(workers.gateway.plan.auth?.verifier.methods[0]?.status).toMatchObject({ entries: 1, verifying: 0 });
  });
});

function logged(reason: string): number {
  return workers.lines.filter((line) => line.includes(`"${reason}"`)).length;
}
