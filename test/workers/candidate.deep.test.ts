import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AUDIENCE, ISSUER, type Issuer, startIssuer } from '../support/issuer.ts';
import type { Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { sendOn, startWorkerSite, type WorkerSite } from '../support/worker-site.ts';
import { type CandidateReport, readReport, readReportAfter } from './candidate-report.ts';

let upstream: Upstream;
let issuer: Issuer;
let site: WorkerSite;

beforeAll(async () => {
  [upstream, issuer] = await Promise.all([startUpstream(), startIssuer()]);
});
afterAll(() => Promise.all([upstream.close(), issuer.close()]));
afterEach(() => site.close());

interface Choices {
  readonly version?: number;
  readonly more?: string;
  readonly extra?: string;
}

/** Returns a manifest. Requests of `/a` with `page=x` are the ones that a schema for `page` refuses. */
function textOf({ version = 1, more = '', extra = '' }: Choices = {}): string {
  return `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
server: { workers: 2 }
upstreams: { up: { url: '${upstream.url}' } }
auth:
  tokens: { jwt: { jwks: '${issuer.jwksUrl}', algorithms: [ES256], issuer: '${ISSUER}', audience: ${AUDIENCE} } }
  role: { claim: /company_role, allow: [admin, user], message: admins and users only }
routes:
  - { id: a, method: GET, path: /a, upstream: up, access: public${more} }
  - { id: b, method: GET, path: /b, upstream: up, access: public, responseHeaders: { set: { X-Version: '${version}' } } }
  - { id: p, method: GET, path: /p, upstream: up, access: protected${more} }
${extra}`;
}

const NEXT = { more: ', query: { properties: { page: { type: integer } } }' };

async function put(choices: Choices = NEXT, query = ''): Promise<void> {
  const response = await fetch(`${site.adminUrl}/-/candidate${query}`, { method: 'PUT', body: textOf(choices) });
  expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
}

/** Sends requests one after the other on each connection. */
async function sendAll(wires: readonly Wire[], lines: readonly string[], ...headers: string[]): Promise<void> {
  await Promise.all(
    wires.map(async (wire) => {
      for (const line of lines) expect((await sendOn(wire, line, ...headers)).status).toBe(200);
    }),
  );
}

const LINES = ['GET /a?page=1 HTTP/1.1', 'GET /a?page=x HTTP/1.1', 'GET /b HTTP/1.1'];

describe('a candidate with several workers', () => {
  it('has one comparison of the requests of all workers', async () => {
    site = await startWorkerSite(textOf(), 3);
    const [main, others] = await site.openWires(4);
    await put();
    for (let round = 0; round < 5; round += 1) await sendAll([...main, ...others], LINES);
    const { same, changed, skipped, errors } = await readReportAfter(site, 8 * 5 * 3);
    expect([same, changed.kinds, skipped.total, errors]).toEqual([80, { 'newly-refused': 40 }, 0, 0]);
    expect(changed.groups.map(({ requests, callers, route }) => [requests, callers, route])).toEqual([[40, 1, 'a']]);
    const metrics = await (await fetch(`${site.adminUrl}/metrics`)).text();
    expect(metrics).toContain('signing_gateway_candidate_requests_total{result="same"} 80\n');
    expect(metrics).toContain('signing_gateway_candidate_changes_total{kind="newly-refused"} 40\n');
    const status = JSON.parse(await (await fetch(`${site.adminUrl}/status`)).text());
    expect(status.candidate).toMatchObject({ state: 'active', requests: 120, changed: 40 });
  });

  it('counts callers once, and shows the requests of a worker that alone has them', async () => {
    site = await startWorkerSite(textOf());
    const [main, others] = await site.openWires(1);
    await put();
    for (const sub of ['ada', 'bob', 'eve', 'ada']) {
      const bearer = `Authorization: Bearer ${await issuer.token({ company_role: 'user', sub })}`;
      await sendAll([...main, ...others], ['GET /p?page=x HTTP/1.1'], bearer);
    }
    await sendAll(others, ['GET /a?page=x HTTP/1.1']);
    const { changed } = await readReportAfter(site, 9);
    const groups = changed.groups.map(({ route, requests, callers, witness }) => [
      route,
      requests,
      callers,
      witness?.path,
    ]);
    expect(groups).toEqual([
      ['p', 8, 3, '/p'],
      ['a', 1, 1, '/a'],
    ]);
  });

  it('selects one sample in all workers', async () => {
    site = await startWorkerSite(textOf());
    const [main, others] = await site.openWires(2);
    await put(NEXT, '?sample=0.5');
    for (let round = 0; round < 50; round += 1) await sendAll([...main, ...others], ['GET /a?page=x HTTP/1.1']);
    const { requests, changed, skipped } = await readReportAfter(site, 200);
    expect(Math.abs(requests - 100)).toBeLessThan(50);
    expect([changed.total, skipped.reasons]).toEqual([
      requests,
      { queue: 0, 'earlier-plan': 0, sample: 200 - requests },
    ]);
  });

  it('verifies tokens by its own rules, with one request for keys, and sends none for a manifest of the admin API', async () => {
    const other = await startIssuer();
    site = await startWorkerSite(textOf());
    const [main, others] = await site.openWires(2);
    const bearer = `Authorization: Bearer ${await issuer.token()}`;
    const next = textOf().replace(issuer.jwksUrl, other.jwksUrl);
    await site.compareWithFile(next);
    await sendAll([...others, ...main], ['GET /p HTTP/1.1'], bearer);
    expect((await readReportAfter(site, 4)).changed.kinds).toEqual({ 'newly-refused': 4 });
    expect(other.fetches).toBe(1);
    // It has another key, so it has keys of its own.
    const sent = next.replace('algorithms: [ES256]', 'algorithms: [ES256, RS256]');
    expect((await fetch(`${site.adminUrl}/-/candidate`, { method: 'PUT', body: sent })).status).toBe(200);
    await sendAll([...main, ...others], ['GET /p HTTP/1.1'], bearer);
    expect((await readReportAfter(site, 4)).unknown.reasons).toEqual({ token: 4 });
    expect(other.fetches).toBe(1);
    await other.close();
  });

  it('starts again in all workers after a reload', async () => {
    site = await startWorkerSite(textOf());
    const [main, others] = await site.openWires(2);
    await put();
    await sendAll([...main, ...others], LINES);
    expect((await readReportAfter(site, 12)).changed.total).toBe(4);
    for (let version = 2; version < 7; version += 1) {
      await sendAll([...main, ...others], LINES);
      await site.reload(textOf({ version }));
      const { requests, active_hash } = await readReport(site);
      expect([requests, active_hash]).toEqual([0, site.gateway.plan.hash]);
      await sendAll([...main, ...others], LINES);
      const { changed, skipped } = await readReportAfter(site, 12);
      expect([changed.kinds, changed.groups.length, skipped.total]).toEqual([{ 'newly-refused': 4 }, 1, 0]);
    }
  });

  it('has the counts of the last candidate only, if it is replaced under load', async () => {
    site = await startWorkerSite(textOf());
    const [main, others] = await site.openWires(3);
    let isLoaded = true;
    const load = [...main.slice(1), ...others.slice(1)].map(async (wire) => {
      while (isLoaded) await sendAll([wire], LINES);
    });
    for (let round = 0; round < 5; round += 1) {
      await put(round % 2 === 0 ? NEXT : { ...NEXT, version: round });
      const { changed } = await readReport(site);
      expect(Object.keys(changed.kinds).filter((kind) => kind !== 'newly-refused')).toEqual([]);
    }
    isLoaded = false;
    await Promise.all(load);
    await put({ version: 9 });
    await sendAll([...main, ...others], LINES);
    const { same, changed } = await readReportAfter(site, 18);
    expect([same, changed.total]).toEqual([18, 0]);
  });

  it('stays as it is after a manifest with problems', async () => {
    site = await startWorkerSite(textOf());
    const [main, others] = await site.openWires(1);
    await put();
    await sendAll([...main, ...others], LINES);
    const rejected = await fetch(`${site.adminUrl}/-/candidate`, { method: 'PUT', body: `${textOf()}nonsense: 1\n` });
    expect(rejected.status).toBe(422);
    await sendAll([...main, ...others], LINES);
    expect((await readReportAfter(site, 12)).changed.total).toBe(4);
  });

  it('ends in all workers under load', async () => {
    site = await startWorkerSite(textOf());
    const [main, others] = await site.openWires(2);
    await put();
    let isLoaded = true;
    const load = [...main, ...others].map(async (wire) => {
      while (isLoaded) await sendAll([wire], LINES);
    });
    await eventually('a change', async () => (await readReport(site)).changed.total > 10);
    expect((await fetch(`${site.adminUrl}/-/candidate`, { method: 'DELETE' })).status).toBe(200);
    const sent = upstream.requests.length;
    await eventually('more requests', () => upstream.requests.length > sent + 50);
    const { state, requests } = await readReport(site);
    expect([state, requests]).toEqual(['none', 0]);
    isLoaded = false;
    await Promise.all(load);
  });
});

describe('a worker that ends', () => {
  it('has its unsent results counted as skipped, and is replaced by one that compares', async () => {
    site = await startWorkerSite(textOf());
    const [main, others] = await site.openWires(2);
    await put();
    for (let round = 0; round < 10; round += 1) await sendAll([...main, ...others], LINES);
    // A response arrives before its exchange ends, so the last one of a connection may be of no exchange that was observed.
    await sendAll(others, ['GET /b HTTP/1.1']);
    await site.threads[0]?.terminate();
    await site.complete();
    const first = await readReport(site);
    const total = first.requests + lostOf(first);
    expect(first.skipped.reasons).toMatchObject({ queue: 0, 'earlier-plan': 0, sample: 0 });
    expect([120, 121, 122]).toContain(total);
    const before = site.probes;
    const [, replaced] = await site.openWires(1);
    await sendAll(replaced, LINES);
    const { changed, requests } = await readReportAfter(site, total + site.probes - before + 3);
    expect([requests - first.requests, changed.total - first.changed.total]).toEqual([site.probes - before + 3, 1]);
  });
});

function lostOf({ skipped }: CandidateReport): number {
  return skipped.reasons['worker'] ?? 0;
}
