import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { claims, ecKey, keyFile, type SigningKey, tokenOf } from '../plan/tokens/keys.ts';
import { manifest, startGateway } from '../support/gateway.ts';
import { ask, head } from '../support/raw.ts';
import { startListening, startUpstream } from '../support/upstream.ts';

const keys = ['one', 'two', 'three', 'four'].map((name) => ecKey(name)) as [
  SigningKey,
  SigningKey,
  SigningKey,
  SigningKey,
];
const evil = ecKey('evil');

/** One after the other: which key signs and is published, what the server of keys does, and for how long. */
const PHASES: readonly [string, SigningKey, (response: ServerResponse, published: string) => void, number][] = [
  ['all is well', keys[0], (response, published) => void response.end(published), 600],
  ['the key is replaced', keys[1], (response, published) => void response.end(published), 1_000],
  [
    'replaced again, and slow',
    keys[2],
    (response, published) => void setTimeout(() => response.end(published), 700),
    2_000,
  ],
  ['HTML', keys[2], (response) => void response.end('<h1>maintenance</h1>'), 500],
  ['10 MB', keys[2], (response) => void response.end(Buffer.alloc(10_485_760, ' ')), 500],
  ['a redirect', keys[2], (response) => void response.writeHead(302, { location: '/login' }).end(), 500],
  ['dead', keys[2], (response) => void response.socket?.resetAndDestroy(), 500],
  ['back, with another key', keys[3], (response, published) => void response.end(published), 3_500],
];

interface Outcome {
  readonly phase: string;
  readonly kind: string;
  readonly status: number;
}

it('under 200 requests a second no token is taken wrongly, no good one is 401, and keys are asked for one at a time', async () => {
  let phase = PHASES[0] as (typeof PHASES)[number];
  let [asked, open, busiest] = [0, 0, 0];
  const server = await startListening((_request, response) => {
    asked += 1;
    open += 1;
    busiest = Math.max(busiest, open);
    response.on('close', () => {
      open -= 1;
    });
    // The key before it serves on for a while: tokens that were signed by it are still under way.
    const published = keys.slice(Math.max(0, keys.indexOf(phase[1]) - 1), keys.indexOf(phase[1]) + 1);
    phase[2](response, keyFile(...published));
  });
  const up = await startUpstream();
  const route = '  - { id: closed, method: GET, path: /, upstream: up, access: protected }\n';
  const gateway = await startGateway(manifest(route, { up: up.url, jwks: `${server.url}/jwks.json` }));

  const outcomes: Promise<Outcome>[] = [];
  const send = (count: number) => {
    const [name, signer] = phase;
    const [kind, token] = tokenOfKind(count, signer);
    const answer = ask(gateway.port, head('GET / HTTP/1.1', `Authorization: Bearer ${token}`));
    outcomes.push(answer.then(({ status }) => ({ phase: name, kind, status })));
  };
  const begun = performance.now();
  const load = setInterval(() => {
    while (outcomes.length < (performance.now() - begun) / 5) send(outcomes.length);
  }, 5);
  for (const next of PHASES) {
    phase = next;
    await sleep(next[3]);
  }
  clearInterval(load);
  const results = await Promise.all(outcomes);
  await Promise.all([gateway.close(), server.close(), up.close()]);

  const good = results.filter(({ kind }) => kind === 'good');
  const bad = results.filter(({ kind }) => kind !== 'good');
  expect(good.length).toBeGreaterThan(800);
  expect(bad.filter(({ status }) => status !== 401 && status !== 503)).toEqual([]);
  expect(good.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
  // Of a key that nobody could be asked about nothing is known: only then, and not for long.
  const unknown = good.filter(({ status }) => status === 503);
  expect(unknown.filter(({ phase }) => phase !== 'back, with another key')).toEqual([]);
  expect(
    good.filter(({ phase, status }) => phase === 'back, with another key' && status === 200).length,
  ).toBeGreaterThan(100);
  expect(busiest).toBe(1);
  // One in two seconds for names that are made up, one for each token that found its key gone.
  expect(asked).toBeLessThan(16);
}, 40_000);

/** Three of four tokens are good; the others are forged, signed by a key of no name, or by one that was replaced. */
function tokenOfKind(count: number, signer: SigningKey): [string, string] {
  const payload = claims({ sub: `user-${count}` });
  const kid = signer.jwk.kid;
  if (count % 4 !== 3) return ['good', tokenOf({ alg: 'ES256', kid }, payload, signer)];
  if (count % 12 === 3) return ['forged', tokenOf({ alg: 'ES256', kid }, payload, evil)];
  if (count % 12 === 7) return ['made up', tokenOf({ alg: 'ES256', kid: `k${count}` }, payload, evil)];
  return ['by a name that is no key', tokenOf({ alg: 'ES256', kid: 'zero' }, payload, evil)];
}
