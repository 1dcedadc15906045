import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from '../../src/manifest/document.ts';
import { readJsonValues } from '../../src/manifest/json-values.ts';
import { parseTree } from '../../src/manifest/parse-tree.ts';
import { createPositionTree } from '../../src/manifest/position-tree.ts';
import { readValues } from '../../src/manifest/yaml-values.ts';
import '../support/seed.ts';

describe('JSON text', () => {
  test('has the values that the YAML parser reads', () => {
    const indents = fc.constantFrom(0, 1, 2, 8);
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), indents, (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const read = readJsonValues(text);
        if (read !== undefined) expect(read).toStrictEqual(readYaml(text));
      }),
      { numRuns: 500 },
    );
  });

  test('has no values if the YAML parser reports an error, after random edits', () => {
    const text = JSON.stringify({ a: [1, -0, 1.5e3, { b: 'x: "y" #', 'c d': null }], e: { f: true, g: [] } }, null, 1);
    const fragments = fc.constantFrom(
      '"a":1,',
      '\n',
      ' ',
      '\\',
      '"',
      '{',
      ']',
      ',',
      ':',
      '#',
      '&a ',
      '!t ',
      '<<',
      '1e999',
      '\\u0061',
      '0',
      '- ',
    );
    const edits = fc.array(fc.tuple(fc.nat(text.length), fragments, fc.nat(2)), { minLength: 1, maxLength: 3 });
    let readCount = 0;
    fc.assert(
      fc.property(edits, (list) => {
        const edited = list.reduce((all, [at, part, cut]) => all.slice(0, at) + part + all.slice(at + cut), text);
        const read = readJsonValues(edited);
        if (read === undefined) return;
        readCount += 1;
        expect(read).toStrictEqual(readYaml(edited));
      }),
      { numRuns: 2_000 },
    );
    expect(readCount).toBeGreaterThan(100);
  });

  test.each([
    ['a key that appears twice', '{"a": {"b": 1, "b": 1}}'],
    ['a key that appears twice, once as an escape', '{"a": 1, "\\u0061": 2}'],
    ['a line break before the colon of a second key', '{"a": 1, "a"\n: 2}'],
    ['a merge key', '{"<<": {"a": 1}}'],
    ['a number that is not finite', '{"a": 1e999}'],
    ['a tab', '{\n\t"a": 1}'],
    ['a comment', '{"a": 1} # one'],
    ['too many levels', `{"a": ${'['.repeat(101)}${']'.repeat(101)}}`],
    ['too many members', `{"a": [${'1,'.repeat(20_000)}1]}`],
    ['too many values', `{"a": [${`[${'1,'.repeat(9_999)}1],`.repeat(50)}1]}`],
  ])('is left to the YAML parser with %s', (_name, text) => {
    expect(readJsonValues(text)).toBeUndefined();
  });

  test('has the positions that the YAML parser finds', () => {
    const text = '{\n  "routes": [{ "id": "one" },\n    { "id": "two" }]\n}';
    const { document } = parse({ path: 'gateway.yaml', text });
    expect(readJsonValues(text)).toBeDefined();
    expect(document.locate({ path: ['routes', 1, 'id'], at: 'value' })).toEqual({
      line: 3,
      column: 13,
      endLine: 3,
      endColumn: 18,
    });
    const fix = { change: 'value', path: ['routes', 0, 'id'], text: 'three' } as const;
    expect(document.edit?.(fix)).toEqual(createPositionTree(text, parseTree(text).root).editOf(fix));
  });
});

function readYaml(text: string) {
  const { root, findings } = parseTree(text);
  const { value } = readValues(root, findings);
  expect(findings).toEqual([]);
  return value;
}
