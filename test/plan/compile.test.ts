import { describe, expect, test } from 'vitest';
import type { Plan } from '../../src/engine/plan/plan.ts';
import { AUTH, bodyRoute, loadText, manifestOf, ROUTE, violationsOf } from '../manifest/support.ts';
import { cpuMs } from '../support/cpu-time.ts';

function planOf(text: string): Plan {
  const { plan, problems } = loadText(text);
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan;
}

describe('a default', () => {
  const plan = planOf(manifestOf('', ROUTE.replace(' }', ', body: {} }')));

  test('is set for the addresses', () => {
    expect(plan.listen).toEqual({ host: '127.0.0.1', port: 8080 });
    expect(plan.admin).toBeUndefined();
  });

  test('is set for the time limits', () => {
    expect(plan.upstreams).toMatchObject([
      { connectTimeoutMs: 2_000, responseTimeoutMs: 30_000, idleTimeoutMs: 60_000 },
    ]);
  });

  test('is set for the limit of a body', () =>
    expect(plan.routes[0]?.body).toEqual({ limitBytes: 1_048_576, validate: undefined }));

  test('is not set for auth, login and body', () => {
    const { auth, routes } = planOf(manifestOf());
    expect([auth, routes[0]?.login, routes[0]?.body]).toEqual([undefined, undefined, undefined]);
  });
});

const LOOPBACK = [
  ['127.0.0.1:0', '127.0.0.1', 0],
  ['localhost:65535', 'localhost', 65_535],
  ["'[::1]:8080'", '::1', 8080],
] as const;

test.each([...LOOPBACK, ["'[::]:1'", '::', 1], ['gateway.internal:443', 'gateway.internal', 443]] as const)(
  'parses the address %s',
  (written, host, port) => expect(planOf(manifestOf(`listen: ${written}\n`))).toMatchObject({ listen: { host, port } }),
);

test.each(LOOPBACK)('parses the address %s of the admin API', (written, host, port) =>
  expect(planOf(manifestOf(`admin: ${written}\n`))).toMatchObject({ admin: { host, port } }),
);

describe('an upstream', () => {
  const keyOf = (text: string) => planOf(text).upstreams[0]?.key;

  test('has its origin', () => {
    expect(planOf(manifestOf()).upstreams[0]?.endpoints[0]?.url.origin).toBe('http://127.0.0.1:7002');
    expect(
      planOf(manifestOf().replace('http://127.0.0.1:7002', 'https://contacts.internal/')).upstreams[0]?.endpoints[0]
        ?.url.origin,
    ).toBe('https://contacts.internal');
  });

  test('has the key of its definition', () => {
    expect(keyOf(manifestOf())).toBe(keyOf(manifestOf('listen: 127.0.0.1:1\n')));
    expect(keyOf(manifestOf())).not.toBe(keyOf(manifestOf().replace('7002', '7003')));
    expect(keyOf(manifestOf())).not.toBe(keyOf(manifestOf().replace(':7002 }', ':7002, timeouts: { idle: 61s } }')));
    expect(keyOf(manifestOf())).not.toBe(
      keyOf(manifestOf().replaceAll('contacts:', 'people:').replace('upstream: contacts', 'upstream: people')),
    );
  });
});

test('a claim with half of a surrogate pair cannot be forwarded, and the lines of a caller are computed once', () => {
  const auth = AUTH.replace('auth:', 'auth:\n  forward: { X-User-Id: /sub }');
  const claims = planOf(manifestOf(auth, ROUTE.replace('public', 'protected'))).routes[0]?.claims;
  const callerOf = (sub: unknown) => ({ claims: { sub }, subject: undefined, expiresAt: 0 });
  for (const sub of ['ann\ud800', '\udc00ann', '\udc00\ud800'])
    expect(claims?.linesOf(callerOf(sub))).toBe('claim_not_text (X-User-Id)');
  for (const sub of ['x'.repeat(100_000), '\0'.repeat(100_000), 'é'.repeat(1_000)])
    expect(claims?.linesOf(callerOf(sub))).toBe('claim_too_long (X-User-Id)');
  expect(claims?.linesOf(callerOf(Array.from({ length: 100_000 }, () => 'a')))).toBe('claim_not_text (X-User-Id)');
  const caller = callerOf('ann');
  expect(claims?.linesOf(caller)).toEqual(['X-User-Id', 'ann']);
  expect(claims?.linesOf(caller)).toBe(claims?.linesOf(caller));
});

describe('the role rule', () => {
  const role = planOf(manifestOf(AUTH)).auth?.role;
  const allows = (claims: unknown) =>
    role?.allows({ claims: claims as Record<string, unknown>, subject: undefined, expiresAt: 0 });

  test.each(['admin', 'user'])('allows %s', (company_role) => expect(allows({ company_role })).toBe(true));

  test.each([
    ['Admin'],
    ['admin '],
    ['guest'],
    [''],
    [null],
    [undefined],
    [true],
    [1],
    [['admin']],
    [{ admin: true }],
    [{ toString: () => 'admin' }],
  ])('does not allow %j', (company_role) => {
    expect(allows({ company_role })).toBe(false);
  });

  test('does not allow a token without the claim', () => {
    expect(allows({})).toBe(false);
    expect(allows(Object.create({ company_role: 'admin' }))).toBe(false);
  });

  test('allows a list only if the manifest has "array"', () => {
    const lists = planOf(manifestOf(AUTH.replace('allow:', 'array: true, allow:'))).auth?.role;
    const oneOf = (company_role: unknown) =>
      lists?.allows({ claims: { company_role }, subject: undefined, expiresAt: 0 });
    for (const value of [['admin'], ['viewer', 'user'], ['user', 'user'], [1, null, {}, 'admin']])
      expect([value, oneOf(value)]).toEqual([value, true]);
    const others = [
      'admin',
      'user',
      [],
      ['viewer'],
      ['Admin'],
      [' admin'],
      ['admin,user'],
      [['admin']],
      [{ a: 'admin' }],
    ];
    for (const value of [...others, { 0: 'admin', length: 1 }, { admin: true }, null, undefined, true, 1, '["admin"]'])
      expect([value, oneOf(value)]).toEqual([value, false]);
  });

  test('allows a word of a text only if the manifest has "format: words"', () => {
    const words = planOf(manifestOf(AUTH.replace('allow:', 'format: words, allow:'))).auth?.role;
    const caller = (scope: unknown) => ({ claims: { company_role: scope }, subject: undefined, expiresAt: 0 });
    for (const value of ['admin', 'openid user', 'user  x', ' admin ', 'x admin user'])
      expect([value, words?.allows(caller(value))]).toEqual([value, true]);
    for (const value of [
      '',
      ' ',
      'administrator',
      'x-admin',
      'Admin',
      'admin,user',
      'admin\tuser',
      'admin\u00a0user',
      'us er',
    ])
      expect([value, words?.allows(caller(value))]).toEqual([value, false]);
    for (const value of [['admin'], ['admin user'], { 0: 'admin' }, null, undefined, true, 1])
      expect([value, words?.allows(caller(value))]).toEqual([value, false]);
    expect(words?.heldBy(caller('x user admin user'))).toEqual(['admin', 'user']);
  });

  test('allows every caller with a valid token if it is "any"', () => {
    const any = planOf(manifestOf(AUTH.replace(/role: .*/, 'role: any'))).auth?.role;
    const route = planOf(manifestOf(AUTH, ROUTE.replace('public }', 'protected, roles: any }'))).routes[0]?.auth?.role;
    for (const rule of [any, route])
      for (const claims of [{}, { company_role: 'guest' }, { company_role: ['x'] }, { company_role: null }])
        expect(rule?.allows({ claims, subject: undefined, expiresAt: 0 })).toBe(true);
    expect(any?.heldBy({ claims: { company_role: 'admin' }, subject: undefined, expiresAt: 0 })).toBeUndefined();
  });

  test('has the message of the manifest', () => expect(role?.messageFor(undefined)).toBe('admins and users only'));
});

const LOGIN = (rule: string) => ROUTE.replace(' }', `, login: ${rule} }`);
const loginOf = (rule: string) => planOf(manifestOf(AUTH, LOGIN(rule))).routes[0]?.login;
const search = (rule: string, text: string, headers: readonly string[] = []) => {
  const body = Buffer.from(text);
  const response = { status: 200, reason: 'OK', headers, body, encodedBody: body };
  const result = loginOf(rule)?.findTokens(response, { client: '', reserve: () => undefined });
  return result !== undefined && typeof result === 'object' && 'declared' in result ? result.declared : result;
};

describe('the search for the token in the body of a login response', () => {
  const find = (text: string, rule = '{ token: /data/access_token }') => search(rule, text);

  test.each([
    ['{"data":{"access_token":"t"}}', ['t']],
    ['{"data":{"mfa":true}}', []],
    ['{"data":null}', []],
    ['{"data":{"access_token":null}}', []],
    ['[]', []],
    ['{"data":{"access_token":{"a":1}}}', [undefined]],
    ['{"data":{"access_token":"a","access_token":"b"}}', 'login_response_not_json'],
    ['not json', 'login_response_not_json'],
    ['', []],
  ])('in %s', (text, expected) => expect(find(text)).toEqual(expected));

  test('tries several locations', () => {
    const rule = '{ token: [/data/access_token, /access_token, /2] }';
    expect(find('{"access_token":"b","data":{"access_token":"a"}}', rule)).toEqual(['a', 'b']);
    expect(find('{"access_token":0}', rule)).toEqual([undefined]);
    expect(find('["x","y","c"]', rule)).toEqual(['c']);
    expect(find('{"token":"t"}', rule)).toEqual([]);
  });

  test('has the limit of the manifest', () => expect(loginOf('{ token: /a, maxBytes: 2KB }')?.limitBytes).toBe(2048));
});

describe('the search for the token in a header of a login response', () => {
  const inHeaders = (...headers: string[]) => search('{ header: X-Auth-Token }', '', headers);

  test.each([
    [['X-Auth-Token', 't'], ['t']],
    [['x-auth-token', 'Bearer t'], ['t']],
    [['X-AUTH-TOKEN', 'bEaReR t'], ['t']],
    [['X-Auth-Token', 'Bearer  t'], [' t']],
    [['X-Auth-Token', ''], ['']],
    [
      ['X-Auth-Token', 'a', 'Date', 'x', 'x-auth-token', 'b'],
      ['a', 'b'],
    ],
    [['X-Other', 'X-Auth-Token', 'Y', 'z'], []],
    [[], []],
  ])('in %j', (headers, expected) => expect(inHeaders(...headers)).toEqual(expected));

  test('does not search the body, and a search of the body ignores headers', () => {
    expect(search('{ header: X-Auth-Token }', 'not json')).toEqual([]);
    expect(search('{ token: /a }', '{}', ['X-Auth-Token', 't'])).toEqual([]);
  });
});

test.each([
  ['', 'signing-gateway'],
  ["  realm: a [b] 'c', ~!\n", "a [b] 'c', ~!"],
])('names the realm in challenges: %j', (line, realm) => {
  const text = manifestOf(AUTH.replace('  role:', () => `${line}  role:`));
  expect(planOf(text).auth?.challengePrefix).toBe(`Bearer realm="${realm}"`);
});

describe('a route with roles', () => {
  const routeOf = (more: string) =>
    planOf(manifestOf(AUTH, ROUTE.replace('access: public }', more))).routes[0]?.auth?.role;
  const allows = (role: string, more: string) =>
    routeOf(more)?.allows({ claims: { company_role: role }, subject: undefined, expiresAt: 0 });

  test.each([
    ['access: protected }', ['admin', 'user']],
    ['access: protected, roles: [admin] }', ['admin']],
    ['access: protected, roles: [user, admin] }', ['user', 'admin']],
    ['access: public, login: { token: /t }, roles: [user] }', ['user']],
  ])('has the roles of %s', (more, required) => {
    expect(routeOf(more)?.required).toEqual(required);
    for (const role of ['admin', 'user', 'viewer', ''])
      expect([role, allows(role, more)]).toEqual([role, required.includes(role)]);
  });

  test('does not change the roles of other routes', () => {
    const routes = ['a', 'b'].map((id) =>
      ROUTE.replace('contacts,', `${id},`).replace('/api', `/${id}`).replace('public', 'protected'),
    );
    const plan = planOf(manifestOf(AUTH, `${routes[0]}${routes[1]?.replace(' }', ', roles: [admin] }')}`));
    expect(plan.routes.map(({ auth }) => auth?.role.required)).toEqual([['admin', 'user'], ['admin']]);
    expect(plan.routes[0]?.auth).toBe(plan.auth);
    expect(plan.routes[1]?.auth?.verifier).toBe(plan.auth?.verifier);
    expect(plan.routes[1]?.auth?.role.messageFor(undefined)).toBe('admins and users only');
  });

  test('has no auth if it is public without a login', () => {
    expect(planOf(manifestOf(AUTH)).routes[0]?.auth).toBeUndefined();
  });
});

describe('the schema of a body', () => {
  const violations = (schema: string, body: string, shared = '') =>
    violationsOf(loadText(manifestOf(shared, bodyRoute(schema))), body);

  test('does not coerce, add or remove values', () => {
    const schema = '{ type: object, properties: { a: { type: integer, default: 1 } }, required: [a] }';
    expect(violations(schema, '{"a":1}')).toEqual([]);
    expect(violations(schema, '{"a":"1"}')).toEqual([{ pointer: '/a', message: 'must be integer' }]);
    expect(violations(schema, '{}')).toEqual([{ pointer: '/a', message: 'is missing' }]);
  });

  test('ignores inherited members', () => {
    expect(violations('{ type: object, required: [toString] }', '{}')).toEqual([
      { pointer: '/toString', message: 'is missing' },
    ]);
  });

  test('reports at most twenty violations, without values', () => {
    const schema = '{ type: array, items: { type: integer } }';
    const secrets = JSON.stringify(Array.from({ length: 50 }, () => 'SECRET'));
    const reported = violations(schema, secrets);
    expect(reported).toHaveLength(20);
    expect(JSON.stringify(reported)).not.toContain('SECRET');
  });

  test('reports only the first violation of a longer body', () => {
    const schema = '{ type: object, properties: { a: { type: integer }, b: { type: integer } } }';
    const body = JSON.stringify({ a: 'x', b: 'x'.repeat(10_000) });
    expect(violations(schema, body)?.map(({ pointer }) => pointer)).toEqual(['/a']);
    expect(violations(schema, '{"a":"x","b":"x"}')?.map(({ pointer }) => pointer)).toEqual(['/a', '/b']);
  });

  test.each<[string, string, object[]]>([
    [
      '{ type: object, required: [a], properties: { a: { description: the amount, type: integer } } }',
      '{}',
      [{ pointer: '/a', message: 'is missing', description: 'the amount' }],
    ],
    [
      '{ type: object, required: [a], description: an order, properties: { a: true } }',
      '{}',
      [{ pointer: '/a', message: 'is missing', description: 'an order' }],
    ],
    [
      '{ properties: { a: { type: integer, description: the amount, errorMessage: write whole euros } } }',
      '{"a":"x"}',
      [{ pointer: '/a', message: 'must be integer', description: 'write whole euros' }],
    ],
    ['{ const: [1, a] }', '2', [{ pointer: '', message: 'must be [1,"a"]' }]],
    ['{ properties: { a: false } }', '{"a":"SECRET"}', [{ pointer: '/a', message: 'must not be present' }]],
    [
      '{ propertyNames: { maxLength: 2 } }',
      '{"SECRET":1}',
      [
        { pointer: '', message: 'has a name that must NOT have more than 2 characters' },
        { pointer: '', message: 'property name must be valid' },
      ],
    ],
    ['{ unevaluatedProperties: false }', '{"SECRET":1}', [{ pointer: '', message: 'has an unknown member' }]],
  ])('%s gives the violations of %s', (schema, body, expected) => expect(violations(schema, body)).toEqual(expected));

  test('truncates long pointers', () => {
    const name = `${'a'.repeat(298)}😀`;
    const schema = '{ additionalProperties: { type: integer } }';
    for (const body of [{ [name]: 'x' }, { [name]: 1 }]) {
      const text = JSON.stringify(body).replace('1}', '1,"😀":1}').replace('"😀"', JSON.stringify(name));
      const [violation] = violations(schema, text) ?? [];
      expect(violation?.pointer).toBe(`/${'a'.repeat(298)}\ufffd…`);
    }
  });

  test('does not name an unknown member', () => {
    expect(violations('{ type: object, additionalProperties: false }', '{"SECRET":1}')).toEqual([
      { pointer: '', message: 'has an unknown member' },
    ]);
  });

  test('may require members that it does not describe', () => {
    const schema = '{ type: object, anyOf: [{ required: [email] }, { required: [phone] }] }';
    expect(violations(schema, '{"phone":1}')).toEqual([]);
    expect(violations(schema, '{}')).not.toEqual([]);
  });

  test('runs patterns in linear time', () => {
    const schema = "{ type: string, pattern: '^(a+)+$' }";
    const start = cpuMs();
    expect(violations(schema, JSON.stringify(`${'a'.repeat(3_000)}!`))).toHaveLength(1);
    expect(cpuMs() - start).toBeLessThan(2_000);
    expect(violations(schema, '"aaa"')).toEqual([]);
  });

  test('distinguishes two patterns', () => {
    const schema = "{ properties: { a: { type: string, pattern: '^a$' }, b: { type: string, pattern: '^b$' } } }";
    expect(violations(schema, '{"a":"a","b":"b"}')).toEqual([]);
    expect(violations(schema, '{"a":"b","b":"a"}')?.map(({ pointer }) => pointer)).toEqual(['/a', '/b']);
  });

  test('may refer to a shared schema that refers to another, and to itself', () => {
    const shared = `schemas:
  Folder: { type: object, properties: { files: { type: array, items: { $ref: '#/schemas/File' } }, folders: { type: array, items: { $ref: '#/schemas/Folder' } } } }
  File: { type: string, minLength: 1 }
`;
    const schema = "{ $ref: '#/schemas/Folder' }";
    expect(violations(schema, '{"folders":[{"files":["a"]}]}', shared)).toEqual([]);
    expect(violations(schema, '{"folders":[{"files":[""]}]}', shared)?.map(({ pointer }) => pointer)).toEqual([
      '/folders/0/files/0',
    ]);
  });

  test('validates after the strict JSON parser', () => {
    expect(violations('true', '{"a":1,"a":2}')).toEqual([{ pointer: '/a', message: 'appears twice in this object' }]);
  });
});
