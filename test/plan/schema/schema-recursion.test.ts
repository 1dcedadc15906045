import { describe, expect, test } from 'vitest';
import { bodyRoute, loadText, manifestOf } from '../../manifest/support.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const load = (node: string, others = '') =>
  loadText(manifestOf(`schemas:\n  Node: ${node}\n${others}`, bodyRoute("{ $ref: '#/schemas/Node' }")));
const NODE = "{ $ref: '#/schemas/Node' }";
const KID = `{ properties: { kid: ${NODE} } }`;

describe('a schema that validates a member twice at each level', () => {
  test.each<[string, string, string?]>([
    ['in two branches of oneOf', `{ oneOf: [${KID}, ${KID}] }`],
    ['in two branches of anyOf', `{ anyOf: [${KID}, { properties: { kid: ${NODE}, b: { type: string } } }] }`],
    ['in two branches of allOf', `{ allOf: [${KID}, ${KID}] }`],
    ['beside a branch', `{ properties: { kid: ${NODE} }, oneOf: [${KID}, { required: [a] }] }`],
    ['in if and in then', `{ if: ${KID}, then: ${KID} }`],
    ['in not', `{ properties: { kid: ${NODE} }, not: ${KID} }`],
    ['in a dependent schema', `{ properties: { kid: ${NODE} }, dependentSchemas: { a: ${KID} } }`],
    [
      'in one schema that two branches refer to',
      `{ oneOf: [{ $ref: '#/schemas/Other' }, { $ref: '#/schemas/Other' }] }`,
      `  Other: ${KID}\n`,
    ],
    ['below the branches', `{ properties: { list: { items: { oneOf: [${NODE}, ${NODE}] } } } }`],
    ['as items', `{ anyOf: [{ items: ${NODE} }, { items: ${NODE}, minItems: 2 }] }`],
    ['as an item and in contains', `{ items: ${NODE}, contains: ${NODE} }`],
    ['as the first item and as any', `{ allOf: [{ prefixItems: [${NODE}] }, { items: ${NODE} }] }`],
    ['by name and as any other', `{ oneOf: [${KID}, { additionalProperties: ${NODE} }] }`],
    ['by name and by pattern', `{ properties: { kid: ${NODE} }, patternProperties: { '^k': ${NODE} } }`],
    [
      'by name and by a pattern of RE2 alone',
      `{ properties: { kid: ${NODE} }, patternProperties: { '(?i)K': ${NODE} } }`,
    ],
    ['by two patterns', `{ patternProperties: { '^k': ${NODE}, 'd$': ${NODE} } }`],
    [
      'through another schema',
      `{ oneOf: [${KID}, { properties: { kid: { $ref: '#/schemas/Other' } } }] }`,
      `  Other: { items: ${NODE} }\n`,
    ],
  ])('is a problem: %s', (_name, node, others) => {
    const { plan, problems } = load(node, others);
    expect(plan).toBeUndefined();
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^two branches of this recursion may validate the same member/),
    ]);
    expect(problems[0]?.range.line).toBeGreaterThan(4);
  });
});

describe('a schema that validates a member once at each level', () => {
  test.each<[string, string, string?]>([
    ['a tree', KID],
    ['a list of lists', `{ type: array, items: ${NODE} }`],
    [
      'branches with different names',
      `{ oneOf: [{ required: [and], properties: { and: { items: ${NODE} } } }, { required: [or], properties: { or: { items: ${NODE} } } }] }`,
    ],
    [
      'branches beside the recursion',
      `{ properties: { kid: ${NODE} }, oneOf: [{ required: [a] }, { required: [b] }] }`,
    ],
    [
      'names and all others',
      `{ properties: { a: ${NODE}, b: ${NODE} }, patternProperties: { '^x-': ${NODE} }, additionalProperties: ${NODE} }`,
    ],
    ['the first item and the others', `{ prefixItems: [${NODE}], items: ${NODE} }`],
    [
      'through two schemas',
      `{ properties: { kid: { $ref: '#/schemas/Other' } } }`,
      `  Other: { properties: { kid: ${NODE} } }\n`,
    ],
    [
      'a shared schema in two branches that does not recurse',
      `{ properties: { kid: ${NODE} }, oneOf: [{ properties: { a: { $ref: '#/schemas/Other' } } }, { properties: { a: { $ref: '#/schemas/Other' } } }] }`,
      '  Other: { type: string }\n',
    ],
  ])('validates sixty levels fast: %s', (_name, node, others) => {
    const { plan, problems } = load(node, others);
    expect(problems).toEqual([]);
    const validate = plan?.routes[0]?.body?.validate;
    const start = cpuMs();
    for (const [open, end] of [
      ['{"kid":', '}'],
      ['[', ']'],
      ['{"and":[', ']}'],
      ['{"a":', '}'],
    ] as const) {
      const levels = Math.floor(62 / (open.match(/[[{]/g)?.length ?? 1));
      void validate?.(Buffer.from(`${open.repeat(levels)}1${end.repeat(levels)}`));
    }
    expect(cpuMs() - start).toBeLessThan(1_000);
  });
});
