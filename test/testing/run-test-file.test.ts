import { describe, expect, it, test } from 'vitest';
import { coverageOf, summarizeCoverage } from '../../src/prove/testing/coverage.ts';
import { readTestFile } from '../../src/prove/testing/read-test-file.ts';
import { runTestFile } from '../../src/prove/testing/run-test-file.ts';
import { MANIFEST, planned } from './support.ts';

async function run(text: string, manifest = MANIFEST) {
  const { testFile, problems } = readTestFile({ path: 'gateway.test.yaml', text });
  if (testFile === undefined) throw new Error(JSON.stringify(problems));
  return runTestFile(testFile.testFile, planned(manifest));
}

/** Runs one case and returns its mismatches as `member: actual`. */
async function mismatchesOf(testCase: string, tokens = '{}'): Promise<string[]> {
  const results = await run(`version: 1\ntokens: ${tokens}\ncases:\n  - name: it\n    ${testCase}\n`);
  return results.flatMap((result) =>
    result.mismatches.map(({ path, actual }) => `${path.join('.')}: ${JSON.stringify(actual)}`),
  );
}

const LIST = 'request: { method: GET, url: /contacts/7?a=1, role: user }';
const NOTE = 'request: { method: POST, url: /notes, body: { text: hello }, headers: { X-Debug: "1" } }';

describe('a test case passes', () => {
  test.each([
    ['that expects only that nothing is refused', `${LIST}\n    expect: {}`],
    ['that expects a route', `${LIST}\n    expect: { route: contacts }`],
    [
      'that expects the path and query at the upstream',
      `${LIST}\n    expect: { upstream: { url: /v2/7?a=1, method: GET, id: contacts } }`,
    ],
    [
      'that expects the complete URL at the upstream',
      `${LIST}\n    expect: { upstream: { url: 'https://contacts.internal/v2/7?a=1' } }`,
    ],
    [
      'that expects headers which are set, removed and added',
      `${NOTE}\n    expect: { upstream: { headers: { x-platform: signing, X-Debug: null, Content-Type: application/json } } }`,
    ],
    ['that expects a body at the upstream', `${NOTE}\n    expect: { upstream: { body: { text: hello } } }`],
    ['that expects a body as text', `${NOTE}\n    expect: { upstream: { body: '{"text":"hello"}' } }`],
    [
      'that expects the response of the upstream',
      `${LIST}\n    response: { status: 202, headers: { X-A: [b, c] }, body: [1] }\n    expect: { status: 202, headers: { X-A: [b, c], Content-Type: application/json }, body: [1] }`,
    ],
    ['that expects a response as text', `${LIST}\n    response: { body: done }\n    expect: { body: done }`],
    [
      'that expects a refusal and no upstream request',
      'request: { method: GET, url: /contacts }\n    expect: { refusal: token_missing, status: 401, route: contacts, upstream: null }',
    ],
    [
      'that expects no route',
      'request: { method: GET, url: /nowhere }\n    expect: { refusal: route_unknown, route: null }',
    ],
    [
      'that expects the reason of a refusal',
      'request: { method: GET, url: /contacts/../notes }\n    expect: { refusal: path_ambiguous, reason: path_dot_segment }',
    ],
    [
      'that expects the violations of a body',
      'request: { method: POST, url: /notes, body: { text: 7 } }\n    expect: { refusal: body_invalid, errors: [/text] }',
    ],
    [
      'that sends a body which is one byte too long',
      'request: { method: POST, url: /notes, bodyBytes: 65, headers: { Content-Type: application/json } }\n    expect: { refusal: body_too_large }',
    ],
    [
      'that expects the message of a refusal',
      'request: { method: GET, url: /contacts, role: auditor }\n    expect: { refusal: role_not_allowed, message: company admins and users only }',
    ],
    [
      'that sends claims',
      'request: { method: GET, url: /contacts, claims: { company_role: admin, sub: "7" } }\n    expect: {}',
    ],
  ])('%s', async (_case, testCase) => {
    expect(await mismatchesOf(testCase)).toEqual([]);
  });
});

describe('a test case fails', () => {
  test.each([
    [
      'with an unexpected refusal',
      'request: { method: GET, url: /contacts }\n    expect: { status: 401 }',
      ['refusal: "token_missing"'],
    ],
    ['without the expected refusal', `${LIST}\n    expect: { refusal: token_missing }`, ['refusal: undefined']],
    [
      'with the code and the violations of the refusal',
      'request: { method: POST, url: /notes, body: {} }\n    expect: {}',
      ['refusal: "body_invalid (/text)"'],
    ],
    ['with another route', `${LIST}\n    expect: { route: note }`, ['route: "contacts"']],
    ['with another status', `${LIST}\n    expect: { status: 202 }`, ['status: 200']],
    ['with another URL', `${LIST}\n    expect: { upstream: { url: /contacts/7?a=1 } }`, ['upstream.url: "/v2/7?a=1"']],
    ['with another upstream', `${LIST}\n    expect: { upstream: { id: other } }`, ['upstream.id: "contacts"']],
    [
      'with an unexpected upstream request',
      `${LIST}\n    expect: { upstream: null }`,
      ['upstream: "https://contacts.internal/v2/7?a=1"'],
    ],
    [
      'without the expected upstream request',
      'request: { method: GET, url: /contacts }\n    expect: { refusal: token_missing, upstream: {} }',
      ['upstream: null'],
    ],
    [
      'with an unexpected header',
      `${NOTE}\n    expect: { upstream: { headers: { X-Platform: null } } }`,
      ['upstream.headers.X-Platform: "signing"'],
    ],
    ['without the expected header', `${LIST}\n    expect: { headers: { X-A: b } }`, ['headers.X-A: null']],
    [
      'with two headers in place of one',
      `${LIST}\n    response: { headers: { X-A: [b, c] } }\n    expect: { headers: { X-A: b } }`,
      ['headers.X-A: ["b","c"]'],
    ],
    [
      'with another body',
      `${LIST}\n    response: { body: { a: 1 } }\n    expect: { body: { a: 2 } }`,
      ['body: {"a":1}'],
    ],
    [
      'with another reason',
      'request: { method: GET, url: //x }\n    expect: { refusal: path_ambiguous, reason: path_dot_segment }',
      ['reason: "path_empty_segment"'],
    ],
  ])('%s', async (_case, testCase, expected) => {
    expect(await mismatchesOf(testCase)).toEqual(expected);
  });
});

describe('the tokens of a test file are verified', () => {
  const login = (token: string) =>
    `request: { method: POST, url: /login }\n    response: { body: { token: ${token} } }`;
  const tokens =
    '{ good: { role: user }, bad: { role: auditor }, old: { error: token_expired }, rich: { claims: { company_role: admin } } }';
  test.each([
    ['good', 'expect: { body: { token: good } }'],
    ['rich', 'expect: { body: { token: rich } }'],
    ['bad', 'expect: { refusal: role_not_allowed }'],
    ['old', 'expect: { refusal: login_response_refused, reason: login_token_expired }'],
    ['unknown', 'expect: { refusal: login_response_refused, reason: login_signature_wrong }'],
  ])('in the body of a response: %s', async (token, expected) => {
    expect(await mismatchesOf(`${login(token)}\n    ${expected}`, tokens)).toEqual([]);
  });

  it('in a header of a response', async () => {
    const testCase = 'request: { method: POST, url: /login }\n    response: { headers: { X-Token: Bearer bad } }';
    expect(await mismatchesOf(`${testCase}\n    expect: { refusal: role_not_allowed }`, tokens)).toEqual([]);
  });

  it('in a header of a request', async () => {
    const requestWith = (token: string) =>
      `request: { method: GET, url: /contacts, headers: { Authorization: Bearer ${token} } }`;
    expect(
      await mismatchesOf(
        `${requestWith('good')}\n    expect: { upstream: { headers: { Authorization: Bearer good } } }`,
        tokens,
      ),
    ).toEqual([]);
    expect(
      await mismatchesOf(
        `${requestWith('old')}\n    expect: { refusal: token_invalid, reason: token_expired }`,
        tokens,
      ),
    ).toEqual([]);
    expect(
      await mismatchesOf(
        `${requestWith('x')}\n    expect: { refusal: token_invalid, reason: signature_wrong }`,
        tokens,
      ),
    ).toEqual([]);
  });
});

it('runs a case with a list of roles once for each role', async () => {
  const results = await run(`version: 1
cases:
  - name: read
    request: { method: GET, url: /contacts, role: [admin, auditor] }
    expect: {}
  - name: nobody
    request: { method: GET, url: /contacts }
    expect: { refusal: token_missing }
`);
  expect(results.map(({ name, mismatches }) => [name, mismatches.length])).toEqual([
    ['read (admin)', 0],
    ['read (auditor)', 1],
    ['nobody', 0],
  ]);
});

it('runs a case with lists of methods, URLs and roles once for each combination', async () => {
  const results = await run(`version: 1
cases:
  - name: read
    request: { method: [GET, PUT], url: [/contacts, /contacts/7], role: [admin, user] }
    expect: { route: contacts }
  - name: nobody
    request: { method: [GET, POST], url: /contacts }
    expect: { refusal: token_missing }
`);
  expect(results.map(({ name }) => name)).toEqual([
    'read (GET /contacts admin)',
    'read (GET /contacts user)',
    'read (GET /contacts/7 admin)',
    'read (GET /contacts/7 user)',
    'read (PUT /contacts admin)',
    'read (PUT /contacts user)',
    'read (PUT /contacts/7 admin)',
    'read (PUT /contacts/7 user)',
    'nobody (GET)',
    'nobody (POST)',
  ]);
  expect(results.every(({ mismatches }) => mismatches.length === 0)).toBe(true);
  expect(new Set(results.map(({ outcome }) => outcome.upstreamRequest?.method))).toEqual(
    new Set(['GET', 'PUT', undefined]),
  );
});

it('compares the violations that a route only reports', async () => {
  const text = `version: 1
cases:
  - name: note
    request: { method: POST, url: /notes, body: {} }
    expect: { reported: [body_invalid], upstream: { body: {} } }
`;
  const [result] = await run(
    text,
    MANIFEST.replace('access: public\n    body', 'access: public\n    validation: report\n    body'),
  );
  expect(result?.mismatches).toEqual([]);
});

describe('coverage', () => {
  const coverageWith = async (cases: string) => {
    const results = await run(`version: 1\ncases:\n${cases}`);
    return summarizeCoverage(coverageOf(planned(), results));
  };

  it('counts routes, roles by route, and refusals by route', async () => {
    const { percent, routes, roles, refusals, values, uncovered } = await coverageWith(`  - name: read
    request: { method: GET, url: /contacts, role: user }
    expect: {}
  - name: nobody
    request: { method: GET, url: /contacts }
    expect: { refusal: token_missing }
`);
    expect([percent, routes, roles, refusals, values]).toEqual([
      17.6,
      { covered: 1, total: 3 },
      { covered: 1, total: 4 },
      { covered: 1, total: 9 },
      { covered: 0, total: 1 },
    ]);
    expect(uncovered).toEqual([
      { route: 'login', items: ['is never reached', 'role admin', 'role user', 'refusal role_not_allowed'] },
      { route: 'contacts', items: ['role admin', 'refusal role_not_allowed'] },
      {
        route: 'note',
        items: [
          'is never reached',
          'refusal body_too_large',
          'refusal media_type_unsupported',
          'refusal body_invalid',
          'value /text',
        ],
      },
      { route: undefined, items: ['refusal path_ambiguous', 'refusal route_unknown', 'refusal method_not_allowed'] },
    ]);
  });

  it('counts the parameters and members that a schema restricts, by their violations', async () => {
    const manifest = planned(`version: 1
upstreams: { up: { url: http://127.0.0.1:9 } }
schemas:
  Note: { type: object, required: [text], properties: { text: { type: string }, any: {}, tags: { $ref: '#/schemas/Tags' } } }
  Tags: { type: array }
routes:
  - id: note
    method: POST
    path: /notes/{id}
    upstream: up
    access: public
    params: { properties: { id: { type: integer } } }
    query: { properties: { page: { type: integer }, sort: true } }
    body: { schema: { $ref: '#/schemas/Note' }, maxBytes: 64B }
`);
    const values = coverageOf(manifest, []).filter(({ kind }) => kind === 'value');
    expect(values.map(({ name }) => name)).toEqual(['/params/id', '/query/page', '/text', '/tags']);
    const { testFile } = readTestFile({
      path: 'gateway.test.yaml',
      text: `version: 1
cases:
  - name: page
    request: { method: POST, url: '/notes/7?page=x', body: { text: hello } }
    expect: { refusal: parameter_invalid }
  - name: tags
    request: { method: POST, url: /notes/7, body: { text: hello, tags: 7 } }
    expect: { refusal: body_invalid }
`,
    });
    const results = testFile === undefined ? [] : await runTestFile(testFile.testFile, manifest);
    const covered = coverageOf(manifest, results).filter(({ kind, isCovered }) => kind === 'value' && isCovered);
    expect(covered.map(({ name }) => name)).toEqual(['/query/page', '/tags']);
  });

  it('does not count the role of a refused caller', async () => {
    const { roles } = await coverageWith(`  - name: note
    request: { method: POST, url: /notes, role: user, body: {} }
    expect: { refusal: body_invalid }
`);
    expect(roles.covered).toBe(0);
  });

  it('does not count route_unknown when a route matches every request', async () => {
    const open = planned(`version: 1
upstreams: { up: { url: http://127.0.0.1:9 } }
routes: [{ id: all, method: any, path: /**, upstream: up, access: public }]
`);
    expect(coverageOf(open, []).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'route all',
      'refusal path_ambiguous',
    ]);
  });
});
