import { describe, expect, test } from 'vitest';
import { load } from '../../../src/engine/load.ts';
import { bodyRoute, manifestOf, violationsOf } from '../../manifest/support.ts';

const FILES: Readonly<Record<string, string>> = {
  'schemas/contact.json': `{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://schemas.example/contact.json",
    "type": "object",
    "properties": {
      "email": { "$ref": "#/$defs/Email" },
      "count": { "type": "integer" },
      "address": { "$ref": "parts/address.yaml#/$defs/Address%20of~1one" },
      "mode": { "const": { "$ref": "parts/nowhere.json" } }
    },
    "$defs": { "Email": { "type": "string", "minLength": 3 } }
  }`,
  'schemas/parts/address.yaml': `$defs:
  Address of/one: { type: object, properties: { street: { maxLength: 5 }, contacts: { items: { $ref: ../contact.json# } } } }
`,
  'with space.json': '{ "type": "string", "$ref": "#/$defs/A", "$defs": { "A": { "maxLength": 2 } } }',
};

const readPaths: string[] = [];
const readFile = (path: string) => {
  readPaths.push(path);
  const text = FILES[path];
  if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
  return text;
};

function validatorOf(schema: string, above = '') {
  readPaths.length = 0;
  const text = manifestOf(above, bodyRoute(schema));
  const loaded = load({ path: 'gateway.yaml', text }, { env: {}, readFile });
  if (loaded.plan === undefined) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
  return (body: unknown) => {
    const violations = violationsOf(loaded, JSON.stringify(body));
    return violations?.map(({ pointer }) => pointer);
  };
}

describe('a schema in a file', () => {
  test('may refer to its own parts, to other files, and back', async () => {
    const validate = validatorOf("{ $ref: './schemas/contact.json' }");
    expect(readPaths).toEqual(['schemas/contact.json', 'schemas/parts/address.yaml']);
    expect(validate({ email: 'abc', count: 1, address: { street: 'a', contacts: [{ email: 'abc' }] } })).toEqual([]);
    expect(validate({ email: 'a' })).toEqual(['/email']);
    expect(validate({ count: 2 ** 53 })).toEqual(['/count']);
    expect(validate({ address: { street: 'too long', contacts: [{ email: 'a' }] } })).toEqual([
      '/address/street',
      '/address/contacts/0/email',
    ]);
    expect(validate({ mode: { $ref: 'parts/nowhere.json' } })).toEqual([]);
    expect(validate([])).toEqual(['']);
  });

  test('is found by a fragment, by an encoded name, and from the shared schemas', async () => {
    const validate = validatorOf(
      "{ type: object, properties: { a: { $ref: 'schemas/contact.json#/$defs/Email' }, b: { $ref: 'with%20space.json' }, c: { $ref: '#/schemas/C' } } }",
      'schemas: { C: { $ref: schemas/../schemas/contact.json } }\n',
    );
    expect(validate({ a: 'abc', b: 'ab', c: {} })).toEqual([]);
    expect(validate({ a: 'a', b: 'abc', c: { email: 1 } })).toEqual(['/c/email', '/a', '/b'].sort());
    expect(readPaths.filter((file) => file === 'schemas/contact.json')).toHaveLength(1);
  });
});

test('files in a folder that contains itself are read up to the limit', () => {
  const text = manifestOf('', bodyRoute("{ $ref: 'a.json' }"));
  const { problems } = load({ path: 'gateway.yaml', text }, { env: {}, readFile: () => '{ "$ref": "self/a.json" }' });
  expect(problems.map(({ message }) => message.replace(/^.*: /, ''))).toEqual([
    'more than 64 references in a row lead from here; refer to the last schema directly',
    'at most 200 files are read; put several schemas into one file',
  ]);
});

test.each([
  'https://schemas.example/contact.json',
  'http://127.0.0.1:9/contact.json',
  '//schemas.example/contact.json',
  'file:schemas/contact.json',
  'data:application/json,{}',
  '/etc/passwd',
  '../contact.json',
  'schemas/../../contact.json',
  '%2e%2e/contact.json',
  'schemas\\contact.json',
  '%2Fetc/passwd',
])('%s is never read or fetched', (reference) => {
  expect(() => validatorOf(`{ $ref: '${reference}' }`)).toThrow(/^"|^[^\n]*write/);
  expect(readPaths).toEqual([]);
});
