import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { load } from '../../../src/engine/load.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { createSingleWorker } from '../../../src/engine/shared-memory/worker-context.ts';
import { CandidateResults } from '../../../src/traffic/candidate/candidate-results.ts';
import { LiveCandidate } from '../../../src/traffic/candidate/live-candidate.ts';
import { manifest, worldOf } from '../../support/gateway.ts';
import { keepAliveHead, Wire } from '../../support/raw.ts';
import { eventually, type Site, startSite } from '../../support/site.ts';

const MB = 1024 ** 2;
const SCHEMA = '{ type: object, required: [a] }';
const JSON_TYPE = 'Content-Type: application/json';

/** Returns the routes. The candidate differs in the role of one, and in the schemas of two. */
function routes({ schema = SCHEMA, roles = '[admin]' } = {}): string {
  return `  - { id: plain, method: GET, path: /plain, upstream: up, access: public }
  - { id: roles, method: POST, path: /roles, upstream: up, access: protected, roles: ${roles}, body: { maxBytes: 2MB, schema: ${schema} } }
  - { id: buffered, method: POST, path: /buffered, upstream: up, access: public, body: { maxBytes: 2MB, schema: ${schema} } }
  - { id: streamed, method: POST, path: /streamed, upstream: up, access: public, body: { types: [application/json], maxBytes: 2MB } }
`;
}

let site: Site;
let live: LiveCandidate;
let results: CandidateResults;
let errors: string[];

beforeAll(async () => {
  site = await startSite(routes());
});
afterAll(() => site.close());

/** Loads a candidate that validates each body by another schema. */
function loadCandidate(text = routes({ schema: '{ type: object, required: [b] }', roles: '[admin, user]' })): Plan {
  const streamed = text.replace('types: [application/json]', `schema: ${SCHEMA}`);
  const full = manifest(streamed, { up: site.upstream.url, jwks: site.issuer.jwksUrl });
  const { plan, problems } = load({ path: 'next.yaml', text: full }, worldOf(), site.gateway.gateway.plan);
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan;
}

function compareWith(candidate: Plan): void {
  const { gateway } = site.gateway;
  live?.close();
  errors = [];
  results = new CandidateResults((error) => void errors.push(error));
  live = new LiveCandidate({
    active: gateway.plan,
    candidate,
    rules: { sample: 1, maySendTokens: true, salt: '' },
    worker: createSingleWorker(),
    results,
  });
  gateway.observe(live);
}

beforeEach(() => compareWith(loadCandidate()));

/** Waits until this many requests were compared, failed or skipped. */
async function compared(count: number): Promise<void> {
  await eventually(
    'the comparison',
    () => results.comparison.requests + results.errors + results.skipped.queue >= count,
  );
}

function unknownBodies(): number {
  return results.comparison.report().unknown.get('body') ?? 0;
}

const body = `{"a":"${'x'.repeat(MB / 2)}"}`;

/** Sends the head of a request and the first half of its body. */
async function openUpload(path: string, ...headers: string[]): Promise<Wire> {
  const wire = await Wire.open(site.port);
  const first = keepAliveHead(`POST ${path} HTTP/1.1`, `Content-Length: ${body.length}`, JSON_TYPE, ...headers);
  return wire.write(first + body.slice(0, body.length / 2));
}

describe('the memory of bodies', () => {
  it('is released after each comparison', async () => {
    expect((await site.post('/buffered', body, JSON_TYPE)).status).toBe(200);
    expect((await site.post('/streamed', body, JSON_TYPE)).status).toBe(200);
    expect((await site.post('/roles', body, JSON_TYPE)).status).toBe(401);
    await compared(3);
    expect([live.keptBytes, results.errors]).toEqual([0, 0]);
    const kinds = results.comparison.report().groups.map(({ kind, from }) => `${kind} ${from.route}`);
    expect(kinds).toEqual(['newly-refused buffered']);
  });

  it('is released when the client leaves in the middle of a body', async () => {
    const wires = await Promise.all([openUpload('/buffered'), openUpload('/streamed')]);
    await eventually('the copies', () => live.keptBytes > body.length / 2);
    for (const wire of wires) wire.end();
    await compared(2);
    expect(live.keptBytes).toBe(0);
  });

  it('has the body of a request that the active plan refuses', async () => {
    const bearer = `Authorization: Bearer ${await site.issuer.token()}`;
    expect((await site.post('/roles', '{"b":1}', JSON_TYPE, bearer)).status).toBe(403);
    expect((await site.post('/roles', '{"c":1}', JSON_TYPE, bearer)).status).toBe(403);
    expect((await site.post('/roles', body, JSON_TYPE, bearer)).status).toBe(403);
    await compared(3);
    const report = results.comparison.report();
    expect(report.groups.map(({ kind, to, requests }) => [kind, to.refusal, requests])).toEqual([
      ['newly-allowed', null, 1],
      ['other-status', 'body_invalid', 2],
    ]);
    expect([unknownBodies(), live.keptBytes]).toEqual([0, 0]);
  });

  it('is released when another candidate replaces this one, or none, in the middle of a body', async () => {
    const replaced = live;
    const wires = [await openUpload('/buffered'), await openUpload('/streamed')];
    await eventually('the copies', () => replaced.keptBytes > body.length / 2);
    compareWith(loadCandidate());
    wires[0]?.write(body.slice(body.length / 2));
    expect((await wires[0]?.response('POST'))?.status).toBe(200);
    await compared(1);
    site.gateway.gateway.observe(undefined);
    wires[1]?.write(body.slice(body.length / 2));
    expect((await wires[1]?.response('POST'))?.status).toBe(200);
    await eventually('the release', () => replaced.keptBytes === 0);
    expect(live.keptBytes).toBe(0);
    for (const wire of wires) wire.end();
  });

  it('is released when the active plan is replaced in the middle of a body', async () => {
    const wire = await openUpload('/buffered');
    await eventually('the copy', () => live.keptBytes > 0);
    const text = manifest(routes(), { up: site.upstream.url, jwks: site.issuer.jwksUrl });
    const replaced = live;
    site.gateway.swap(text);
    compareWith(loadCandidate());
    wire.write(body.slice(body.length / 2));
    expect((await wire.response('POST')).status).toBe(200);
    await eventually('the release', () => results.skipped['earlier-plan'] === 1);
    expect([replaced.keptBytes, live.keptBytes]).toEqual([0, 0]);
    wire.end();
  });

  it('has a limit for all bodies together, and for each of them', async () => {
    const wires = await Promise.all(Array.from({ length: 80 }, () => openUpload('/streamed')));
    await eventually('the uploads', () => live.keptBytes > 15 * MB);
    expect(live.keptBytes).toBeLessThanOrEqual(16 * MB);
    for (const wire of wires) wire.write(body.slice(body.length / 2));
    for (const wire of wires) expect((await wire.response('POST')).status).toBe(200);
    await compared(80);
    expect(unknownBodies()).toBeGreaterThan(0);
    expect((await site.post('/streamed', `{"a":"${'x'.repeat(1.5 * MB)}"}`, JSON_TYPE)).status).toBe(200);
    await compared(81);
    expect(live.keptBytes).toBe(0);
    for (const wire of wires) wire.end();
  });
});

/** Returns the candidate with another router or other bodies. */
function withRoutes(change: (route: Plan['routes'][number]) => Plan['routes'][number]): Plan {
  const plan = loadCandidate();
  const { match } = plan.router;
  const changed = new Map(plan.routes.map((route) => [route, change(route)]));
  const router = {
    ...plan.router,
    match: (method: string, path: string) => {
      const route = match(method, path);
      return route && changed.get(route);
    },
  };
  return { ...plan, routes: [...changed.values()], router };
}

function withValidate(validate: () => never | Promise<never>): Plan {
  return withRoutes((route) =>
    route.body === undefined ? route : { ...route, body: { ...route.body, validate: validate as never } },
  );
}

const fail = () => {
  throw new Error('broken');
};

describe('a candidate that fails', () => {
  it.each([
    ['in its router', () => ({ ...loadCandidate(), router: { ...loadCandidate().router, match: fail } })],
    ['in a validator', () => withValidate(fail)],
    ['in a validation that rejects', () => withValidate(async () => fail())],
  ])('%s changes no response, and is reported once', async (_, candidate) => {
    compareWith(candidate());
    for (let count = 0; count < 3; count += 1)
      expect((await site.post('/buffered', '{"a":1}', JSON_TYPE)).status).toBe(200);
    expect((await site.get('/plain')).status).toBe(200);
    await eventually('the errors', () => results.errors >= 3);
    expect(errors).toEqual(['Error: broken']);
    expect(live.keptBytes).toBe(0);
  });

  it('without a decision holds a bounded number of requests', async () => {
    compareWith(withValidate(() => new Promise(() => {})));
    const request = `${keepAliveHead('POST /buffered HTTP/1.1', 'Content-Length: 7', JSON_TYPE)}{"a":1}`;
    const wires = await Promise.all(Array.from({ length: 8 }, () => Wire.open(site.port)));
    for (const wire of wires) wire.write(request.repeat(200));
    for (const wire of wires)
      for (let count = 0; count < 200; count += 1) expect((await wire.response('POST')).status).toBe(200);
    expect(results.skipped.queue).toBeGreaterThan(100);
    expect(live.keptBytes).toBeLessThan(1_100 * 7);
    for (const wire of wires) wire.end();
    live.close();
    await eventually('the time limit', () => live.keptBytes === 0);
    expect(results.comparison.report().unknown.get('timeout')).toBeGreaterThanOrEqual(64);
  });
});
