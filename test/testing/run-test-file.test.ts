import { describe, expect, it, test } from 'vitest';
import { coverageOf, summarizeCoverage } from '../../src/testing/coverage.ts';
import { readTestFile } from '../../src/testing/read-test-file.ts';
import { runTestFile } from '../../src/testing/run-test-file.ts';
import { MANIFEST, planned } from './support.ts';

async function run(text: string, manifest = MANIFEST) {
  const { testFile, problems } = readTestFile({ path: 'gateway.test.yaml', text });
  if (testFile === undefined) throw new Error(JSON.stringify(problems));
  return runTestFile(testFile.testFile, planned(manifest));
}

/** What became otherwise than a case expects, as `member: got`. */
async function mismatches(written: string, tokens = '{}'): Promise<string[]> {
  const results = await run(`version: 1\ntokens: ${tokens}\ncases:\n  - name: it\n    ${written}\n`);
  return results.flatMap((result) =>
    result.mismatches.map(({ path, actual }) => `${path.join('.')}: ${JSON.stringify(actual)}`),
  );
}

const LIST = 'request: { method: GET, url: /contacts/7?a=1, role: user }';
const NOTE = 'request: { method: POST, url: /notes, body: { text: hello }, headers: { X-Debug: "1" } }';

describe('a case passes', () => {
  test.each([
    ['nothing is expected but that nothing is refused', `${LIST}\n    expect: {}`],
    ['the route', `${LIST}\n    expect: { route: contacts }`],
    [
      'path and query at the upstream',
      `${LIST}\n    expect: { upstream: { url: /v2/7?a=1, method: GET, id: contacts } }`,
    ],
    ['the whole URL', `${LIST}\n    expect: { upstream: { url: 'https://contacts.internal/v2/7?a=1' } }`],
    [
      'headers that are set, removed and added',
      `${NOTE}\n    expect: { upstream: { headers: { x-platform: signing, X-Debug: null, Content-Type: application/json } } }`,
    ],
    ['the body at the upstream', `${NOTE}\n    expect: { upstream: { body: { text: hello } } }`],
    ['a body as text', `${NOTE}\n    expect: { upstream: { body: '{"text":"hello"}' } }`],
    [
      'the answer of the upstream',
      `${LIST}\n    response: { status: 202, headers: { X-A: [b, c] }, body: [1] }\n    expect: { status: 202, headers: { X-A: [b, c], Content-Type: application/json }, body: [1] }`,
    ],
    ['an answer as text', `${LIST}\n    response: { body: done }\n    expect: { body: done }`],
    [
      'a refusal, and that no upstream was asked',
      'request: { method: GET, url: /contacts }\n    expect: { refusal: token_missing, status: 401, route: contacts, upstream: null }',
    ],
    [
      'that no route has it',
      'request: { method: GET, url: /nowhere }\n    expect: { refusal: route_unknown, route: null }',
    ],
    [
      'why a path is refused',
      'request: { method: GET, url: /contacts/../notes }\n    expect: { refusal: path_ambiguous, reason: path_dot_segment }',
    ],
    [
      'where a body is at fault',
      'request: { method: POST, url: /notes, body: { text: 7 } }\n    expect: { refusal: body_invalid, errors: [/text] }',
    ],
    [
      'a body that is one byte too long',
      'request: { method: POST, url: /notes, bodyBytes: 65, headers: { Content-Type: application/json } }\n    expect: { refusal: body_too_large }',
    ],
    [
      'what a refusal says',
      'request: { method: GET, url: /contacts, role: auditor }\n    expect: { refusal: role_not_allowed, message: company admins and users only }',
    ],
    ['claims', 'request: { method: GET, url: /contacts, claims: { company_role: admin, sub: "7" } }\n    expect: {}'],
  ])('%s', async (_what, written) => {
    expect(await mismatches(written)).toEqual([]);
  });
});

describe('a case fails', () => {
  test.each([
    [
      'by a refusal that it does not expect',
      'request: { method: GET, url: /contacts }\n    expect: { status: 401 }',
      ['refusal: "token_missing"'],
    ],
    ['by a refusal that did not come', `${LIST}\n    expect: { refusal: token_missing }`, ['refusal: undefined']],
    [
      'with the reason, and where',
      'request: { method: POST, url: /notes, body: {} }\n    expect: {}',
      ['refusal: "body_invalid (/text)"'],
    ],
    ['by another route', `${LIST}\n    expect: { route: note }`, ['route: "contacts"']],
    ['by another status', `${LIST}\n    expect: { status: 202 }`, ['status: 200']],
    ['by another URL', `${LIST}\n    expect: { upstream: { url: /contacts/7?a=1 } }`, ['upstream.url: "/v2/7?a=1"']],
    ['by another upstream', `${LIST}\n    expect: { upstream: { id: other } }`, ['upstream.id: "contacts"']],
    [
      'by an upstream that was asked',
      `${LIST}\n    expect: { upstream: null }`,
      ['upstream: "https://contacts.internal/v2/7?a=1"'],
    ],
    [
      'by an upstream that was not asked',
      'request: { method: GET, url: /contacts }\n    expect: { refusal: token_missing, upstream: {} }',
      ['upstream: null'],
    ],
    [
      'by a header that is there',
      `${NOTE}\n    expect: { upstream: { headers: { X-Platform: null } } }`,
      ['upstream.headers.X-Platform: "signing"'],
    ],
    ['by a header that is not there', `${LIST}\n    expect: { headers: { X-A: b } }`, ['headers.X-A: null']],
    [
      'by one of two headers',
      `${LIST}\n    response: { headers: { X-A: [b, c] } }\n    expect: { headers: { X-A: b } }`,
      ['headers.X-A: ["b","c"]'],
    ],
    ['by another body', `${LIST}\n    response: { body: { a: 1 } }\n    expect: { body: { a: 2 } }`, ['body: {"a":1}']],
    [
      'by another reason',
      'request: { method: GET, url: //x }\n    expect: { refusal: path_ambiguous, reason: path_dot_segment }',
      ['reason: "path_empty_segment"'],
    ],
  ])('%s', async (_what, written, got) => {
    expect(await mismatches(written)).toEqual(got);
  });
});

describe('tokens', () => {
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
  ])('in the body of an answer: %s', async (token, expected) => {
    expect(await mismatches(`${login(token)}\n    ${expected}`, tokens)).toEqual([]);
  });

  it('in a header of an answer', async () => {
    const written = 'request: { method: POST, url: /login }\n    response: { headers: { X-Token: Bearer bad } }';
    expect(await mismatches(`${written}\n    expect: { refusal: role_not_allowed }`, tokens)).toEqual([]);
  });

  it('in a header of a request', async () => {
    const asked = (token: string) =>
      `request: { method: GET, url: /contacts, headers: { Authorization: Bearer ${token} } }`;
    expect(
      await mismatches(
        `${asked('good')}\n    expect: { upstream: { headers: { Authorization: Bearer good } } }`,
        tokens,
      ),
    ).toEqual([]);
    expect(
      await mismatches(`${asked('old')}\n    expect: { refusal: token_invalid, reason: token_expired }`, tokens),
    ).toEqual([]);
    expect(
      await mismatches(`${asked('x')}\n    expect: { refusal: token_invalid, reason: signature_wrong }`, tokens),
    ).toEqual([]);
  });
});

it('a list of roles makes a case of each, each of its own', async () => {
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

it('what is only reported is told', async () => {
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
  const covered = async (cases: string) => {
    const results = await run(`version: 1\ncases:\n${cases}`);
    return summarizeCoverage(coverageOf(planned(), results));
  };

  it('counts routes, roles by route, and what each rule refuses', async () => {
    const { percent, routes, roles, refusals, uncovered } = await covered(`  - name: read
    request: { method: GET, url: /contacts, role: user }
    expect: {}
  - name: nobody
    request: { method: GET, url: /contacts }
    expect: { refusal: token_missing }
`);
    expect([percent, routes, roles, refusals]).toEqual([
      18.7,
      { covered: 1, total: 3 },
      { covered: 1, total: 4 },
      { covered: 1, total: 9 },
    ]);
    expect(uncovered).toEqual([
      { route: 'login', what: ['is never reached', 'role admin', 'role user', 'refusal role_not_allowed'] },
      { route: 'contacts', what: ['role admin', 'refusal role_not_allowed'] },
      {
        route: 'note',
        what: ['is never reached', 'refusal body_too_large', 'refusal media_type_unsupported', 'refusal body_invalid'],
      },
      { route: undefined, what: ['refusal path_ambiguous', 'refusal route_unknown', 'refusal method_not_allowed'] },
    ]);
  });

  it('takes no role for shown where a caller of it was refused', async () => {
    const { roles } = await covered(`  - name: note
    request: { method: POST, url: /notes, role: user, body: {} }
    expect: { refusal: body_invalid }
`);
    expect(roles.covered).toBe(0);
  });

  it('needs no unknown route where one takes everything', async () => {
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
