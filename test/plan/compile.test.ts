import { describe, expect, test } from 'vitest';
import type { Plan } from '../../src/plan/plan.ts';
import { AUTH, bodyRoute, faultsOf, loadText, manifestOf, ROUTE } from '../manifest/support.ts';

function planOf(text: string): Plan {
  const { plan, problems } = loadText(text);
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan;
}

describe('defaults', () => {
  const plan = planOf(manifestOf('', ROUTE.replace(' }', ', body: {} }')));

  test('of the addresses', () => {
    expect(plan.listen).toEqual({ host: '127.0.0.1', port: 8080 });
    expect(plan.admin).toBeUndefined();
  });

  test('of the time limits', () => {
    expect(plan.upstreams).toMatchObject([
      { connectTimeoutMs: 2_000, responseTimeoutMs: 30_000, idleTimeoutMs: 60_000 },
    ]);
  });

  test('of a body', () => expect(plan.routes[0]?.body).toEqual({ limitBytes: 1_048_576, judge: undefined }));

  test('without auth, a login or a body there is none', () => {
    const { auth, routes } = planOf(manifestOf());
    expect([auth, routes[0]?.login, routes[0]?.body]).toEqual([undefined, undefined, undefined]);
  });
});

test.each([
  ['127.0.0.1:0', '127.0.0.1', 0],
  ['localhost:65535', 'localhost', 65_535],
  ["'[::1]:8080'", '::1', 8080],
  ["'[::]:1'", '::', 1],
  ['gateway.internal:443', 'gateway.internal', 443],
])('the address %s', (written, host, port) => {
  expect(planOf(manifestOf(`listen: ${written}\nadmin: ${written}\n`))).toMatchObject({
    listen: { host, port },
    admin: { host, port },
  });
});

describe('an upstream', () => {
  const keyOf = (text: string) => planOf(text).upstreams[0]?.key;

  test('has its origin', () => {
    expect(planOf(manifestOf()).upstreams[0]?.url.origin).toBe('http://127.0.0.1:7002');
    expect(
      planOf(manifestOf().replace('http://127.0.0.1:7002', 'https://contacts.internal/')).upstreams[0]?.url.origin,
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

describe('the role', () => {
  const role = planOf(manifestOf(AUTH)).auth?.role;
  const allows = (claims: unknown) => role?.allows({ claims: claims as Record<string, unknown>, expiresAt: 0 });

  test.each(['admin', 'user'])('%s may pass', (company_role) => expect(allows({ company_role })).toBe(true));

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
  ])('%j may not', (company_role) => {
    expect(allows({ company_role })).toBe(false);
  });

  test('no claim, no role', () => {
    expect(allows({})).toBe(false);
    expect(allows(Object.create({ company_role: 'admin' }))).toBe(false);
  });

  test('its message is word for word', () => expect(role?.message).toBe('admins and users only'));
});

describe('the token in the answer of a login', () => {
  const { login } =
    planOf(manifestOf(AUTH, ROUTE.replace(' }', ', login: { token: /data/access_token, maxBytes: 2KB } }')))
      .routes[0] ?? {};
  const find = (text: string) => login?.find(Buffer.from(text));

  test.each([
    ['{"data":{"access_token":"t"}}', { token: 't' }],
    ['{"data":{"mfa":true}}', { token: undefined }],
    ['{"data":null}', { token: undefined }],
    ['[]', { token: undefined }],
    ['{"data":{"access_token":{"a":1}}}', { token: { a: 1 } }],
    ['{"data":{"access_token":"a","access_token":"b"}}', undefined],
    ['not json', undefined],
    ['', undefined],
  ])('%s', (text, expected) => expect(find(text)).toEqual(expected));

  test('its limit', () => expect(login?.limitBytes).toBe(2048));
});

describe('the schema of a body', () => {
  const faults = (schema: string, body: string, shared = '') =>
    faultsOf(loadText(manifestOf(shared, bodyRoute(schema))), body);

  test('nothing is coerced, filled in or removed', () => {
    const schema = '{ type: object, properties: { a: { type: integer, default: 1 } }, required: [a] }';
    expect(faults(schema, '{"a":1}')).toEqual([]);
    expect(faults(schema, '{"a":"1"}')).toEqual([{ pointer: '/a', message: 'must be integer' }]);
    expect(faults(schema, '{}')).toEqual([{ pointer: '/a', message: 'is missing' }]);
  });

  test('what every object inherits is not there', () => {
    expect(faults('{ type: object, required: [toString] }', '{}')).toEqual([
      { pointer: '/toString', message: 'is missing' },
    ]);
  });

  test('faults are told of all at once, twenty at most, and without values', () => {
    const schema = '{ type: array, items: { type: integer } }';
    const secrets = JSON.stringify(Array.from({ length: 50 }, () => 'SECRET'));
    const told = faults(schema, secrets);
    expect(told).toHaveLength(20);
    expect(JSON.stringify(told)).not.toContain('SECRET');
  });

  test('of a longer body the first fault is told', () => {
    const schema = '{ type: object, properties: { a: { type: integer }, b: { type: integer } } }';
    const body = JSON.stringify({ a: 'x', b: 'x'.repeat(10_000) });
    expect(faults(schema, body)?.map(({ pointer }) => pointer)).toEqual(['/a']);
    expect(faults(schema, '{"a":"x","b":"x"}')?.map(({ pointer }) => pointer)).toEqual(['/a', '/b']);
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
    ['{ properties: { a: false } }', '{"a":"SECRET"}', [{ pointer: '/a', message: 'must not be there' }]],
    [
      '{ propertyNames: { maxLength: 2 } }',
      '{"SECRET":1}',
      [
        { pointer: '', message: 'has a name that must NOT have more than 2 characters' },
        { pointer: '', message: 'property name must be valid' },
      ],
    ],
    [
      '{ unevaluatedProperties: false }',
      '{"SECRET":1}',
      [{ pointer: '', message: 'has a member that is not known here' }],
    ],
  ])('%s says of %s', (schema, body, expected) => expect(faults(schema, body)).toEqual(expected));

  test('a pointer is told as far as it is short', () => {
    const name = `${'a'.repeat(298)}😀`;
    const schema = '{ additionalProperties: { type: integer } }';
    for (const body of [{ [name]: 'x' }, { [name]: 1 }]) {
      const text = JSON.stringify(body).replace('1}', '1,"😀":1}').replace('"😀"', JSON.stringify(name));
      const [fault] = faults(schema, text) ?? [];
      expect(fault?.pointer).toBe(`/${'a'.repeat(298)}\ufffd…`);
    }
  });

  test('a member that is not known is not named', () => {
    expect(faults('{ type: object, additionalProperties: false }', '{"SECRET":1}')).toEqual([
      { pointer: '', message: 'has a member that is not known here' },
    ]);
  });

  test('members may be required that are not described', () => {
    const schema = '{ type: object, anyOf: [{ required: [email] }, { required: [phone] }] }';
    expect(faults(schema, '{"phone":1}')).toEqual([]);
    expect(faults(schema, '{}')).not.toEqual([]);
  });

  test('a pattern runs in linear time', () => {
    const schema = "{ type: string, pattern: '^(a+)+$' }";
    const start = performance.now();
    expect(faults(schema, JSON.stringify(`${'a'.repeat(50_000)}!`))).toHaveLength(1);
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(faults(schema, '"aaa"')).toEqual([]);
  });

  test('two patterns are told apart', () => {
    const schema = "{ properties: { a: { type: string, pattern: '^a$' }, b: { type: string, pattern: '^b$' } } }";
    expect(faults(schema, '{"a":"a","b":"b"}')).toEqual([]);
    expect(faults(schema, '{"a":"b","b":"a"}')?.map(({ pointer }) => pointer)).toEqual(['/a', '/b']);
  });

  test('a shared schema may refer to another, and to itself', () => {
    const shared = `schemas:
  Folder: { type: object, properties: { files: { type: array, items: { $ref: '#/schemas/File' } }, folders: { type: array, items: { $ref: '#/schemas/Folder' } } } }
  File: { type: string, minLength: 1 }
`;
    const schema = "{ $ref: '#/schemas/Folder' }";
    expect(faults(schema, '{"folders":[{"files":["a"]}]}', shared)).toEqual([]);
    expect(faults(schema, '{"folders":[{"files":[""]}]}', shared)?.map(({ pointer }) => pointer)).toEqual([
      '/folders/0/files/0',
    ]);
  });

  test('the strict reader comes first', () => {
    expect(faults('true', '{"a":1,"a":2}')).toEqual([{ pointer: '/a', message: 'stands in this object twice' }]);
  });
});
