import { globSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { findTextError, parse } from '../../src/engine/manifest/document.ts';
import { findLookAlikes } from '../../src/engine/manifest/look-alikes.ts';
import { parseTree } from '../../src/engine/manifest/parse-tree.ts';
import { readSimpleYaml } from '../../src/engine/manifest/simple-yaml/read-simple-yaml.ts';
import { commentsOf } from '../../src/engine/manifest/yaml-text.ts';
import { readValues, type YamlValue } from '../../src/engine/manifest/yaml-values.ts';
import '../support/seed.ts';
import { anyCharacter } from '../support/any-character.ts';
import { cases, runs } from '../support/runs.ts';
import { SAMPLES, styleOf, yamlEdits } from './simple-yaml.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const FILES = globSync('{*.yaml,{deploy,docs,examples,schema,test}/**/*.{yaml,yml}}', { cwd: ROOT });

describe('simple YAML text', () => {
  test('has the values and positions that the YAML parser reads, in every file of the project', () => {
    const read = FILES.filter((file) => expectSameAsParser(readFileSync(`${ROOT}${file}`, 'utf8')));
    expect(read.length).toBeGreaterThan(FILES.length * 0.8);
    expect(read).toContain('gateway.yaml');
  });

  test('has the values and positions that the YAML parser reads, in random documents of several styles', () => {
    let readCount = 0;
    const values = fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue(), { minKeys: 1 });
    fc.assert(
      fc.property(values, styleOf, (value, style) => {
        if (expectSameAsParser(style(value, stringify))) readCount += 1;
      }),
      { numRuns: runs(500) },
    );
    expect(readCount).toBeGreaterThan(cases(200));
  });

  test.each(SAMPLES.map((sample, index) => [index, sample]))(
    'has the values and positions that the YAML parser reads, after random edits of sample %d',
    (_index, sample) => {
      expect(expectSameAsParser(sample)).toBe(true);
      let readCount = 0;
      fc.assert(
        fc.property(yamlEdits(sample), (edited) => {
          if (expectSameAsParser(edited)) readCount += 1;
        }),
        { numRuns: runs(1_000) },
      );
      expect(readCount).toBeGreaterThan(cases(1_000) / 25);
    },
  );

  test.each([
    ['an empty text', '# one\n'],
    ['a scalar', 'one\n'],
    ['a tab', 'a:\t1\n'],
    ['a byte order mark', '\uFEFFa: 1\n'],
    ['a second document', 'a: 1\n---\nb: 2\n'],
    ['a second document with a key on its first line', 'a: 1\n--- b: 2\n'],
    ['the end of a document', 'a: 1\n...\n'],
    ['a directive', '%YAML 1.2\n---\na: 1\n'],
    ['a tag', 'a: !x 1\n'],
    ['an anchor', 'a: &x 1\n'],
    ['an anchor of a block', 'a: &x\n  b: 1\n'],
    ['an alias', 'a: &x 1\nb: *x\n'],
    ['an alias without an anchor', 'a: *x\n'],
    ['an alias to a value that contains it', 'a: &x\n  b: *x\n'],
    ['an anchor that is defined twice', 'a: &x 1\nb: &x 2\n'],
    ['an anchor of a key', '- &x a: 1\n'],
    ['an anchor of an empty value', 'a: &x\nb: 1\n'],
    ['an anchor in brackets', 'a: [&x 1]\n'],
    ['aliases that expand to too many values', `a: &a [${'1,'.repeat(9_999)}1]\nb:${'\n- *a'.repeat(60)}\n`],
    ['a merge key', '<<: { a: 1 }\n'],
    ['a key that JavaScript objects reserve', '__proto__: 1\n'],
    ['a key that is a number', '1: a\n'],
    ['a key that is null', '~: a\n'],
    ['a key on its own indicator', '? a\n: b\n'],
    ['a key of more than 1024 characters', `${'a'.repeat(1_025)}: 1\n`],
    ['a key that appears twice', 'a: { b: 1, b: 1 }\n'],
    ['a key that appears twice, once as an escape', '{"a": 1, "\\u0061": 2}'],
    ['a key in brackets with a line break before its colon', '{"a": 1, "b"\n: 2}'],
    ['a key without a value in brackets', '{ a }\n'],
    ['a pair in a list', '[a: 1]\n'],
    ['a number that is not finite', 'a: 1e999\n'],
    ['infinity', 'a: -.inf\n'],
    ['a scalar on two lines', 'a: b\n  c\n'],
    ['a scalar on two lines in brackets', 'a: [b\n  c]\n'],
    ['a scalar on two lines below its key', 'a:\n  b\n  c\n'],
    ['a scalar in double quotes on two lines', 'a: "b\n  c"\n'],
    ['a scalar in single quotes on two lines', "a: 'b\r\n  c'\n"],
    ['a scalar in quotes with a line at the column of its key', 'a: "b\nc"\n'],
    ['a comment between the lines of a scalar', 'a: b # c\n  d\n'],
    ['a key that continues a scalar', 'a: b\n  c: d\n'],
    ['a key on several lines', 'a: { b\n  c: d }\n'],
    ['an escape over a line break', 'a: "b\\\n  c"\n'],
    ['an escape that JSON does not have', 'a: "\\x41"\n'],
    ['a colon in a value', 'a: b: c\n'],
    ['a list on the line of its key', 'a: - b\n'],
    ['a line that is indented further than its block', 'a: 1\n  b: 2\n'],
    ['a line that is indented less than its block', 'a:\n    b: 1\n  c: 2\n'],
    ['a line in brackets at the column of its key', 'a: [\n1]\n'],
    ['a bracket that is not closed', 'a: [1\n'],
    ['a comma without an item', 'a: [1,, 2]\n'],
    ['a comment without a space before it', 'a: "b"#c\n'],
    ['a text on the lines below its key', 'a: |\n  b\n'],
    ['a folded text', 'a: >-\n  b\n  c\n'],
    ['a text in a list', '- |\n  b\n'],
    ['too many levels', `{"a": ${'['.repeat(101)}${']'.repeat(101)}}`],
    ['too many members', `{"a": [${'1,'.repeat(20_000)}1]}`],
    ['too many values', `{"a": [${`[${'1,'.repeat(9_999)}1],`.repeat(50)}1]}`],
  ])('leaves %s to the YAML parser', (_name, text) => {
    expect(readSimpleYaml(text)).toBeUndefined();
  });
});

describe('a document of simple YAML text', () => {
  const text = '{\n  "routes": [{ "id": "one" },\n    { "id": "two" }]\n}';

  test('has lines and columns', () => {
    const { document } = parse({ path: 'gateway.yaml', text });
    const range = { line: 3, column: 13, endLine: 3, endColumn: 18 };
    expect(document.locate({ path: ['routes', 1, 'id'], at: 'value' })).toEqual(range);
    expect(document.locate({ path: ['routes', 1, 'id', 'missing'], at: 'key' })).toEqual({
      ...range,
      column: 7,
      endColumn: 11,
    });
  });

  test('has comments', () => {
    const { document } = parse({ path: 'gateway.yaml', text: 'a: b # one\r\n # two' });
    expect(document.comments()).toEqual([
      { start: 5, text: '# one' },
      { start: 13, text: '# two' },
    ]);
  });

  test('reports characters that look like those of YAML', () => {
    const { findings } = parse({ path: 'gateway.yaml', text: 'a: \u201Cb\u201D\nc: d\n' });
    expect(findings.map(({ message }) => message)).toEqual([
      'the character U+201C does not quote a value; write " or \'',
    ]);
  });
});

/** Compares a text that is read without the YAML parser with the result of the parser. Returns false for any other text. */
function expectSameAsParser(text: string): boolean {
  const simple = findTextError(text) === undefined ? readSimpleYaml(text) : undefined;
  if (simple === undefined) return false;
  const { root, findings } = parseTree(text);
  const { value, positions } = readValues(root, findings);
  expect(findings, text).toEqual([]);
  // JSON shows the order of the keys.
  expect(JSON.stringify(simple.value), text).toBe(JSON.stringify(value));
  // `toStrictEqual` would compare the key `constructor` with the class of the value.
  expect(isDeepStrictEqual(simple.value, value), text).toBe(true);
  // A comparison of `expect` for each position takes ten times as long.
  const differing = pathsOf(value)
    .flatMap((path) => (['key', 'value'] as const).map((at) => ({ path, at })))
    .filter((place) => !isDeepStrictEqual(simple.positions.offsetsAt(place), positions.offsetsAt(place)));
  expect(differing, text).toEqual([]);
  expect(simple.comments, text).toEqual(commentsOf(text).map(({ start }) => start));
  if (!simple.hasLookAlike) expect(findLookAlikes(text), text).toEqual([]);
  return true;
}

function pathsOf(value: YamlValue): (string | number)[][] {
  if (value === null || typeof value !== 'object') return [[]];
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [[], ...members.flatMap(([step, member]) => pathsOf(member).map((path) => [step, ...path]))];
}
