import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { toValidationSchema } from '../../scripts/editor-keywords.ts';
import { generate } from '../../scripts/generate.ts';
import { durationMs, sizeBytes } from '../../src/engine/manifest/units.ts';
import { loadText, manifestOf } from './support.ts';

interface Subschema {
  readonly [keyword: string]: unknown;
  readonly description?: string;
  readonly examples?: unknown[];
  readonly properties?: Record<string, Subschema>;
  readonly $ref?: string;
  readonly default?: unknown;
}

const schema: Subschema = JSON.parse(
  readFileSync(new URL('../../schema/gateway.schema.json', import.meta.url), 'utf8'),
);
const definitions = schema['$defs'] as Record<string, Subschema>;

/** Every property of the manifest, by its JSON Pointer. */
function* propertiesOf(node: unknown, pointer = '', isNames = false): Generator<[string, Subschema]> {
  if (node === null || typeof node !== 'object') return;
  for (const [key, value] of Object.entries(node)) {
    if (['examples', 'default', 'enum', 'defaultSnippets'].includes(key)) continue;
    const here = `${pointer}/${key}`;
    // A key of the manifest may itself be named "properties".
    const isMembers = key === 'properties' && !isNames;
    if (isMembers)
      for (const [name, member] of Object.entries(value as Record<string, Subschema>))
        yield [`${here}/${name}`, member];
    yield* propertiesOf(value, here, isMembers);
  }
}

function resolved(member: Subschema): Subschema {
  const name = member.$ref?.replace('#/$defs/', '');
  return name === undefined ? member : { ...definitions[name], ...member };
}

const properties = [...propertiesOf(schema)];
const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
ajv.addVocabulary(['markdownDescription', 'patternErrorMessage', 'defaultSnippets']);
ajv.addSchema(schema, 'manifest');

describe('every key has a description and examples', () => {
  test('the schema has keys', () => expect(properties.length).toBeGreaterThan(30));

  test.each(properties)('%s', (pointer, member) => {
    const { description, examples } = resolved(member);
    expect(description).toMatch(/^[A-Z`].*\.$/);
    expect(examples?.length).toBeGreaterThan(0);
    const validate = ajv.getSchema(`manifest#${pointer}`);
    for (const example of examples ?? [])
      expect({ example, errors: validate?.(example) ? null : validate?.errors }).toEqual({ example, errors: null });
    // Editors see the text before the substitution.
    if (typeof examples?.[0] === 'string') expect(validate?.('${NAME}')).toBe(true);
  });

  test.each(Object.entries(definitions))('$defs/%s', (name, { description, examples }) => {
    expect(description).toMatch(/^[A-Z`].*\.$/);
    const validate = ajv.getSchema(`manifest#/$defs/${name}`);
    for (const example of examples ?? [])
      expect({ example, errors: validate?.(example) ? null : validate?.errors }).toEqual({ example, errors: null });
  });

  test('the example of the manifest is valid', () => {
    expect(schema.examples).toHaveLength(1);
    for (const example of schema.examples ?? []) expect(ajv.validate('manifest', example)).toBe(true);
  });
});

test('the examples of body schemas load', () => {
  const examples = [definitions['JsonSchema'], schema.properties?.['schemas']].flatMap(
    (member) => member?.examples ?? [],
  );
  expect(examples.length).toBeGreaterThan(1);
  for (const example of examples) {
    const [named] = Object.values(example as object).every((inside) => inside?.constructor === Object)
      ? Object.values(example as object)
      : [example];
    expect(loadText(manifestOf(`schemas: ${JSON.stringify({ Shown: named })}\n`)).problems).toEqual([]);
  }
});

test('the schema without the keywords for editors compiles in the strict mode of ajv', () => {
  const compiled = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(toValidationSchema(schema));
  expect(compiled).toBeTypeOf('function');
});

test('no map accepts an unknown key', () => {
  const open = properties.filter(
    ([, { properties: members, ...rest }]) => members !== undefined && rest['additionalProperties'] !== false,
  );
  expect(open).toEqual([]);
  for (const [name, definition] of Object.entries(definitions))
    if (definition.properties !== undefined)
      expect({ name, closed: definition['additionalProperties'] }).toEqual({ name, closed: false });
});

test('every required key is a property', () => {
  const maps = [schema, ...Object.values(definitions), ...properties.map(([, member]) => member)];
  for (const { properties: members, required } of maps)
    if (Array.isArray(required)) expect(Object.keys(members ?? {})).toEqual(expect.arrayContaining(required));
});

describe('defaults', () => {
  const defaulted = properties.filter(([, member]) => member.default !== undefined);

  test('exist', () => expect(defaulted.length).toBeGreaterThan(5));

  test.each(defaulted)('of %s match their own schema', (pointer, member) => {
    const validate = ajv.getSchema(`manifest#${pointer}`);
    expect(validate?.(structuredClone(member.default))).toBe(true);
    if (member.$ref === '#/$defs/Duration') expect(durationMs(String(member.default))).toBeGreaterThan(0);
    if (member.$ref === '#/$defs/Size') expect(sizeBytes(String(member.default))).toBeGreaterThan(0);
  });

  test('are required members of the generated types', async () => {
    const types = (await generate())['../src/engine/manifest/manifest.generated.ts'] ?? '';
    const nameOf = ([pointer]: readonly [string, unknown]) => String(pointer.split('/').at(-1));
    for (const name of new Set(defaulted.map(nameOf))) {
      const optional = properties.filter((property) => nameOf(property) === name && !defaulted.includes(property));
      expect(types).toMatch(new RegExp(`^${name}: `, 'm'));
      // Several maps may have a key with this name, and some of them a default.
      const marked = types.match(new RegExp(`^${name}\\?: `, 'gm')) ?? [];
      expect(marked.length, name).toBeLessThanOrEqual(optional.length);
    }
    expect(types).toMatch(/^auth\?: Auth$/m);
  });
});

test('the generated files are up to date', async () => {
  for (const [name, text] of Object.entries(await generate())) {
    const checkedIn = readFileSync(new URL(`../../scripts/${name}`, import.meta.url), 'utf8');
    expect(checkedIn === text, `${name} is out of date; run npm run generate`).toBe(true);
  }
});
