import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { load } from '../../../src/engine/load.ts';
import { CandidateControl } from '../../../src/traffic/candidate/candidate-control.ts';
import { createNoWorkers } from '../../support/candidate.ts';
import { manifest, startGateway, type TestGateway, worldOf } from '../../support/gateway.ts';
import { head, sendRequest } from '../../support/raw.ts';
import { eventually } from '../../support/site.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

let upstream: Upstream;
let gateway: TestGateway;
let control: CandidateControl;

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());
beforeEach(() => async () => {
  await control.remove();
  await gateway.close();
});

/** Returns a manifest with two routes that share a limit by the client. */
function textOf(allow: string, other = 'GET'): string {
  return manifest(
    `  - { id: one, method: GET, path: /one, upstream: up, access: public, rateLimits: [shared] }
  - { id: two, method: ${other}, path: /two, upstream: up, access: public, rateLimits: [shared] }
rateLimits: { shared: { key: client, allow: ${allow} per 1h } }
`,
    { up: upstream.url },
  );
}

async function start(active: string): Promise<void> {
  gateway = await startGateway(active);
  control = new CandidateControl(gateway.gateway, gateway.log.logger, createNoWorkers());
}

async function compareWith(text: string): Promise<void> {
  const loaded = load({ path: 'next.yaml', text }, worldOf(), gateway.gateway.plan);
  if (loaded.plan === undefined) throw new Error('the candidate has problems');
  await control.activate(loaded, 'file', 1);
}

async function get(path: string): Promise<number> {
  return (await sendRequest(gateway.port, head(`GET ${path} HTTP/1.1`))).status;
}

/** Returns the counts after this many requests. */
async function countsAfter(requests: number) {
  await eventually('the comparison', () => control.status?.counts.requests === requests);
  const { same, unknown, changed } = control.status?.counts ?? { same: 0, unknown: new Map(), changed: new Map() };
  return { same, ...Object.fromEntries(unknown), ...Object.fromEntries(changed) };
}

describe('the rate limits of a candidate', () => {
  it('count by their own rate from the start', async () => {
    await start(textOf('1'));
    await compareWith(textOf('2'));
    expect([await get('/one'), await get('/one'), await get('/two')]).toEqual([200, 429, 429]);
    expect(await countsAfter(3)).toEqual({ same: 2, 'newly-allowed': 1 });
  });

  it('count for equal routes too, if another route that shares the limit differs', async () => {
    await start(textOf('2'));
    await compareWith(textOf('2', 'POST'));
    expect([await get('/two'), await get('/two'), await get('/one')]).toEqual([200, 200, 429]);
    expect(await countsAfter(3)).toEqual({ 'newly-refused': 2, 'newly-allowed': 1, same: 0 });
  });

  it('have no decision about a request that is refused because of requests before the start', async () => {
    await start(textOf('1'));
    expect(await get('/one')).toBe(200);
    await compareWith(textOf('2'));
    expect([await get('/one'), await get('/one'), await get('/one')]).toEqual([429, 429, 429]);
    expect(await countsAfter(3)).toEqual({ same: 1, 'rate-limit': 2 });
  });
});
