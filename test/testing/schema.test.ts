import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { TokenErrorCode } from '../../src/engine/gateway/response/refusal.ts';
import { REFUSALS } from '../../src/engine/gateway/response/refusal.ts';

interface Subschema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly description?: string;
  readonly examples?: unknown[];
  readonly enum?: unknown[];
  readonly properties?: Record<string, Subschema>;
}

const schema: Subschema = JSON.parse(
  readFileSync(new URL('../../schema/gateway-test.schema.json', import.meta.url), 'utf8'),
);
const definitions = schema['$defs'] as Record<string, Subschema>;

/** Every key of a test file, by its JSON Pointer. */
const keys = [schema, ...Object.values(definitions)].flatMap((holder, index) => {
  const pointer = index === 0 ? '' : `/$defs/${Object.keys(definitions)[index - 1]}`;
  return Object.entries(holder.properties ?? {}).map(([name, key]) => [`${pointer}/properties/${name}`, key] as const);
});

const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
ajv.addVocabulary(['markdownDescription', 'patternErrorMessage']);
ajv.addSchema(schema, 'test-file');

describe('every key of a test file has a description and valid examples', () => {
  test.each(keys)('%s', (pointer, { description, examples }) => {
    expect(description).toMatch(/^[A-Z`].*\.$/);
    expect(examples?.length).toBeGreaterThan(0);
    const validate = ajv.getSchema(`test-file#${pointer}`);
    for (const example of examples ?? [])
      expect({ example, errors: validate?.(example) ? null : validate?.errors }).toEqual({ example, errors: null });
  });

  test('the examples of the complete file are valid', () => {
    for (const example of schema.examples ?? []) expect(ajv.validate('test-file', example)).toBe(true);
  });
});

test('no map accepts an unknown key', () => {
  for (const [name, holder] of Object.entries(definitions))
    if (holder.properties !== undefined) expect([name, holder['additionalProperties']]).toEqual([name, false]);
});

test('exactly the refusal codes can be expected', () => {
  const { refusal, reported } = definitions['Expectation']?.properties ?? {};
  expect(refusal?.enum).toEqual(Object.keys(REFUSALS));
  const { enum: codes = [] } = (reported?.['items'] ?? {}) as Subschema;
  expect(codes.length).toBe(5);
  for (const code of codes) expect(REFUSALS).toHaveProperty(String(code));
});

/** The compiler compares this with the type. */
const TOKEN_ERRORS: Readonly<Record<TokenErrorCode, true>> = {
  token_malformed: true,
  token_inactive: true,
  token_expired: true,
  token_not_yet_valid: true,
  type_wrong: true,
  issuer_wrong: true,
  audience_wrong: true,
  algorithm_not_allowed: true,
  key_unknown: true,
  signature_wrong: true,
  claims_wrong: true,
  keys_unavailable: true,
};

test('a token can have exactly the token errors', () => {
  expect(definitions['TestToken']?.properties?.['error']?.enum).toEqual(Object.keys(TOKEN_ERRORS));
});
