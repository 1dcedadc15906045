const HEAD = `version: 1
log: { replay: true }
upstreams: { up: { url: 'http://127.0.0.1:7002' }, other: { url: 'http://127.0.0.1:7003' } }
auth:
  tokens: { jwt: { jwks: 'https://identity.test/jwks', algorithms: [ES256], issuer: 'https://identity.test', audience: api } }
  role: { claim: /role, allow: [admin, user], message: admins and users only }
routes:
`;
const OLD = `${HEAD}  - { id: contacts, method: any, path: /contacts/**, upstream: up, access: protected }
  - { id: docs, method: GET, path: /docs/**, upstream: up, access: public }
  - { id: notes, method: POST, path: /notes, upstream: up, access: public, body: { schema: { type: object, properties: { 'a|b\`': { type: string } } } } }
`;
const NEW = `${HEAD}  - { id: contacts, method: any, path: /contacts/**, upstream: up, access: protected, roles: [admin] }
  - { id: docs, method: GET, path: '/guide/{a_b}', upstream: other, access: public }
  - { id: notes, method: POST, path: /notes, upstream: other, access: public, body: { schema: { type: object, properties: { 'a|b\`': { type: string, maxLength: 3 } } } } }
`;

const COMMON = { level: 30, time: 1_790_000_000_000, msg: 'request', id: 'a', manifest: '0123456789abcdef' };
const contact = (role: string, more: object = {}) => ({
  ...COMMON,
  ...{ peer: '10.0.0.1', method: 'GET', path: '/contacts/1', route: 'contacts', upstream: 'up', status: 200 },
  ...{ subject: `${role}-subject`, gatewayMs: 1, role, credential: 'bearer', query: ['token'] },
  ...more,
});
const open = (method: string, path: string, route: string, more: object = {}) => ({
  ...COMMON,
  ...{
    peer: '10.0.0.2',
    method,
    path,
    route,
    upstream: 'up',
    status: 200,
    gatewayMs: 1,
    credential: 'none',
    query: [],
  },
  ...more,
});
const LINES = [
  contact('admin'),
  contact('user'),
  contact('user', { subject: 'another', sampled: 0.1 }),
  open('GET', '/docs/a', 'docs'),
  open('POST', '/notes', 'notes', { bytes: 10 }),
  { ...COMMON, ...{ peer: '10.0.0.3', method: 'GET', path: '/docs/b', status: 404, manifest: 'fedcba9876543210' } },
  contact('admin', { aborted: true, status: undefined }),
];

const PASSING = `version: 1
manifest: tiny.yaml
cases:
  - name: one & "only" <one>
    request: { method: GET, url: /one }
    expect: { route: one, upstream: { url: 'http://127.0.0.1:7002/one' } }
`;
const FAILING = `${PASSING.replace('tiny', 'small')}  - name: one & "only" <one>
    request: { method: GET, url: /one }
    expect: { route: two, upstream: { url: 'http://127.0.0.1:7002/two' } }
  - name: refused
    request: { method: DELETE, url: /two }
    expect: { refusal: route_unknown, status: 404 }
`;
const SMALL = `version: 1
upstreams: { up: { url: 'http://127.0.0.1:7002' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
  - { id: two, method: GET, path: /two, upstream: up, access: public }
  - { id: three, method: GET, path: /three, upstream: up, access: public }
  - { id: four, method: GET, path: /four, upstream: up, access: public }
  - { id: five, method: GET, path: /five, upstream: up, access: public }
`;
const TINY = SMALL.split('\n').slice(0, 4).join('\n');
const OPENAPI = `openapi: 3.1.0
info: { title: Contacts, version: '1' }
paths:
  /contacts/{id}:
    get: { operationId: getContact, security: [], responses: { '200': { description: the contact } } }
  /notes:
    post:
      operationId: addNote
      requestBody: { content: { application/json: { schema: { type: object, required: [text], properties: { text: { type: string } } } } } }
      responses: { '200': { description: the note } }
`;

/** The files that the commands of the golden test read. */
export const FILES: Readonly<Record<string, string>> = {
  'old.yaml': OLD,
  'new.yaml': NEW,
  'access.log': LINES.map((line) => `${JSON.stringify(line)}\n`).join(''),
  'small.yaml': SMALL,
  'tiny.yaml': TINY,
  'passing.test.yaml': PASSING,
  'failing.test.yaml': FAILING,
  'openapi.yaml': OPENAPI,
};

const FORWARDED = { outcome: 'forwarded', route: 'a_b', upstream: 'up', status: null, refusal: null, reason: null };
const REFUSED = {
  outcome: 'refused',
  route: null,
  upstream: null,
  status: 404,
  refusal: 'route_unknown',
  reason: 'why',
};
const NONE = {
  ...{ state: 'none', source: null, file: null, hash: null, active_hash: 'a'.repeat(64), since: null, sample: 1 },
  ...{ requests: 0, same: 0, errors: 0, reason: null, problem_count: 0, problems: [], changed_here: undefined },
  changed: { total: 0, kinds: {}, groups: [] },
  unknown: { total: 0, reasons: {} },
  skipped: { total: 0, reasons: {} },
};
const change = (kind: string, requests: number, witness: object | null, callers = 2) => ({
  ...{ kind, from: FORWARDED, to: REFUSED, requests, callers, witness },
});
const PROBLEM = {
  ...{ file: 'next|.yaml', line: 6, column: 3, severity: 'error', rule: 'key-unknown', message: 'unknown key "a_b"' },
  ...{ frame: '5 │ a\n6 │ b\n  │ ^', count: 3, others: [] },
};
const GROUPS = [
  change('newly-refused', 3, { id: 'id-1', at: 0, method: 'GET', path: '/a|b`<img>\n# x' }),
  change('newly-allowed', 1, { id: 'id-2', at: 0, method: null, path: null }, 10_000),
  change('other-route', 2, null),
  ...Array.from({ length: 50 }, (_, index) =>
    change('other-status', 1, { method: 'GET', path: `/${index}`, id: 'i' }, 1),
  ),
];

/** The reports of the admin API by the name of their golden file. */
export const CANDIDATES: Readonly<Record<string, object>> = {
  none: NONE,
  active: {
    ...NONE,
    ...{ state: 'active', source: 'request', hash: 'c'.repeat(64), since: '2026-01-02T03:04:05.000Z', sample: 0.5 },
    ...{ requests: 70, same: 6, errors: 2 },
    changed: {
      total: 56,
      kinds: { 'newly-refused': 3, 'newly-allowed': 1, 'other-route': 2, 'other-status': 50 },
      groups: GROUPS,
    },
    unknown: { total: 8, reasons: { body: 3, token: 5 } },
    skipped: { total: 5, reasons: { sample: 5, queue: 0 } },
  },
  rejected: {
    ...NONE,
    state: 'rejected',
    source: 'file',
    file: 'next.yaml',
    problem_count: 4,
    problems: [PROBLEM, { ...PROBLEM, count: 1 }],
  },
  unreadable: { ...NONE, state: 'active', source: 'file', file: 'next.yaml', hash: 'c'.repeat(64), reason: 'EACCES' },
};
