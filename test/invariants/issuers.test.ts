import { describe, expect, it, test } from 'vitest';
import { load, type PlannedManifest } from '../../src/engine/load.ts';
import { explain } from '../../src/prove/explain/explain-request.ts';
import { proveQuestion, QuestionError } from '../../src/prove/question.ts';

const jwt = (name: string) => `{ jwks: 'https://${name}/keys', algorithms: [ES256], issuer: ${name}, audience: a }`;
const PARTNERS = `
    - { name: partners, jwt: ${jwt('partners')}, role: { claim: /scope, allow: [read, user], message: no } }`;

const manifestOf = (more: string, routes: string) => `version: 1
upstreams: { main: { url: http://127.0.0.1:1 }, outside: { url: http://127.0.0.1:2 } }
auth:
  tokens:
    - { name: staff, jwt: ${jwt('staff')} }${more}
  role: { claim: /role, allow: [admin, user], message: no }
invariants:
  - { id: staff-stay-inside, when: { issuer: staff }, require: { upstream: { only: [main] } } }
  - { id: all-inside, when: { access: protected }, require: { upstream: { only: [main, outside] } } }
routes:
${routes}`;

function planned(text: string): PlannedManifest {
  const loaded = load({ path: 'gateway.yaml', text }, { env: {}, readFile: () => '' });
  if (loaded.plan === undefined) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
  return loaded;
}

const ROUTES = `  - { id: inside, method: GET, path: /inside, upstream: main, access: protected }
  - { id: both, method: GET, path: /both, upstream: main, access: protected, issuers: [staff, partners] }
  - { id: outside, method: GET, path: /outside, upstream: outside, access: protected, issuers: [partners] }
  - { id: users, method: GET, path: /users, upstream: main, access: protected, issuers: [staff, partners], roles: [user, admin] }
  - { id: open, method: GET, path: /open, upstream: outside, access: public }
`;
const SEVERAL = planned(manifestOf(PARTNERS, ROUTES));

/** Returns the routes that do not fulfil the requirement of a question. */
function broken(question: string, manifest = SEVERAL): string[] {
  const { violations, undecided } = proveQuestion(manifest, question, {});
  expect(undecided).toEqual([]);
  return violations.map(({ route, message }) => `${route.id} ${message}`);
}

describe('a condition with an issuer', () => {
  it.each([
    ['when issuer: partners require served: false', ['both serves it', 'outside serves it', 'users serves it']],
    ['when issuer: staff require upstream: { only: [main] }', []],
    ['when issuer: [staff, partners] require upstream: { only: [main] }', ['outside forwards to "outside"']],
    ['when issuer: partners, access: public require served: false', []],
    ['when issuer: partners require roles: { only: [read, user] }', []],
    ['require roles: { only: [read, user] }', ['inside lets', 'both lets', 'users lets', 'open is public']],
    ['when issuer: partners require roles: { atLeast: [read] }', ['users does not let the role "read" pass']],
    ['when issuer: [staff, partners] require roles: { atLeast: [user] }', []],
    ['when issuer: [partners, staff] require roles: { atLeast: [admin] }', ['both does', 'outside does', 'users does']],
    ['when issuer: staff require issuers: { only: [staff] }', []],
    ['when issuer: partners require issuers: { only: [staff] }', ['both accepts', 'outside accepts', 'users accepts']],
  ])('is about the requests with its tokens: %s', (question, expected) => {
    const found = broken(question);
    expect(found.map((text, index) => text.slice(0, expected[index]?.length))).toEqual(expected);
  });

  it('is about all protected routes if there is one method', () => {
    const single = planned(
      manifestOf('', ROUTES.replaceAll(/, issuers: \[.*?\]/g, '').replace(/.*outside, acc.*prot.*\n/, '')),
    );
    expect(broken('when issuer: staff require served: false', single)).toHaveLength(3);
  });

  it('names a method of the manifest', () => {
    for (const [name, near] of [
      ['partner', '; did you mean "partners"?'],
      ['x', '; write one of: staff, partners'],
    ] as const)
      expect(() => broken(`when issuer: [staff, ${name}] require served: false`)).toThrow(
        new QuestionError(`when.issuer.1: the manifest has no token method "${name}"${near}`),
      );
  });
});

test('explain names the invariants about the issuer of the caller', async () => {
  const invariantsOf = async (claims: Record<string, string>, issuer: string) => {
    const request = { method: 'GET', target: '/both', headers: [], body: undefined };
    return (await explain(SEVERAL, request, claims, undefined, issuer)).invariants.map(({ id }) => id);
  };
  expect(await invariantsOf({ role: 'user' }, 'staff')).toEqual(['staff-stay-inside', 'all-inside']);
  expect(await invariantsOf({ scope: 'user' }, 'partners')).toEqual(['all-inside']);
});
