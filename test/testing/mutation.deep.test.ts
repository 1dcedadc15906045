import { describe, expect, it } from 'vitest';
import { MUTATORS } from '../../src/prove/mutation/mutators.ts';
import { runMutants } from '../../src/prove/mutation/run-mutants.ts';
import { readTestFile } from '../../src/prove/testing/read-test-file.ts';
import { runTestFile } from '../../src/prove/testing/run-test-file.ts';
import { worldOf } from '../support/gateway.ts';
import { MANIFEST, planned } from './support.ts';

/** A manifest with something for every mutator. */
const COMPLETE = `version: 1
upstreams:
  contacts: { url: https://contacts.internal, limits: { responseHeadBytes: 32KB } }
  files: { url: https://files.internal, host: files.example }
auth:
  tokens:
    - { name: staff, jwt: { jwks: https://identity.internal/jwks.json, algorithms: [ES256], issuer: i, audience: a } }
    - { name: partners, jwt: { secret: '\${file:/run/secrets/partners}', algorithms: [HS256], issuer: p, audience: a }, role: { claim: /scope, format: words, allow: [contacts.read, admin], message: this scope is not enough } }
  role: { claim: /company_role, allow: [admin, user, clerk], message: company admins and users only }
server: { responseHeaders: { X-Content-Type-Options: nosniff } }
cors: { origins: [https://app.example], methods: [GET] }
defaults: { body: { maxBytes: 1KB }, validation: enforce }
schemas:
  Page: { type: integer, minimum: 0, maximum: 9 }
  Note:
    type: object
    required: [text]
    additionalProperties: false
    properties:
      text: { type: string, minLength: 2, maxLength: 5, pattern: '^[a-z]+$' }
      kind: { enum: [memo, task] }
      tags: { type: array, maxItems: 2, uniqueItems: true, items: { type: string, maxLength: 3 } }
rateLimits:
  guesses: { key: client, allow: 2 per 1m, count: failures, failures: [401, 403] }
  tenant: { key: { header: X-Tenant }, missing: refuse, allow: 3 per 1m, burst: 2 }
  unseen: { key: client, allow: 1 per 1s, mode: report }
routes:
  - { id: login, method: POST, path: /login, upstream: contacts, access: public, roles: [admin], login: { token: /token, header: X-Token }, rateLimits: [guesses, unseen] }
  - { id: tools, method: GET, path: /tools, upstream: files, access: public, rateLimits: [tenant] }
  - id: contacts
    method: any
    path: /contacts/**
    upstream: contacts
    access: protected
    roles: [admin, user]
    upstreamPath: { replace: /contacts, with: /v2, rewriteResponses: true }
    responseHeaders: { set: { X-Frame: deny }, remove: [Server] }
  - id: contact
    method: GET
    path: /contacts/{id}/card
    upstream: contacts
    access: protected
    issuers: [partners]
    websocket: { origins: [https://app.example] }
    params: { properties: { id: { type: integer, minimum: 1 } } }
    query: { properties: { page: { $ref: '#/schemas/Page' } }, required: [page], unknown: refuse, repeated: refuse }
    headers: { properties: { X-Tenant: { type: string, maxLength: 4 } }, required: [X-Tenant] }
  - { id: me, method: GET, path: /me, upstream: contacts, access: protected, roles: any, forward: { X-User-Id: /sub } }
  - id: note
    method: POST
    path: /notes
    upstream: contacts
    access: public
    body: { schema: { $ref: '#/schemas/Note' }, maxBytes: 128B }
    requestHeaders: { set: { X-Platform: signing }, remove: [X-Debug] }
  - { id: sheet, method: PUT, path: /sheet, upstream: files, access: public, body: { csv: { header: [name, email] } } }
  - { id: raw, method: PUT, path: /raw, upstream: files, access: public, body: { types: [application/pdf] } }
  - { id: ended, method: POST, path: /ended, access: public, respond: { status: 410, body: ended } }
  - { id: moved, method: GET, path: /moved/**, access: public, redirect: { to: '/notes/{rest}', query: keep } }
  - id: upload
    method: POST
    path: /upload
    upstream: files
    access: public
    body: { multipart: { parts: { file: { types: [application/pdf], maxBytes: 64B, required: true } } }, maxBytes: 1KB }
`;

const ONE_CASE = `version: 1
tokens:
  token-of-a-user: { role: user }
  token-of-a-clerk: { role: clerk }
  token-of-an-admin: { role: admin, issuer: staff }
cases:
  - name: nothing else
    request: { method: GET, url: /nowhere }
    expect: { refusal: route_unknown }
`;

async function mutate(text: string, manifest = COMPLETE, maxChanges = Number.POSITIVE_INFINITY) {
  const { testFile, problems } = readTestFile({ path: 'gateway.test.yaml', text });
  if (testFile === undefined) throw new Error(JSON.stringify(problems));
  const original = planned(manifest, testFile.testFile.environment);
  const results = await runTestFile(testFile.testFile, original);
  expect(results.filter(({ mismatches }) => mismatches.length > 0).map(({ name }) => name)).toEqual([]);
  const controller = new AbortController();
  return runMutants(testFile.testFile, original, results, worldOf().readFile, controller.signal, (done) => {
    if (done >= maxChanges) controller.abort();
  });
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}

describe('runMutants', () => {
  let result: ReturnType<typeof mutate> | undefined;
  /** Several tests look at the same result. */
  const ofOneCase = () => (result ??= mutate(ONE_CASE, MANIFEST));

  it('finds an unnoticed or invisible change for every mutator, and its cases then notice every change', async () => {
    const first = await mutate(ONE_CASE);
    const found = [...first.unnoticed, ...first.invisible].map(({ finding }) => finding.rule);
    expect(new Set(found)).toEqual(new Set(MUTATORS.map(({ id }) => id)));
    const completed = ONE_CASE + first.unnoticed.map(({ caseText }) => indent(caseText)).join('');
    const second = await mutate(completed);
    expect(second.unnoticed.map(({ finding, caseText }) => [finding.message, caseText])).toEqual([]);
    expect(second.noticed).toBe(first.noticed + first.unnoticed.length);
    expect(second.invisible).toEqual(first.invisible);
  });

  it('ends when its signal is aborted, with the first changes and the number of the others', async () => {
    const all = await ofOneCase();
    const { noticed, unnoticed, invisible, untested } = await mutate(ONE_CASE, MANIFEST, 3);
    expect(unnoticed).toEqual(all.unnoticed.slice(0, unnoticed.length));
    expect(noticed + unnoticed.length + invisible.length).toBe(3);
    expect(untested).toBeGreaterThan(all.unnoticed.length - 3);
    expect((await mutate(ONE_CASE, MANIFEST, 4)).untested).toBe(untested - 1);
    expect(all.untested).toBe(0);
  });

  it('prints the location, the effect and a case for a change that no case notices', async () => {
    const { unnoticed } = await ofOneCase();
    const access = unnoticed.find(({ finding }) => finding.rule === 'access-public');
    expect(access).toEqual({
      finding: {
        rule: 'access-public',
        severity: 'warning',
        location: { path: ['routes', 1, 'access'], at: 'value' },
        message: '"contacts" accepts requests without a token',
      },
      caseText: `- name: GET /contacts/x is refused with token_missing
  request: { method: GET, url: /contacts/x }
  expect: { refusal: token_missing, route: contacts, upstream: null }
`,
    });
  });

  it('finds one case for all permissions of a page that it notices', async () => {
    const { unnoticed } = await mutate(
      'version: 1\ncases:\n  - { name: status, request: { method: GET, url: /status }, expect: { route: status } }\n',
      `version: 1
upstreams: { up: { url: http://127.0.0.1:3000 } }
cors: { origins: [https://app.example] }
routes: [{ id: status, method: GET, path: /status, upstream: up, access: public }]
`,
    );
    const opened = unnoticed.filter(({ finding }) => finding.rule === 'cors-opened');
    const own = opened.filter(({ caseText }) => caseText.includes('Origin: "https://app.example"'));
    expect(own.length).toBeGreaterThan(2);
    expect(new Set(own.map(({ caseText }) => caseText)).size).toBe(1);
    expect(new Set(own.map(({ finding }) => finding.message)).size).toBe(own.length);
  });

  it('sends the origin of a page where all origins are allowed, and trusts no proxy that is trusted already', async () => {
    const { unnoticed, invisible } = await mutate(
      'version: 1\ncases:\n  - { name: status, request: { method: GET, url: /status }, expect: { route: status } }\n',
      `version: 1
upstreams: { up: { url: http://127.0.0.1:3000 } }
server: { trustedProxies: [127.0.0.0/8] }
cors: { origins: ['*'] }
routes: [{ id: status, method: GET, path: /status, upstream: up, access: public }]
`,
    );
    const opened = unnoticed.filter(({ finding }) => finding.rule === 'cors-opened');
    expect(opened.length).toBeGreaterThan(0);
    expect(opened.filter(({ caseText }) => !caseText.includes('Origin: "https://other.example"'))).toEqual([]);
    const rules = [...unnoticed, ...invisible].map(({ finding }) => finding.rule);
    expect(rules).not.toContain('proxy-trusted');
  });

  it('names the token that a case for a login route needs', async () => {
    const manifest = MANIFEST.replace('access: public, login:', 'access: public, roles: [admin], login:');
    const { unnoticed } = await mutate(ONE_CASE.replace(/tokens:\n(?: .*\n)+/, ''), manifest);
    const [role] = unnoticed.filter(({ finding }) => finding.rule === 'route-role-added');
    expect(role?.caseText).toBe(
      '# define a token with the role "user" in "tokens", and expect that "login" refuses a response with it\n',
    );
  });

  it('reports a reason for a change that no case can notice', async () => {
    const { invisible } = await ofOneCase();
    expect(invisible.map(({ finding, reason }) => [finding.location, reason])).toContainEqual([
      { path: ['auth', 'tokens', 'jwt', 'issuer'], at: 'value' },
      'test cases replace the verification of tokens',
    ]);
  });

  it('prints no value from the environment', async () => {
    const manifest = MANIFEST.replace('allow: [admin, user]', "allow: [user, '${SECRET_ROLE}']")
      .replace('access: public, login', 'access: public, roles: [user], login')
      .replace('X-Platform: signing', "X-Platform: '${SECRET_HEADER}'")
      .replace('routes:', "cors: { origins: ['${SECRET_ORIGIN}'] }\nroutes:");
    const environment = {
      SECRET_ROLE: 'secret-role',
      SECRET_HEADER: 'secret-header',
      SECRET_ORIGIN: 'https://secret.example',
    };
    const result = await mutate(`${ONE_CASE}environment: ${JSON.stringify(environment)}\n`, manifest);
    expect(JSON.stringify(result).match(/.{40}secret[-.].{40}/g)).toBeNull();
    expect(result.unnoticed.length).toBeGreaterThan(30);
  });
});
