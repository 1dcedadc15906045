import { describe, expect, test } from 'vitest';
import { formatProblems } from '../../src/report/text.ts';
import { AUTH, bodyRoute, formatProblem, loadText, manifestOf, ROUTE } from './support.ts';

const FIVE = `version: 1
upstreams:
  identity: { url: http://user:secret@127.0.0.1:7001 }
  contacts: { url: http://127.0.0.1:7002 }
routes:
  - id: login
    method: post
    path: /api/v1/login
    upstream: identity
    access: public
  - id: contacts-list
    method: GET
    path: /api/contacts/:page
    upstream: contacts
    access: public
  - id: contacts
    method: any
    path: /api/contacts/**
    upstream: contcats
    access: public
  - id: contacts-import
    method: POST
    path: /api/contacts/imports/csv
    upstream: contacts
    acess: public
`;

test('five errors in different locations are reported at once, in reading order', () => {
  const { plan, problems } = loadText(FIVE);
  expect(plan).toBeUndefined();
  expect(problems.map(formatProblem)).toEqual([
    expect.stringMatching(/^3:20 .* is not an upstream URL/),
    '7:13 "post" is not a method; did you mean "POST"?',
    '13:11 write a parameter as {page}, not ":page"',
    '19:15 no upstream is named "contcats"; did you mean "contacts"?',
    '25:5 unknown key "acess"; did you mean "access"?',
  ]);
});

test('the problems are printed with a blank line between them', () => {
  const printed = formatProblems(loadText(FIVE).problems, FIVE, false);
  expect(printed.split('\n\n').map((part) => part.split(' ')[0])).toEqual([
    'gateway.yaml:3:20',
    'gateway.yaml:7:13',
    'gateway.yaml:13:11',
    'gateway.yaml:19:15',
    'gateway.yaml:25:5',
  ]);
});

describe('the errors of every part are reported at once', () => {
  const PARTS = `version: 2
listen: 127.0.0.1:99999
upstreams:
  contacts: { url: ftp://contacts }
auth:
  tokens: {}
  role: { claim: role, allow: [admin], message: no }
cors: {}
schemas:
  Contact: { type: text }
routes:
  - { id: a, method: POST, path: /a/, upstream: contacts, access: protected }
  - { id: a, method: POST, path: /b, upstream: nobody, access: public }
`;
  test('in a manifest with an error in each part', () => {
    expect(loadText(PARTS).problems.map(({ range, rule }) => `${range.line} ${rule}`)).toEqual([
      '1 schema',
      '2 address',
      '4 schema',
      '6 schema',
      '7 schema',
      '8 schema',
      '10 body-schema',
      '12 path',
      '13 route-id',
      '13 upstream-unknown',
    ]);
  });
});

describe('one error is reported once', () => {
  test.each([
    [
      'auth misspelt, ten protected routes',
      manifestOf(AUTH.replace('auth', 'auht'), tenProtected()),
      ['4:1 unknown key "auht"; did you mean "auth"?'],
    ],
    [
      'no auth, ten protected routes',
      manifestOf('', tenProtected()),
      [expect.stringMatching(/^5:\d+ this needs "auth"/)],
    ],
    [
      'schemas misspelt, and referred to',
      manifestOf('schema: { A: true }\n', bodyRoute(`{ $ref: '#/schemas/A' }`)),
      ['4:1 unknown key "schema"; did you mean "schemas"?'],
    ],
    [
      'upstreams misspelt, and used',
      manifestOf().replace('upstreams', 'upstream'),
      ['2:1 unknown key "upstream"; did you mean "upstreams"?'],
    ],
    [
      'an upstream with a capital in its name',
      manifestOf().replace('  contacts', '  Contacts'),
      [expect.stringMatching(/^3:3 "Contacts" is not a name/)],
    ],
    [
      'a schema of the wrong kind, and referred to',
      manifestOf('schemas: { A: object }\n', bodyRoute(`{ $ref: '#/schemas/A' }`)),
      [expect.stringMatching(/^4:15 "object" is not a JSON Schema/)],
    ],
    [
      'an unknown keyword in a schema that others refer to',
      manifestOf(`schemas: { B: { $ref: '#/schemas/A' }, A: { minLen: 1 } }\n`, bodyRoute(`{ $ref: '#/schemas/B' }`)),
      [expect.stringMatching(/^4:45 "minLen" is not a keyword/)],
    ],
    [
      'a cycle of three schemas',
      manifestOf(
        `schemas: { A: { $ref: '#/schemas/B' }, B: { anyOf: [{ $ref: '#/schemas/C' }] }, C: { not: { $ref: '#/schemas/A' } } }\n`,
      ),
      [expect.stringMatching(/^4:23 this refers back/)],
    ],
    [
      'an unset variable in place of a path',
      manifestOf('', ROUTE.replace('/api/contacts', "'${WHERE}'")),
      [expect.stringMatching(/^5:41 the path of a route is printed in logs and metrics/)],
    ],
  ])('%s', (_name, text, expected) => {
    expect(loadText(text).problems.map(formatProblem)).toEqual(expected);
  });

  function tenProtected(): string {
    return Array.from({ length: 10 }, (_, index) =>
      ROUTE.replace('id: contacts', `id: r${index}`).replace('/api', `/${index}`).replace('public', 'protected'),
    ).join('');
  }
});

describe('a body schema', () => {
  test.each([
    [
      'with an unknown keyword that is a property elsewhere',
      '{ properties: { lenght: { type: string } }, lenght: 1 }',
      /"lenght" is not a keyword/,
    ],
    ['a pattern of names', "{ patternProperties: { '(?=a)': true } }", /cannot run in linear time/],
    ['an $id', '{ $id: contact }', /"\$id" is not supported/],
    ['an anchor', '{ $anchor: "!" }', /"\$anchor" is not supported/],
    ['a dynamic reference', "{ $dynamicRef: '#a' }", /"\$dynamicRef" is not supported/],
    ['another dialect', '{ $schema: http://json-schema.org/draft-07/schema# }', /this dialect is not supported/],
    ['a dialect that is not a string', '{ $schema: 5 }', /"\$schema" is not a string; write it in quotes/],
    ['a schema that is itself', "{ allOf: [{ $ref: '#/schemas/A' }] }", /refers back to itself/],
    [
      'a reference to a value that is not a schema',
      "{ required: [a], properties: { a: { $ref: '#/schemas/A/required' } } }",
      /has nothing at "#\/schemas\/A\/required"/,
    ],
  ])('%s', (_name, schema, expected) => {
    const { plan, problems } = loadText(manifestOf(`schemas: { A: ${schema} }\n`));
    expect(plan).toBeUndefined();
    expect(problems.map(formatProblem)).toEqual([expect.stringMatching(expected)]);
  });

  test('two schemas with the same $id are both reported', () => {
    const { problems } = loadText(manifestOf('schemas: { A: { $id: x }, B: { $id: x, type: string } }\n'));
    expect(problems.map(({ range }) => range.column)).toEqual([17, 32]);
  });

  test.each([
    ['a tree', "{ type: object, properties: { kids: { type: array, items: { $ref: '#/schemas/A' } } } }"],
    ['its own definitions', "{ $defs: { x: true }, properties: { a: { $ref: '#/schemas/A/$defs/x' } } }"],
    [
      'data that looks like a schema',
      "{ enum: [{ $ref: nowhere, pattern: '(', format: none, $id: a }, { $id: a, x: 1 }] }",
    ],
    [
      'properties with the names of keywords',
      '{ properties: { pattern: { type: string }, $ref: { type: string }, $id: { type: string } } }',
    ],
  ])('%s is valid', (_name, schema) => {
    expect(loadText(manifestOf(`schemas: { A: ${schema} }\n`)).problems.map(formatProblem)).toEqual([]);
  });
});
