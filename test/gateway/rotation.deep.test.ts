import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { claims, ecKey, keyFile, type SigningKey, tokenOf } from '../plan/tokens/keys.ts';
import { manifest, startGateway } from '../support/gateway.ts';
import { pause } from '../support/pause.ts';
import { head, sendRequest } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, startUpstreamServer } from '../support/upstream.ts';

const keys = ['one', 'two', 'three', 'four'].map((name) => ecKey(name)) as [
  SigningKey,
  SigningKey,
  SigningKey,
  SigningKey,
];
const attacker = ecKey('attacker');

/** The phases in order: a name, the key that signs, the behaviour of the key server, and the duration. */
const PHASES: readonly [string, SigningKey, (response: ServerResponse, published: string) => void, number][] = [
  ['healthy', keys[0], (response, published) => void response.end(published), 600],
  ['the key is replaced', keys[1], (response, published) => void response.end(published), 1_000],
  [
    'replaced again, with a slow server',
    keys[2],
    (response, published) => void pause(700).then(() => response.end(published)),
    2_000,
  ],
  ['HTML', keys[2], (response) => void response.end('<h1>maintenance</h1>'), 500],
  ['10 MB', keys[2], (response) => void response.end(Buffer.alloc(10_485_760, ' ')), 500],
  ['a redirect', keys[2], (response) => void response.writeHead(302, { location: '/login' }).end(), 500],
  ['reset', keys[2], (response) => void response.socket?.resetAndDestroy(), 500],
  ['recovered, with another key', keys[3], (response, published) => void response.end(published), 3_500],
];

const MIN_REQUESTS = 850;
const MAX_IN_FLIGHT = 300;

interface Outcome {
  readonly phase: string;
  readonly kind: string;
  readonly status: number;
}

it('at 100 requests per second, accepts no invalid token, refuses no valid one with 401, and fetches keys one at a time', async () => {
  let phase = PHASES[0] as (typeof PHASES)[number];
  let [fetches, concurrent, maxConcurrent] = [0, 0, 0];
  const server = await startUpstreamServer((_request, response) => {
    fetches += 1;
    concurrent += 1;
    maxConcurrent = Math.max(maxConcurrent, concurrent);
    response.on('close', () => {
      concurrent -= 1;
    });
    // The previous key stays published, since clients still send tokens that it signed.
    const published = keys.slice(Math.max(0, keys.indexOf(phase[1]) - 1), keys.indexOf(phase[1]) + 1);
    phase[2](response, keyFile(...published));
  });
  const up = await startUpstream();
  const route = '  - { id: closed, method: GET, path: /, upstream: up, access: protected }\n';
  const gateway = await startGateway(manifest(route, { up: up.url, jwks: `${server.url}/jwks.json` }));

  // On a busy machine, the first fetch of the keys may take longer than a request waits for it.
  const first = head('GET / HTTP/1.1', `Authorization: Bearer ${tokenOfKind(0, keys[0])[1]}`);
  await eventually('the keys are fetched', async () => (await sendRequest(gateway.port, first)).status === 200);

  const outcomes: Promise<Outcome>[] = [];
  let inFlight = 0;
  const send = (count: number) => {
    const [name, signer] = phase;
    const [kind, token] = tokenOfKind(count, signer);
    const response = sendRequest(gateway.port, head('GET / HTTP/1.1', `Authorization: Bearer ${token}`));
    inFlight += 1;
    outcomes.push(
      response.then(({ status }) => {
        inFlight -= 1;
        return { phase: name, kind, status };
      }),
    );
  };
  const started = performance.now();
  const load = setInterval(() => {
    // On a busy machine, more requests at once would exceed the limit on open connections.
    while (outcomes.length < (performance.now() - started) / 10 && inFlight < MAX_IN_FLIGHT) send(outcomes.length);
  }, 5);
  for (const next of PHASES) {
    phase = next;
    await pause(next[3]);
  }
  await eventually('most requests are sent', () => outcomes.length > MIN_REQUESTS);
  clearInterval(load);
  const elapsedMs = performance.now() - started;
  const results = await Promise.all(outcomes);
  await Promise.all([gateway.close(), server.close(), up.close()]);

  const valid = results.filter(({ kind }) => kind === 'valid');
  const invalid = results.filter(({ kind }) => kind !== 'valid');
  expect(valid.length).toBeGreaterThan(400);
  expect(invalid.filter(({ status }) => status !== 401 && status !== 503)).toEqual([]);
  expect(valid.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
  // A valid token gets 503 only while its key cannot be fetched, and only for a short time.
  const unavailable = valid.filter(({ status }) => status === 503);
  expect(unavailable.filter(({ phase }) => phase !== 'recovered, with another key')).toEqual([]);
  expect(
    valid.filter(({ phase, status }) => phase === 'recovered, with another key' && status === 200).length,
  ).toBeGreaterThan(50);
  expect(maxConcurrent).toBe(1);
  // One fetch in two seconds for unknown key names, and one for each replaced key.
  expect(fetches).toBeLessThan(12 + elapsedMs / 2_000);
});

/** Returns a kind and a token. Three of four are valid; the others are forged, name a new unknown key each time, or name the same one. */
function tokenOfKind(count: number, signer: SigningKey): [string, string] {
  const payload = claims({ sub: `user-${count}` });
  const kid = signer.jwk.kid;
  if (count % 4 !== 3) return ['valid', tokenOf({ alg: 'ES256', kid }, payload, signer)];
  if (count % 12 === 3) return ['forged', tokenOf({ alg: 'ES256', kid }, payload, attacker)];
  if (count % 12 === 7) return ['a new unknown key', tokenOf({ alg: 'ES256', kid: `k${count}` }, payload, attacker)];
  return ['the same unknown key', tokenOf({ alg: 'ES256', kid: 'zero' }, payload, attacker)];
}
