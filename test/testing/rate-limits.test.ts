import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { coverageOf } from '../../src/prove/testing/coverage.ts';
import { readTestFile } from '../../src/prove/testing/read-test-file.ts';
import { runTestFile } from '../../src/prove/testing/run-test-file.ts';
import { planned } from './support.ts';

const MANIFEST = `version: 1
upstreams: { identity: { url: https://identity.internal } }
auth:
  tokens: { jwt: { jwks: https://identity.internal/jwks.json, algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [user], message: users only }
stores:
  counters: { redis: redis://127.0.0.1:1, secret: '\${SECRET}', onFailure: refuse }
rateLimits:
  account: { key: { body: /email, fold: case }, missing: skip, allow: 5 per 15m, count: failures, store: counters }
  address: { key: client, allow: 3 per 1m, mode: report }
  caller: { key: subject, allow: 2 per 1s }
  agent: { key: { header: X-Agent }, missing: refuse, allow: 10 per 1s }
routes:
  - id: login
    method: POST
    path: /login
    upstream: identity
    access: public
    rateLimits: [account]
    body: { maxBytes: 4KB, schema: { type: object, properties: { email: { type: string } } } }
  - { id: news, method: GET, path: /news, upstream: identity, access: public, rateLimits: [address] }
  - { id: me, method: GET, path: /me, upstream: identity, access: protected, rateLimits: [caller] }
  - { id: tools, method: GET, path: /tools, upstream: identity, access: public, rateLimits: [agent] }
`;

async function run(cases: string, manifest = MANIFEST) {
  const { testFile, problems } = readTestFile({ path: 'gateway.test.yaml', text: `version: 1\ncases:\n${cases}` });
  if (testFile === undefined) throw new Error(JSON.stringify(problems));
  return runTestFile(testFile.testFile, planned(manifest, { SECRET: '0123456789abcdef' }));
}

async function mismatchesOf(testCase: string): Promise<string[]> {
  const results = await run(`  - name: it\n    ${testCase}\n`);
  return results.flatMap(({ mismatches }) => mismatches.map(({ path, actual }) => `${path.join('.')}: ${actual}`));
}

const GUESS = 'method: POST, url: /login, body: { email: a@example.com }';
const FAILURE = 'response: { status: 401 }';

describe('a test case passes', () => {
  test.each([
    [
      'with as many guesses as allowed',
      `request: { ${GUESS}, times: 5 }\n    ${FAILURE}\n    expect: { route: login }`,
    ],
    [
      'that expects a refusal of the next guess',
      `request: { ${GUESS}, times: 6 }\n    ${FAILURE}\n    expect: { refusal: rate_limit_exceeded, status: 429, headers: { Retry-After: '180' }, upstream: null }`,
    ],
    [
      'that expects a refusal one millisecond too early',
      `request: { ${GUESS}, times: 6, wait: 179999ms }\n    ${FAILURE}\n    expect: { refusal: rate_limit_exceeded, headers: { Retry-After: '1' } }`,
    ],
    [
      'with a guess after the time in Retry-After',
      `request: { ${GUESS}, times: 6, wait: 3m }\n    ${FAILURE}\n    expect: { status: 401, upstream: {} }`,
    ],
    ['with any number of successes', `request: { ${GUESS}, times: 30 }\n    expect: { status: 200 }`],
    [
      'that expects a report',
      'request: { method: GET, url: /news, times: 4 }\n    expect: { reported: [rate_limit_exceeded] }',
    ],
    [
      'that counts by the caller',
      'request: { method: GET, url: /me, claims: { role: user, sub: a }, times: 3 }\n    expect: { refusal: rate_limit_exceeded }',
    ],
    [
      'that expects a refusal of a missing key',
      'request: { method: GET, url: /tools }\n    expect: { refusal: rate_limit_key_missing, status: 400 }',
    ],
  ])('%s', async (_title, testCase) => {
    expect(await mismatchesOf(testCase)).toEqual([]);
  });
});

it('counts each case, and each combination of a case, from the beginning', async () => {
  const cases = `  - name: one\n    request: { ${GUESS}, times: 5 }\n    ${FAILURE}\n    expect: { route: login }\n`;
  const results = await run(
    cases + cases + cases.replace('method: POST, url: /login', 'method: [POST], url: [/login, /login]'),
  );
  expect(results.map(({ mismatches }) => mismatches.length)).toEqual([0, 0, 0, 0]);
});

it('reports what the last response differs in', async () => {
  expect(await mismatchesOf(`request: { ${GUESS}, times: 6 }\n    ${FAILURE}\n    expect: {}`)).toEqual([
    'refusal: rate_limit_exceeded',
  ]);
});

it('agrees with the definition of the algorithm for random limits', async () => {
  const count = fc.integer({ min: 1, max: 9 });
  const interval = fc.integer({ min: 1, max: 5_000 });
  const wait = fc.oneof(
    fc.integer({ min: 1, max: 50_000 }),
    fc.integer({ min: 1, max: 9 }).map((factor) => ({ factor })),
  );
  const times = fc.integer({ min: 2, max: 20 });
  await fc.assert(
    fc.asyncProperty(count, count, interval, times, wait, async (requests, burst, intervalMs, repeated, waited) => {
      const waitMs = typeof waited === 'number' ? waited : waited.factor * intervalMs;
      const counted = Math.min(repeated - 1, burst);
      const isAllowed = Math.max(counted * intervalMs, waitMs) + intervalMs - waitMs <= burst * intervalMs;
      const allow = `allow: ${requests} per ${requests * intervalMs}ms, burst: ${burst}`;
      const request = `{ method: GET, url: /tools, headers: { X-Agent: a }, times: ${repeated}, wait: ${waitMs}ms }`;
      const [result] = await run(
        `  - { name: it, request: ${request}, expect: {} }`,
        MANIFEST.replace('allow: 10 per 1s', allow),
      );
      expect(result?.outcome.record.refusal?.code).toBe(isAllowed ? undefined : 'rate_limit_exceeded');
    }),
  );
});

it('covers the refusals of limits, except a missing member of a body that the schema requires anyway', async () => {
  const results = await run(
    `  - name: it\n    request: { method: GET, url: /tools, headers: { X-Agent: a }, times: 11 }\n    expect: { refusal: rate_limit_exceeded }\n`,
  );
  const units = coverageOf(
    planned(MANIFEST.replace('missing: skip', 'missing: refuse'), { SECRET: '0123456789abcdef' }),
    results,
  );
  const limits = units.filter(({ name }) => name.startsWith('rate_limit'));
  expect(limits.map(({ route, name, isCovered }) => `${route} ${name} ${isCovered}`)).toEqual([
    'login rate_limit_exceeded false',
    'me rate_limit_exceeded false',
    'tools rate_limit_key_missing false',
    'tools rate_limit_exceeded true',
  ]);
});
