import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatText } from '../../../src/check/fmt/format-text.ts';
import { load, type PlannedManifest } from '../../../src/engine/load.ts';
import { createMemoryEnvironment } from '../../../src/engine/manifest/source.ts';
import type { OfflineOutcome } from '../../../src/prove/offline/offline-gateway.ts';
import { readTestFile } from '../../../src/prove/testing/read-test-file.ts';
import { runTestFile, type TestResult } from '../../../src/prove/testing/run-test-file.ts';
import { readLogs } from '../../../src/traffic/access-log/read-logs.ts';
import { formatRecording } from '../../../src/traffic/record/record-text.ts';
import { recordCases } from '../../../src/traffic/record/recorded-cases.ts';
import { runs } from '../../support/runs.ts';
import { anyTraffic, createRandomLog } from './random-log.ts';

const NO_FILES = createMemoryEnvironment().readFile;

/** Records the lines of a log. Returns the text of the test file, and the results of its cases. */
async function recordAndTest(lines: readonly string[], planned: PlannedManifest, max = Number.POSITIVE_INFINITY) {
  const reader = readLogs([{ name: 'a', open: () => Readable.from([Buffer.from(lines.join('\n'))]) }]);
  const recorded = await recordCases(reader, planned, NO_FILES, max);
  const text = formatRecording({ ...recorded, manifest: 'gateway.yaml', environment: {} });
  if (recorded.cases.length === 0) return { ...recorded, text, results: [] };
  const { testFile, problems } = readTestFile({ path: 'cases.yaml', text });
  expect(problems).toEqual([]);
  const results = await runTestFile(testFile?.testFile as NonNullable<typeof testFile>['testFile'], planned);
  return { ...recorded, text, results };
}

const failures = (results: readonly TestResult[]) =>
  results.flatMap(({ name, mismatches }) => (mismatches.length > 0 ? [{ name, mismatches }] : []));

/** The facts of an outcome that a recorded case covers. */
function factsOf({ record, principals }: OfflineOutcome, hasRoles: boolean): string {
  const { refusal, route, method, status = 0, reported = [] } = record;
  const role = hasRoles && route?.auth !== undefined ? principals.at(-1)?.claims['company_role'] : undefined;
  const result =
    refusal === undefined
      ? [Math.floor(status / 100), reported.map(({ code }) => code).sort()]
      : [refusal.code, refusal.reason, refusal.limit];
  const isOther = role !== undefined && role !== 'admin' && role !== 'user';
  return JSON.stringify([route?.id, route && method, isOther ? 'other' : role, result]);
}

describe('cases that are recorded from random logs', () => {
  it('pass at once, are formatted, have different names and cover nearly everything that occurred', async () => {
    let [covered, total] = [0, 0];
    await fc.assert(
      fc.asyncProperty(anyTraffic, async ({ manifest, requests, hasRoles }) => {
        const log = await createRandomLog(manifest, requests, hasRoles);
        if (log === undefined) return;
        const { text, cases, results, unrecorded } = await recordAndTest(log.lines, log.planned);
        expect(failures(results)).toEqual([]);
        expect(formatText(text)).toBe(text);
        const names = text.match(/(?<=- name: ).*/g) ?? [];
        expect(new Set(names).size).toBe(cases.length);
        const found = new Set(results.map(({ outcome }) => factsOf(outcome, hasRoles)));
        const wanted = new Set(log.outcomes.map((outcome) => factsOf(outcome, hasRoles)));
        const missing = [...wanted].filter((facts) => !found.has(facts));
        // Each request counts: in a case, or in the list of those without one.
        const omitted = [...unrecorded.values()].reduce((sum, count) => sum + count, 0);
        expect(omitted + cases.reduce((sum, { requests: count }) => sum + count, 0)).toBe(log.lines.length);
        covered += wanted.size - missing.length;
        total += wanted.size;
      }),
      { numRuns: runs(200) },
    );
    expect(covered / total).toBeGreaterThan(0.98);
  });
});

const MANIFEST = `version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: http://up.internal } }
auth:
  tokens: { jwt: { jwks: http://127.0.0.1:9/jwks.json, algorithms: [ES256], issuer: https://i.example, audience: a } }
  role: { claim: /role, allow: [admin, user], message: no }
routes:
  - { id: contacts, method: any, path: /contacts/**, upstream: up, access: protected }
  - { id: settings, method: GET, path: /settings, upstream: up, access: protected, roles: [admin] }
  - { id: download, method: GET, path: '/files/{name}', upstream: up, access: public }
  - { id: mail, method: any, path: /mail/**, upstream: up, access: public }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /token } }
  - { id: job, method: GET, path: '/jobs/{id}', upstream: up, access: public, params: { properties: { id: { type: integer, minimum: 100 } } } }
`;

const PLANNED = load({ path: 'gateway.yaml', text: MANIFEST }, createMemoryEnvironment()) as PlannedManifest;

const line = (members: object) =>
  JSON.stringify({ level: 30, time: 1, msg: 'request', method: 'GET', upstream: 'up', peer: '127.0.0.1', ...members });
const forwarded = { status: 200, gatewayMs: 1 };
const refused = (code: string, reason = code) => ({ decision: 'refused', refusal: code, reason });

/** Returns the cases without the head of the file. */
const casesOf = (text: string) => text.slice(text.indexOf('cases:\n') + 'cases:\n'.length);

describe('a recorded case', () => {
  it('has a list of methods and roles with every combination that occurred, and no other', async () => {
    const lines = ['GET', 'POST'].flatMap((method) =>
      ['admin', 'user'].map((role) => line({ ...forwarded, method, role, route: 'contacts', path: '/contacts/7' })),
    );
    const only = line({ ...forwarded, method: 'DELETE', role: 'admin', route: 'contacts', path: '/contacts/8' });
    const { text } = await recordAndTest([...lines, only], PLANNED);
    expect(casesOf(text)).toBe(`  # 4 requests
  - name: contacts as admin or user is forwarded
    request: { method: [GET, POST], url: /contacts/1, role: [admin, user] }
    expect: { route: contacts, status: 200 }
  # 1 request
  - name: contacts as admin is forwarded
    request: { method: DELETE, url: /contacts/1, role: admin }
    expect: { route: contacts, status: 200 }
`);
  });

  it('has identifiers of the same shape, and nothing else of the log', async () => {
    const paths = [
      ['contacts', '/contacts/0b7d1c1e-7a51-4c39-9a0e-6a2f3a1f7d10/notes/SECRET'],
      ['contacts', '/contacts/alice@acme.example/anna.pdf'],
      ['download', '/files/hunter'],
      ['mail', '/mail/verify/wonderland'],
      ['job', '/jobs/4711'],
    ] as const;
    const lines = paths.map(([route, path]) =>
      line({ ...forwarded, route, path, role: 'admin', host: 'secret.example', subject: 'feedfacefeedface' }),
    );
    const { text, results } = await recordAndTest(lines, PLANNED);
    expect(results.map(({ url }) => url)).toEqual([
      '/contacts/00000000-0000-4000-8000-000000000001/notes/x',
      '/files/name',
      '/mail/x/x',
      '/jobs/100',
    ]);
    for (const secret of [
      '0b7d1c1e',
      'SECRET',
      'alice',
      'anna',
      'hunter',
      'wonderland',
      '4711',
      'secret.example',
      'feedface',
    ])
      expect(text).not.toContain(secret);
  });

  it('does not repeat a role, a route, a reason or a method that only the log has', async () => {
    const secret = 'canary';
    const lines = [
      line({ ...forwarded, route: 'contacts', path: '/contacts/1', role: secret }),
      line({ ...forwarded, route: secret, path: '/1' }),
      line({ ...refused('token_invalid', secret), status: 401, route: 'contacts', path: '/contacts/1' }),
      line({ ...refused(secret), status: 401, route: 'contacts', path: '/contacts/1' }),
      line({ ...forwarded, method: 'CANARY', route: 'contacts', path: '/contacts/1' }),
      line({ ...refused('route_unknown'), status: 404, path: `/${secret}/${secret}`, upstream: secret }),
    ];
    const { text, unrecorded } = await recordAndTest(lines, PLANNED);
    expect(text.toLowerCase()).not.toContain(secret);
    expect([...unrecorded.values()].reduce((sum, count) => sum + count, 0)).toBe(5);
  });

  it('has any allowed role if the log has none, and a comment that says so', async () => {
    const { text } = await recordAndTest([line({ ...forwarded, route: 'settings', path: '/settings' })], PLANNED);
    expect(casesOf(text)).toContain('# 1 request, without a role in the log\n  - name: settings as admin is forwarded');
  });

  it('has the role that was refused', async () => {
    const denied = { ...refused('role_not_allowed'), status: 403, route: 'settings', path: '/settings' };
    const lines = [line({ ...denied, role: 'user' }), line({ ...denied, role: 'other' })];
    const { results } = await recordAndTest(lines, PLANNED);
    expect(results.map(({ role }) => role)).toEqual(['other-role', 'user']);
  });

  it('has the issuer that accepted the token, and the roles of its method', async () => {
    const [, jwt = ''] = MANIFEST.match(/jwt: (\{.*?\}) \}/) ?? [];
    const partners = `{ name: partners, jwt: ${jwt.replace('i.example', 'p.example')}, role: { claim: /scope, format: words, allow: [read, user], message: no } }`;
    const text = MANIFEST.replace(`{ jwt: ${jwt} }`, `[{ name: staff, jwt: ${jwt} }, ${partners}]`)
      .replace('access: protected }', 'access: protected, issuers: [staff, partners] }')
      .replace('login: { token: /token }', 'login: { token: /token, issuer: partners }');
    const planned = load({ path: 'gateway.yaml', text }, createMemoryEnvironment()) as PlannedManifest;
    const login = { ...forwarded, method: 'POST', route: 'login', path: '/login' };
    const contacts = { route: 'contacts', path: '/contacts/7' };
    const lines = [
      line({ ...forwarded, ...contacts, role: 'user', issuer: 'staff' }),
      line({ ...forwarded, ...contacts, role: 'user', issuer: 'partners' }),
      line({ ...refused('role_not_allowed'), ...contacts, status: 403, role: 'other', issuer: 'partners' }),
      line({ ...login, role: 'read', issuer: 'partners' }),
      line({ ...forwarded, ...contacts, role: 'user', issuer: 'canary' }),
    ];
    const recorded = await recordAndTest(lines, planned);
    expect(failures(recorded.results)).toEqual([]);
    expect(recorded.text).toBe(`# Recorded from 5 requests of an access log.
version: 1
manifest: gateway.yaml
tokens:
  token-of-partners-read: { role: read, issuer: partners }
cases:
  # 1 request
  - name: contacts as user of staff is forwarded
    request: { method: GET, url: /contacts/1, issuer: staff, role: user }
    expect: { route: contacts, status: 200 }
  # 1 request
  - name: contacts as user of partners is forwarded
    request: { method: GET, url: /contacts/1, issuer: partners, role: user }
    expect: { route: contacts, status: 200 }
  # 1 request
  - name: contacts as other-role of partners is refused with role_not_allowed
    request: { method: GET, url: /contacts/1, issuer: partners, role: other-role }
    expect: { route: contacts, refusal: role_not_allowed, upstream: null }

  # 1 request
  - name: login as read of partners is forwarded
    request: { method: POST, url: /login }
    response: { status: 200, body: { token: token-of-partners-read } }
    expect: { route: login, status: 200 }

# Requests without a test case:
# - 1 request: the manifest has no such token method
`);
  });

  it('counts a sampled line by its weight', async () => {
    const { text } = await recordAndTest(
      [line({ ...forwarded, route: 'download', path: '/files/a', sampled: 0.01 })],
      PLANNED,
    );
    expect(casesOf(text)).toMatch(/^ {2}# 100 requests\n/);
  });

  it('has the most frequent status of each class', async () => {
    const lines = [201, 200, 200, 404, 403, 403].map((status) =>
      line({ ...forwarded, status, route: 'download', path: '/files/a' }),
    );
    const { results } = await recordAndTest(lines, PLANNED);
    expect(results.map(({ outcome }) => outcome.record.status)).toEqual([200, 403]);
  });

  it('verifies the token of a login, although most of its responses have no body', async () => {
    const login = { ...forwarded, method: 'POST', route: 'login', path: '/login' };
    const empty = line({ ...login, status: 204 });
    const { results } = await recordAndTest([empty, empty, line({ ...login, role: 'user' })], PLANNED);
    expect(results.map(({ outcome }) => [outcome.record.status, outcome.principals.length])).toEqual([
      [204, 0],
      [200, 1],
    ]);
  });

  it('is missing for a result that this manifest does not have, with the reason', async () => {
    const lines = [
      line({ ...forwarded, route: 'settings', path: '/settings', role: 'user' }),
      line({
        ...refused('upstream_timeout', 'upstream_idle_timeout'),
        status: 504,
        route: 'download',
        path: '/files/a',
      }),
      line({ route: 'download', path: '/files/a', aborted: true }),
      line({ ...forwarded, route: 'download', path: '/files/a' }),
    ];
    const { text, unrecorded } = await recordAndTest(lines, PLANNED);
    expect([...unrecorded]).toEqual([
      ['the client disconnected before the response', 1],
      ['settings has another result with this manifest', 1],
      ['download refused with upstream_timeout, which no test case can cause', 1],
    ]);
    expect(text).toContain(
      '\n# Requests without a test case:\n# - 1 request: the client disconnected before the response\n',
    );
  });

  it('is not searched for texts of a hostile log', async () => {
    const lines = Array.from({ length: 400 }, (_, index) => [
      line({ ...refused('route_unknown', `reason_${index}`), status: 404, path: '/x' }),
      line({ ...refused('route_unknown'), status: 404, path: '/x', method: `M${'X'.repeat(index)}` }),
      line({ ...refused('rate_limit_exceeded'), status: 429, route: 'download', path: '/files/a', limit: `l${index}` }),
      line({ ...forwarded, route: 'download', path: '/files/a', reported: [{ code: `c${index}` }] }),
      line({ ...forwarded, route: ['__proto__', 'toString'][index % 2], path: '/x' }),
      line({ ...refused('constructor'), status: 400, path: '/x' }),
    ]).flat();
    const { cases, unrecorded } = await recordAndTest(lines, PLANNED);
    expect(cases).toEqual([]);
    expect(Object.fromEntries(unrecorded)).toEqual({
      'a test case cannot have such a method': 380,
      'no test case can cause such a refusal': 501,
      'refused with route_unknown; no request for it was found': 319,
      'the manifest has no such rate limit': 400,
      'the manifest has no such route': 400,
      'this version reports no such violations': 400,
    });
  });

  it('is kept for each route first if the number of cases is limited', async () => {
    const lines = [
      ...Array.from({ length: 9 }, () => line({ ...forwarded, route: 'download', path: '/files/a' })),
      ...[404, 500, 500].map((status) => line({ ...forwarded, status, route: 'download', path: '/files/a' })),
      line({ ...forwarded, route: 'job', path: '/jobs/100' }),
    ];
    const { text, unrecorded } = await recordAndTest(lines, PLANNED, 3);
    expect(text.match(/(?<=name: ).*/g)).toEqual([
      'download is forwarded',
      'download forwards the status 500',
      'job is forwarded',
    ]);
    expect([...unrecorded]).toEqual([['more than 3 cases', 1]]);
  });
});
