import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from '../../src/engine/manifest/document.ts';
import type { ImportedRoutes } from '../../src/openapi/import/import-openapi.ts';
import { writeRoutes } from '../../src/openapi/import/write-routes.ts';
import { runs } from '../support/runs.ts';

const PARTS = [
  'a',
  'é',
  ':',
  ' ',
  '\n',
  '\n\n',
  '#',
  '-',
  '"',
  "'",
  ',',
  '[',
  ']',
  '{',
  '}',
  '\t',
  '\\',
  '?',
  '|',
  '>',
  '&',
  '*',
]
  .concat(
    '!',
    '%',
    '@',
    '`',
    '~',
    'null',
    'true',
    '1',
    '0x1',
    '.inf',
    '2020-01-01',
    '---',
    '...',
    '<<',
    '$',
    '${A}',
    '__proto__',
  )
  .concat(
    '\r',
    '\0',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\u00ad',
    '\u200b',
    '\u2028',
    '\u3000',
    '\ufeff',
    '\uffff',
    '\u{1f600}',
    '\u{e0041}',
  );
const text = fc.array(fc.constantFrom(...PARTS), { maxLength: 6 }).map((parts) => parts.join(''));

function write(schema: object, summary: string): string {
  const schemas = new Map<string, unknown>([['A', schema]]);
  return writeRoutes({
    routes: [{ entry: { id: 'a', summary }, comment: summary }],
    schemas,
  } as unknown as ImportedRoutes);
}

it('writes every text as a value and as a key that YAML reads in the same way', () => {
  const property = fc.property(text, (one) => {
    const schema = { description: one, properties: Object.fromEntries([[`${one}.`, { const: one }]]), enum: [one, 1] };
    // The writer compares the values itself. This finds texts that it cannot write, and messages of the parser.
    const { findings } = parse({ path: 'routes.yaml', text: write(schema, one) });
    expect(findings).toEqual([]);
  });
  fc.assert(property, { numRuns: runs(20_000) });
});

it.each(['a:\nb', ':\na', 'a: b\nc: d', '- a\n- b', '\\\n ', 'a\n', '\n', '<<', '\u2028', 'a #b\nc'])(
  'writes %j',
  (one) => {
    const schema = { type: 'object', description: one, properties: { a: { const: one }, [one]: { description: one } } };
    const value = parse({ path: 'routes.yaml', text: write(schema, one) }).document.value;
    expect(value).toMatchObject({ schemas: { A: schema }, routes: [{ summary: one }] });
  },
);

it('keeps descriptions of several lines readable', () => {
  expect(write({ type: 'object', description: 'one\n\ntwo: 2\n  indented' }, 'a')).toContain(
    'description: |-\n      one\n\n      two: 2\n        indented\n',
  );
});
