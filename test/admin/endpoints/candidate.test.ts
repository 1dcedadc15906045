import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AdminRequest } from '../../../src/admin/admin-endpoint.ts';
import { candidate as getCandidate } from '../../../src/admin/endpoints/candidate.ts';
import { load } from '../../../src/engine/load.ts';
import { CHANGE_KINDS } from '../../../src/traffic/compare-outcomes.ts';
import { UNKNOWN_REASONS } from '../../../src/traffic/outcome.ts';
import { adminContextOf, type GatewayWithAdmin, noReloads, startGatewayWithAdmin } from '../../support/admin.ts';
import {
  activeCandidate,
  changeGroup,
  comparisonOf,
  fakeCandidate,
  REFUSED,
  rejectedFile,
  type WatchedFile,
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

const NO_FILES = {
  manifestHash: '',
  dependencies: {
    files: new Map<string, string>(),
    globs: new Map<string, string>(),
    secretFiles: new Map<string, string>(),
  },
};

const candidate = fakeCandidate();
/** The file of `--candidate` of another gateway. */
const candidateFile: WatchedFile = { path: 'next.yaml', lastOutcome: undefined };
let fileSite: GatewayWithAdmin;
let isStopping = false;
let site: GatewayWithAdmin;

beforeAll(async () => {
  const others = { candidate, isStopping: () => isStopping };
  site = await startGatewayWithAdmin(MANIFEST, {}, {}, others);
  fileSite = await startGatewayWithAdmin(MANIFEST, {}, {}, { ...others, candidateFile });
});
beforeEach(() => {
  isStopping = false;
  candidateFile.lastOutcome = undefined;
  candidate.status = undefined;
  candidate.activated.splice(0);
});
afterAll(async () => {
  await site.close();
  await fileSite.close();
});

async function send(method: string, path = '/-/candidate', body?: string | Buffer, to = site) {
  const response = await fetch(to.admin.url + path, { method, ...(body !== undefined && { body }) });
  return { status: response.status, headers: response.headers, body: JSON.parse((await response.text()) || 'null') };
}

const NEXT = MANIFEST.replace('/one', '/two');
const BROKEN = MANIFEST.replace('access: public', 'acess: public');

/** Makes the file of `--candidate` one with a problem. */
function breakFile(): void {
  const { problems } = load({ path: 'next.yaml', text: BROKEN }, worldOf());
  candidateFile.lastOutcome = rejectedFile(problems, BROKEN).lastOutcome;
}

const sendToFileSite = (method: string, path: string, body?: string) => send(method, path, body, fileSite);

describe('GET /candidate', () => {
  it('reports that there is no candidate', async () => {
    const { status, body } = await send('GET', '/candidate');
    expect([status, body]).toEqual([
      200,
      {
        state: 'none',
        source: null,
        file: null,
        hash: null,
        active_hash: site.gateway.plan.hash,
        since: null,
        sample: 1,
        errors: 0,
        reason: null,
        requests: 0,
        same: 0,
        unknown: { total: 0, reasons: {} },
        skipped: { total: 0, reasons: { queue: 0, 'earlier-plan': 0, sample: 0 } },
        problems: [],
        problem_count: 0,
        changed: { total: 0, kinds: {}, ungrouped: 0, groups: [] },
      },
    ]);
  });

  it('has the counts of the moment of the request, also if they change before it is sent', () => {
    const report = comparisonOf([changeGroup()]);
    candidate.status = activeCandidate(report);
    const context = { ...adminContextOf(site.gateway, site.log, site.planned), candidate };
    const { body } = getCandidate({} as AdminRequest, context);
    (report.changed as Map<string, number>).set('newly-refused', 999);
    expect(JSON.parse([...(body as Generator<string>)].join('')).changed.kinds).toEqual({ 'newly-refused': 3 });
  });

  it('reports the counts, the kinds, the reasons and a witness of each change', async () => {
    candidate.status = activeCandidate();
    const { body } = await send('GET', '/candidate');
    expect(body).toMatchObject({
      state: 'active',
      source: 'request',
      hash: 'c'.repeat(64),
      active_hash: 'a'.repeat(64),
      since: '2026-01-02T03:04:05.000Z',
      requests: 10,
      same: 6,
      unknown: { total: 1, reasons: { body: 1 } },
    });
    expect(body.changed).toEqual({
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
          witness: { id: 'id-1', at: 1_700_000_000_000, method: 'GET', path: '/api/contacts', keyed: false },
        },
      ],
    });
  });

  it('names the route of the candidate where the active plan has none', async () => {
    const from = { ...REFUSED, route: null, refusal: 'route_unknown', reason: 'route_unknown', status: 404 } as const;
    candidate.status = activeCandidate(comparisonOf([changeGroup({ from, to: { ...REFUSED, route: 'added' } })]));
    expect((await send('GET', '/candidate')).body.changed.groups[0].route).toBe('added');
  });

  it('reports thousands of changes as one valid JSON text', async () => {
    const groups = Array.from({ length: 2_000 }, (_, index) =>
      changeGroup({ to: { ...REFUSED, reason: `"reason"\n${index}` }, witnesses: [] }),
    );
    candidate.status = activeCandidate(comparisonOf(groups));
    const { body } = await send('GET', '/candidate');
    expect(body.changed.groups.map(({ to }: { to: { reason: string } }) => to.reason)).toEqual(
      groups.map(({ to }) => to.reason),
    );
    expect(body.changed.groups[0].witness).toBeNull();
  });

  it('reports the problems of a rejected file in the same form as a reload', async () => {
    breakFile();
    const { body } = await sendToFileSite('GET', '/candidate');
    expect([body.state, body.source, body.file, body.problem_count]).toEqual(['rejected', 'file', 'next.yaml', 1]);
    expect(body.problems[0]).toMatchObject({
      file: 'next.yaml',
      line: 6,
      severity: 'error',
      message: expect.stringContaining('access'),
      frame: expect.stringContaining('acess: public'),
    });
  });

  it('reports the problems of the saved file while an earlier version of it is active', async () => {
    breakFile();
    candidate.status = activeCandidate(undefined, { source: 'file' });
    const { body } = await sendToFileSite('GET', '/candidate');
    expect([body.state, body.requests, body.problem_count]).toEqual(['active', 10, 1]);
  });

  it('reports why a file cannot be read', async () => {
    const attempt = { cause: 'request', at: new Date(), ms: 1, files: [] } as const;
    candidateFile.lastOutcome = { ...attempt, kind: 'unreadable', reason: 'EACCES' };
    const { body } = await sendToFileSite('GET', '/candidate');
    expect([body.state, body.reason, body.problems]).toEqual(['rejected', 'EACCES', []]);
  });
});

describe('PUT /-/candidate', () => {
  it('activates the candidate and responds with its report', async () => {
    const { status, body } = await send('PUT', '/-/candidate', NEXT);
    expect([status, body.state, body.source, body.sample]).toEqual([200, 'active', 'request', 1]);
    expect(body.hash).not.toBe(site.gateway.plan.hash);
    expect(candidate.activated).toEqual([[body.hash, 1]]);
  });

  it('responds 503 if a worker cannot prepare the candidate, and keeps the earlier one', async () => {
    candidate.status = activeCandidate();
    const { prepare } = candidate;
    candidate.prepare = async () => {
      throw new Error('worker 1 cannot prepare the candidate: it is out of memory');
    };
    const { status, body } = await send('PUT', '/-/candidate', NEXT);
    candidate.prepare = prepare;
    const detail = 'worker 1 cannot prepare the candidate: it is out of memory; send the request again';
    expect([status, body.detail, candidate.activated]).toEqual([503, detail, []]);
    expect((await send('PUT', '/-/candidate', NEXT)).status).toBe(200);
  });

  it('compares the share of the requests that the query names', async () => {
    expect((await send('PUT', '/-/candidate?sample=0.25', NEXT)).body.sample).toBe(0.25);
    for (const sample of ['0', '-1', '1.1', 'NaN', 'all', '', 'Infinity'])
      expect([sample, (await send('PUT', `/-/candidate?sample=${sample}`, NEXT)).status]).toEqual([sample, 400]);
    expect(candidate.activated.length).toBe(1);
  });

  it.each([
    ['with a problem', BROKEN, 'access'],
    ['of invalid UTF-8', Buffer.concat([Buffer.from(`${NEXT}# `), Buffer.from([0xff])]), 'UTF-8'],
    ['that is no YAML', '\t- {', ''],
  ])('responds 422 to a manifest %s, with the problems in the form of a reload', async (_name, text, message) => {
    candidate.status = activeCandidate();
    const { status, body } = await send('PUT', '/-/candidate', text);
    expect([status, body.result, body.problem_count]).toEqual([422, 'rejected', body.problems.length]);
    expect(body.problems[0]).toMatchObject({
      file: '<candidate>',
      message: expect.stringContaining(message),
      count: 1,
    });
    expect([candidate.activated, candidate.status.hash]).toEqual([[], 'c'.repeat(64)]);
  });

  it('responds 409 while the candidate is a file of the command line', async () => {
    for (const method of ['PUT', 'DELETE']) {
      const { status, body } = await sendToFileSite(method, '/-/candidate', method === 'PUT' ? NEXT : undefined);
      expect([status, body.detail]).toEqual([409, expect.stringContaining('the file "next.yaml" of --candidate')]);
    }
  });

  it('responds 413 to a body of more than 1 MB, and 400 to an empty one', async () => {
    expect((await send('PUT', '/-/candidate', ' '.repeat(1024 ** 2 + 1))).status).toBe(413);
    expect(await send('PUT')).toMatchObject({ status: 400, body: { detail: expect.stringContaining('empty') } });
    expect(candidate.activated).toEqual([]);
  });

  it('responds 503 while the gateway stops', async () => {
    isStopping = true;
    expect((await send('PUT', '/-/candidate', NEXT)).status).toBe(503);
    expect(candidate.activated).toEqual([]);
  });

  it('loads one manifest at a time, and activates none after the gateway began to stop', async () => {
    const [started, loading] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const prepareUnsaved = async (text: string | Uint8Array) => {
      started.resolve();
      await loading.promise;
      return adminContextOf(site.gateway, site.log, site.planned).reloader.prepareUnsaved(text);
    };
    const others = { candidate, isStopping: () => isStopping, reloader: { ...noReloads(), prepareUnsaved } };
    const other = await startGatewayWithAdmin(MANIFEST, {}, {}, others);
    const put = () => send('PUT', '/-/candidate', NEXT, other);
    const first = put();
    await started.promise;
    const second = await put();
    expect([second.status, second.headers.get('retry-after'), second.body.detail]).toEqual([
      503,
      '1',
      expect.stringContaining('another candidate is being loaded'),
    ]);
    isStopping = true;
    loading.resolve();
    expect([(await first).status, candidate.activated]).toEqual([503, []]);
    isStopping = false;
    expect([(await put()).status, candidate.activated.length]).toEqual([200, 1]);
    await other.close();
  });

  it('responds 503 if the files of the manifest cannot be read', async () => {
    const prepareUnsaved = async () => ({ reason: 'the files change', snapshot: NO_FILES });
    const others = { candidate, reloader: { ...noReloads(), prepareUnsaved } };
    const other = await startGatewayWithAdmin(MANIFEST, {}, {}, others);
    const { status, body } = await send('PUT', '/-/candidate', NEXT, other);
    expect([status, body.detail]).toEqual([503, expect.stringContaining('cannot be loaded: the files change')]);
    await other.close();
  });
});

describe('DELETE /-/candidate', () => {
  it('discards the candidate, and succeeds without one', async () => {
    candidate.status = activeCandidate();
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
    candidate.status = activeCandidate();
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
    const skipped = { queue: 1, 'earlier-plan': 2, sample: 2 };
    candidate.status = activeCandidate(undefined, { skipped, errors: 2 });
    const { value } = await scrape(site.admin.url);
    expect(value('candidate_info', { hash: 'c'.repeat(64) })).toBe(1);
    const counts = { same: 6, changed: 3, unknown: 1, skipped: 5, error: 2 };
    for (const [result, count] of Object.entries(counts))
      expect([result, value('candidate_requests_total', { result })]).toEqual([result, count]);
    expect(value('candidate_changes_total', { kind: 'newly-refused' })).toBe(3);
    expect(value('candidate_unknown_total', { reason: 'body' })).toBe(1);
  });
});
