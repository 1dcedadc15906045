import fc from 'fast-check';
import type { stringify } from 'yaml';

/** Texts that are read without the YAML parser, with every form that this allows. */
export const SAMPLES = [
  'a: 1\nb:\n  - x\n  - y: 2\n    z: {a: 1, b: [c, "d"]}\nc:\n- 1\n-\n- - 2\n  - 3\n-\n  k: v\n',
  "# c\n---\n# d\na: # e\n  b: text\n  # f\n  c: 'x'\nd: \"q: \\\"x\\\" \\u00e9\" # g\n'e': 'it''s'\n",
  '{"a": [1, 2.5e3, -0, null, true], "b": {"c": "x: y #z"},\n "d" : [\n  {"e":"f"},\n [] ,{}\n]}\n',
  'routes: [\n  { id: a, path: /x/y, n: ~ }, # c\n  # d\n  { id: b, p: "/{id}" },\n]\nx: [\n  ]\ny: {\n}\n',
  'a: 0x1F\nb: 0o17\nc: 007\nd: +5\ne: -0\nf: 1e3\ng: .5\nh: 5.\ni: 9007199254740993\nj: 1_000\nk: True\nl: NULL\nm: no\nn: 12:30\no: -x\np: a#b\n',
  'deep:\n  deeper:\n    - a: 1\n      b:\n      - x\n      c: d\n    -   e: f\n        g: h\n  other:\n   x\n\n\nlast:\n',
  'toString: 1\nconstructor: {valueOf: x}\n"200": a\n"10": b\nkey with spaces: č  č\n/path/{id}: x\n',
  'a:\r\n  - b: 1\r\n    c: "x" # y\r\n\r\n  - d\r\ne: [1,\r\n  2]\r\n',
] as const;

const FRAGMENTS = [
  ...[
    '\n',
    '\n\n',
    ' ',
    '  ',
    '\r\n',
    '\t',
    '\u00A0',
    '\uFEFF',
    '# ',
    ' #c\n',
    '# c\n',
    '\\',
    '\\u0061',
    '"',
    "'",
    "''",
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ': ',
    '-',
    '- ',
    '? ',
    '|\n',
    '>-\n',
    '&x ',
    '*x',
    '&m\n',
    '!t ',
    '@',
    '%',
    '---\n',
    '...',
  ],
  ...['<<: ', '__proto__: ', 'a: ', '"a":', '1e999', '0', '.', '~', 'x', '\u201C', '\uFF1A', 'true'],
] as const;

/** Texts after one or two random edits: fragments, lines that move, and other indentation. */
export function yamlEdits(text: string): fc.Arbitrary<string> {
  const fragment = fc.tuple(fc.nat(text.length), fc.constantFrom(...FRAGMENTS), fc.nat(2)).map(
    ([at, part, cut]) =>
      (all: string) =>
        all.slice(0, at) + part + all.slice(at + cut),
  );
  const line = fc
    .tuple(fc.nat(30), fc.nat(30), fc.constantFrom('', ' ', '  ', '    ', '- '))
    .map(([from, to, prefix]) => (all: string) => {
      const lines = all.split('\n');
      const [moved = ''] = lines.splice(from % lines.length, 1);
      return lines.toSpliced(to % (lines.length + 1), 0, prefix + moved.trimStart()).join('\n');
    });
  const removal = fc.tuple(fc.nat(text.length), fc.integer({ min: 1, max: 3 })).map(
    ([at, cut]) =>
      (all: string) =>
        all.slice(0, at) + all.slice(at + cut),
  );
  return fc
    .array(fc.oneof(fragment, line, removal), { minLength: 1, maxLength: 2 })
    .map((edits) => edits.reduce((all, edit) => edit(all), text));
}

/** The styles of a document: as JSON or YAML, with brackets or blocks. */
export const styleOf = fc.constantFrom(
  ...[0, 1, 2, 8].map((indent) => (value: unknown) => JSON.stringify(value, null, indent)),
  ...(['any', 'block', 'flow'] as const).flatMap((collectionStyle) =>
    [0, 60].map(
      (lineWidth) => (value: unknown, write: typeof stringify) =>
        write(value, {
          collectionStyle,
          lineWidth,
          indent: collectionStyle === 'any' ? 2 : 4,
          indentSeq: lineWidth === 0,
        }),
    ),
  ),
);
