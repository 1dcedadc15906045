import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { REFUSALS } from '../../src/gateway/response/refusal.ts';
import type { TokenErrorCode } from '../../src/plan/tokens/verification-result.ts';

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
ajv.addSchema(schema, 'suite');

describe('every key of a test file is described and shown', () => {
  test.each(keys)('%s', (pointer, { description, examples }) => {
    expect(description).toMatch(/^[A-Z`].*\.$/);
    expect(examples?.length).toBeGreaterThan(0);
    const fits = ajv.getSchema(`suite#${pointer}`);
    for (const example of examples ?? [])
      expect({ example, errors: fits?.(example) ? null : fits?.errors }).toEqual({ example, errors: null });
  });

  test('in a file that fits', () => {
    for (const example of schema.examples ?? []) expect(ajv.validate('suite', example)).toBe(true);
  });
});

test('no map takes a key that it does not know', () => {
  for (const [name, holder] of Object.entries(definitions))
    if (holder.properties !== undefined) expect([name, holder['additionalProperties']]).toEqual([name, false]);
});

test('every refusal can be expected, and nothing else', () => {
  const { refusal, reported } = definitions['Expectation']?.properties ?? {};
  expect(refusal?.enum).toEqual(Object.keys(REFUSALS));
  const { enum: codes = [] } = (reported?.['items'] ?? {}) as Subschema;
  expect(codes.length).toBe(3);
  for (const code of codes) expect(REFUSALS).toHaveProperty(String(code));
});

/** The compiler holds this to the type. */
const FAULTS: Readonly<Record<TokenErrorCode, true>> = {
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

test('a token can have every fault, and no other', () => {
  expect(definitions['TestToken']?.properties?.['error']?.enum).toEqual(Object.keys(FAULTS));
});
