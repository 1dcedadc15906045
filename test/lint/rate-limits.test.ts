import { describe, expect, test } from 'vitest';
import type { LintOptions } from '../../src/check/lint/lint.ts';
import { lintText } from './support.ts';

const RULES = /^(?:login-unlimited|rate-limit|store)/;

/** Returns the rules about rate limits that find something. */
function rulesOf(limits: string, routes: readonly string[], others = '', options: LintOptions = {}): string[] {
  const text = `version: 1
${others}
upstreams: { up: { url: http://127.0.0.1:9 } }
auth:
  tokens: { jwt: { jwks: https://identity.example/keys, algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [user], message: users only }
rateLimits: ${limits}
routes:
${routes.map((route, index) => `  - { id: r${index}, upstream: up, ${route} }\n`).join('')}`;
  return lintText(text, options, { SECRET: 'hQ7wkR2mVx9tLp4zGcN8' })
    .map(({ rule }) => rule)
    .filter((rule) => RULES.test(rule));
}

const BODY = 'body: { maxBytes: 4KB, schema: { type: object } }';
const post = (path: string, more = '') => `method: POST, path: '${path}', access: public, ${BODY}${more}`;
const limited = (path: string, id = 'one') => post(path, `, rateLimits: [${id}]`);

describe('login-unlimited', () => {
  test.each([
    '/login',
    '/api/v1/sign-in',
    '/login/mfa/verify',
    '/auth/otp',
    '/password/forgot',
    '/account/reset-password',
    '/email/verification',
    '/a/{id}/unlock',
  ])('finds a public POST to %s', (path) => {
    expect(rulesOf('{}', [post(path)])).toEqual(['login-unlimited']);
  });

  test.each(['/contacts', '/presets', '/blog-in', '/passwordless-info', '/totals', '/verifiers'])(
    'does not find a public POST to %s',
    (path) => {
      expect(rulesOf('{}', [post(path)])).toEqual([]);
    },
  );

  test('finds a route with a role gate, whatever its path is', () => {
    expect(rulesOf('{}', [post('/start', ', login: {}')])).toEqual(['login-unlimited']);
  });

  test('finds neither a GET nor a protected route', () => {
    const get = `method: GET, path: '/verify/{id}', access: public`;
    const change = `method: POST, path: /password, access: protected, ${BODY}`;
    expect(rulesOf('{}', [get, change])).toEqual([]);
  });

  test.each([
    ['key: client, allow: 9 per 1m', []],
    ['key: client, allow: 9 per 1m, mode: report', ['login-unlimited']],
    ['key: client, allow: 9 per 1m, mode: report, reportUntil: 2999-01-31', []],
  ])('depends on the mode of the limit { %s }', (limit, rules) => {
    expect(rulesOf(`{ one: { ${limit} } }`, [limited('/login')])).toEqual(rules);
  });
});

describe('rate-limit-report-over', () => {
  const limit = '{ one: { key: client, allow: 9 per 1m, mode: report, reportUntil: 2027-01-31 } }';
  test.each([
    ['2027-01-30', []],
    ['2027-01-31', []],
    ['2027-02-01', ['rate-limit-report-over']],
    ['2100-01-01', ['rate-limit-report-over']],
  ])('on %s finds %j', (today, rules) => {
    expect(rulesOf(limit, [limited('/contacts')], '', { today })).toEqual(rules);
  });
});

describe('rate-limit-avoidable', () => {
  const HEADER = 'one: { key: { header: X-A }, missing: refuse, allow: 9 per 1m }';
  const MEMBER = 'two: { key: { body: /email }, missing: skip, allow: 9 per 1m }';
  const CLIENT = 'three: { key: client, allow: 9 per 1m }';
  const ids = (...names: string[]) => post('/contacts', `, rateLimits: [${names.join(', ')}]`);
  test.each([
    [['one'], ['rate-limit-avoidable']],
    [['one', 'two'], ['rate-limit-avoidable']],
    [['one', 'two', 'three'], []],
    [['three'], []],
  ])('for a route with the limits %j finds %j', (names, rules) => {
    const limits = `{ ${[HEADER, MEMBER, CLIENT].join(', ')} }`;
    expect(rulesOf(limits, [ids(...names)]).filter((rule) => rule !== 'rate-limit-unused')).toEqual(rules);
  });

  test('finds a key that combines the address with a header, which a client can change', () => {
    const limits = '{ one: { key: [client, { header: X-A }], missing: refuse, allow: 9 per 1m } }';
    expect(rulesOf(limits, [limited('/contacts')])).toEqual(['rate-limit-avoidable']);
  });
});

describe('rate-limit-client', () => {
  const EXPOSED = "listen: '0.0.0.0:80'";
  const client = '{ one: { key: [route, client], allow: 9 per 1m } }';
  test.each([
    [EXPOSED, client, ['rate-limit-client']],
    [EXPOSED, '{ one: { key: { client: { ipv6Prefix: 56 } }, allow: 9 per 1m } }', ['rate-limit-client']],
    [`${EXPOSED}\nserver: { trustedProxies: [10.0.0.1] }`, client, []],
    ["listen: '127.0.0.1:80'", client, []],
    ["listen: '[::1]:80'", client, []],
    [EXPOSED, '{ one: { key: route, allow: 9 per 1m } }', []],
  ])('with %s and %s finds %j', (others, limits, rules) => {
    expect(rulesOf(limits, [limited('/contacts')], others)).toEqual(rules);
  });
});

describe('rate-limit-high', () => {
  test.each([
    ['2048 per 1h', []],
    ['2049 per 1h', ['rate-limit-high']],
    ['9000 per 1h, burst: 10', []],
  ])('for %s at an upstream with room for 2048 requests finds %j', (allow, rules) => {
    expect(rulesOf(`{ one: { key: client, allow: ${allow} } }`, [limited('/contacts')])).toEqual(rules);
  });
});

describe('rate-limit-body-unknown', () => {
  const limits = (pointer: string) =>
    `{ one: { key: [client, { body: ${pointer} }], missing: refuse, allow: 9 per 1m }, all: { key: client, allow: 9 per 1m } }`;
  const schemas = 'schemas: { Person: { type: object, properties: { email: { type: string } } } }';
  const route = (schema: string) =>
    `method: POST, path: /a, access: public, rateLimits: [one, all], body: { maxBytes: 4KB, schema: ${schema} }`;
  const findingsOf = (pointer: string, schema: string) =>
    rulesOf(limits(pointer), [route(schema)], schemas).filter((rule) => rule === 'rate-limit-body-unknown');

  test.each([
    ['/mail', '{ type: object, properties: { email: { type: string } } }'],
    ['/mail', "{ $ref: '#/schemas/Person' }"],
    ['/person/mail', "{ type: object, properties: { person: { $ref: '#/schemas/Person' } } }"],
    ['/constructor', "{ $ref: '#/schemas/Person' }"],
  ])('finds %s in %s', (pointer, schema) => {
    expect(findingsOf(pointer, schema)).toEqual(['rate-limit-body-unknown']);
  });

  test.each([
    ['/email', "{ $ref: '#/schemas/Person' }"],
    ['/person/email', "{ type: object, properties: { person: { $ref: '#/schemas/Person' } } }"],
    ['/mail', '{ type: object }'],
    ['/mail', "{ type: object, properties: { a: { type: string } }, patternProperties: { '^m': { type: string } } }"],
    [
      '/mail',
      '{ type: object, properties: { a: { type: string } }, allOf: [{ properties: { mail: { type: string } } }] }',
    ],
    ['/mail', "{ $ref: '#/schemas/Person', properties: { mail: { type: string } } }"],
    ['/list/0', '{ type: object, properties: { list: { type: array, items: { type: string } } } }'],
  ])('permits %s in %s', (pointer, schema) => {
    expect(findingsOf(pointer, schema)).toEqual([]);
  });

  test('reports a limit once, although several routes use it', () => {
    const routes = ['/a', '/b'].map((path) => route("{ $ref: '#/schemas/Person' }").replace('/a', path));
    const found = rulesOf(limits('/mail'), routes, schemas);
    expect(found.filter((rule) => rule === 'rate-limit-body-unknown')).toHaveLength(1);
  });
});
