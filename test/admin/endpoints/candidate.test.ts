import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CHANGE_KINDS } from '../../../src/candidate/compare-outcomes.ts';
import { UNKNOWN_REASONS } from '../../../src/candidate/outcome.ts';
import { load } from '../../../src/load.ts';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../../support/admin.ts';
import {
  activeCandidate,
  changeGroup,
  comparisonOf,
  fakeCandidate,
  NO_CANDIDATE,
  REFUSED,
} from '../../support/candidate.ts';
import { worldOf } from '../../support/gateway.ts';
import { scrape } from '../../support/scrape.ts';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;

const candidate = fakeCandidate();
let isStopping = false;
let site: GatewayWithAdmin;

beforeAll(async () => {
  site = await startGatewayWithAdmin(MANIFEST, {}, {}, { candidate, isStopping: () => isStopping });
});
beforeEach(() => {
  isStopping = false;
  candidate.current = NO_CANDIDATE;
  candidate.outcome = { kind: 'accepted' };
  candidate.texts.splice(0);
});
afterAll(() => site.close());

async function send(method: string, path = '/-/candidate', body?: string | Buffer) {
  const response = await fetch(site.admin.url + path, { method, ...(body !== undefined && { body }) });
  return { status: response.status, headers: response.headers, body: JSON.parse((await response.text()) || 'null') };
}

/** The problems of a manifest that does not load. */
function rejected() {
  const text = MANIFEST.replace('access: public', 'acess: public');
  const { problems } = load({ path: 'next.yaml', text }, worldOf());
  return { problems, sources: [{ path: 'next.yaml', text }] };
}

describe('GET /candidate', () => {
  it('reports that there is no candidate', async () => {
    const { status, body } = await send('GET', '/candidate');
    expect([status, body.state, body.requests, body.changed]).toEqual([
      200,
      'none',
      0,
      { total: 0, kinds: {}, ungrouped: 0, groups: [] },
    ]);
  });

  it('reports the counts, the kinds, the reasons and a witness of each change', async () => {
    candidate.current = activeCandidate();
    const { body } = await send('GET', '/candidate');
    expect(body).toEqual({
      state: 'active',
      source: 'request',
      file: null,
      hash: 'c'.repeat(64),
      active_hash: 'a'.repeat(64),
      since: '2026-01-02T03:04:05.000Z',
      sample: 1,
      requests: 10,
      same: 6,
      unknown: { total: 1, reasons: { body: 1 } },
      skipped: { total: 0, reasons: {} },
      errors: 0,
      problems: [],
      problem_count: 0,
      changed: {
        total: 3,
        kinds: { 'newly-refused': 3 },
        ungrouped: 0,
        groups: [
          {
            kind: 'newly-refused',
            route: 'contacts',
            from: { ...REFUSED, outcome: 'forwarded', upstream: 'up', status: null, refusal: null, reason: null },
            to: REFUSED,
            requests: 3,
            callers: 2,
            witness: { method: 'GET', path: '/api/contacts', at: 1_700_000_000_000, id: 'id-1' },
          },
        ],
      },
    });
  });

  it('names the route of the candidate where the active plan has none', async () => {
    const from = { ...REFUSED, route: null, refusal: 'route_unknown', reason: 'route_unknown', status: 404 } as const;
    candidate.current = activeCandidate(comparisonOf([changeGroup({ from, to: { ...REFUSED, route: 'added' } })]));
    expect((await send('GET', '/candidate')).body.changed.groups[0].route).toBe('added');
  });

  it('reports thousands of changes as one valid JSON text', async () => {
    const groups = Array.from({ length: 2_000 }, (_, index) =>
      changeGroup({ to: { ...REFUSED, reason: `"reason"\n${index}` }, witnesses: [] }),
    );
    candidate.current = activeCandidate(comparisonOf(groups));
    const { body } = await send('GET', '/candidate');
    expect(body.changed.groups.map(({ to }: { to: { reason: string } }) => to.reason)).toEqual(
      groups.map(({ to }) => to.reason),
    );
    expect(body.changed.groups[0].witness).toBeNull();
  });

  it('reports the problems of a rejected file in the same form as a reload', async () => {
    const { problems, sources } = rejected();
    candidate.current = { ...NO_CANDIDATE, state: 'rejected', source: 'file', file: 'next.yaml', problems, sources };
    const { body } = await send('GET', '/candidate');
    expect([body.state, body.source, body.file]).toEqual(['rejected', 'file', 'next.yaml']);
    expect(body.problems[0]).toMatchObject({
      file: 'next.yaml',
      line: 6,
      severity: 'error',
      message: expect.stringContaining('access'),
      frame: expect.stringContaining('acess: public'),
    });
    expect(body.problem_count).toBe(problems.length);
  });
});

describe('PUT /-/candidate', () => {
  it('responds with the report of the new candidate', async () => {
    candidate.current = activeCandidate();
    const { status, body } = await send('PUT', '/-/candidate', MANIFEST);
    expect([status, body.state, candidate.texts]).toEqual([200, 'active', [MANIFEST]]);
  });

  it('passes invalid UTF-8 on, so that the manifest is rejected with its line', async () => {
    await send('PUT', '/-/candidate', Buffer.from([0x61, 0xff]));
    expect(candidate.texts).toEqual(['a\uDCFF']);
  });

  it('responds 422 with the problems of the manifest, in the same form as a reload', async () => {
    candidate.outcome = { kind: 'rejected', ...rejected() };
    const { status, body } = await send('PUT', '/-/candidate', 'version: 1');
    expect([status, body.result, body.problem_count]).toEqual([422, 'rejected', rejected().problems.length]);
    expect(body.problems[0]).toMatchObject({ file: 'next.yaml', line: 6, count: 1, others: [] });
  });

  it('responds 409 while the candidate is a file of the command line', async () => {
    candidate.outcome = { kind: 'conflict', file: 'next.yaml' };
    for (const method of ['PUT', 'DELETE']) {
      const { status, body } = await send(method, '/-/candidate', method === 'PUT' ? MANIFEST : undefined);
      expect([status, body.detail]).toEqual([409, expect.stringContaining('the file "next.yaml" of --candidate')]);
    }
  });

  it('responds 413 to a body of more than 1 MB, and 400 to an empty one', async () => {
    expect((await send('PUT', '/-/candidate', ' '.repeat(1024 ** 2 + 1))).status).toBe(413);
    expect(await send('PUT')).toMatchObject({ status: 400, body: { detail: expect.stringContaining('empty') } });
    expect(candidate.texts).toEqual([]);
  });

  it('responds 503 while the gateway stops', async () => {
    isStopping = true;
    expect((await send('PUT', '/-/candidate', MANIFEST)).status).toBe(503);
    expect(candidate.texts).toEqual([]);
    isStopping = false;
    candidate.outcome = { kind: 'cancelled' };
    expect((await send('PUT', '/-/candidate', MANIFEST)).status).toBe(503);
  });
});

describe('DELETE /-/candidate', () => {
  it('discards the candidate, and succeeds without one', async () => {
    candidate.current = activeCandidate();
    for (let count = 0; count < 2; count += 1) {
      const { status, body } = await send('DELETE');
      expect([status, body.state]).toEqual([200, 'none']);
    }
  });
});

describe('the endpoints of the candidate', () => {
  it.each([
    ['POST', '/candidate', 'GET, HEAD'],
    ['GET', '/-/candidate', 'PUT, DELETE'],
    ['POST', '/-/candidate', 'PUT, DELETE'],
  ])('refuse %s %s with the allowed methods', async (method, path, allow) => {
    const { status, headers } = await send(method, path);
    expect([status, headers.get('allow')]).toEqual([405, allow]);
  });

  it('are summarized in /status', async () => {
    candidate.current = activeCandidate();
    expect((await send('GET', '/status')).body.candidate).toEqual({
      state: 'active',
      source: 'request',
      file: null,
      hash: 'c'.repeat(64),
      since: '2026-01-02T03:04:05.000Z',
      requests: 10,
      changed: 3,
    });
  });
});

describe('the metrics of the candidate', () => {
  it('have all series from the start, so that alerts see the first change', async () => {
    const { value, samples } = await scrape(site.admin.url);
    expect(value('candidate_info', { hash: '' })).toBe(0);
    for (const kind of Object.keys(CHANGE_KINDS)) expect(value('candidate_changes_total', { kind })).toBe(0);
    for (const reason of Object.keys(UNKNOWN_REASONS)) expect(value('candidate_unknown_total', { reason })).toBe(0);
    const results = samples
      .filter(({ name }) => name === 'candidate_requests_total')
      .map(({ labels }) => labels['result']);
    expect(results).toEqual(['same', 'changed', 'unknown', 'skipped', 'error']);
  });

  it('count the results, the kinds and the reasons', async () => {
    candidate.current = activeCandidate(undefined, { skipped: new Map([['sample', 5]]), errors: 2 });
    const { value } = await scrape(site.admin.url);
    expect(value('candidate_info', { hash: 'c'.repeat(64) })).toBe(1);
    const counts = { same: 6, changed: 3, unknown: 1, skipped: 5, error: 2 };
    for (const [result, count] of Object.entries(counts))
      expect([result, value('candidate_requests_total', { result })]).toEqual([result, count]);
    expect(value('candidate_changes_total', { kind: 'newly-refused' })).toBe(3);
    expect(value('candidate_unknown_total', { reason: 'body' })).toBe(1);
  });
});
