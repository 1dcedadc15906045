import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatText, formatYaml } from '../../src/check/fmt/format-text.ts';
import { load } from '../../src/engine/load.ts';
import { parse } from '../../src/engine/manifest/document.ts';
import { tokenize } from '../../src/engine/manifest/yaml-text.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { cases, IS_DEEP, runs } from '../support/runs.ts';
import { untidy } from './untidy.ts';

const root = new URL('../../', import.meta.url);
const formatted = (text: string) => formatYaml(tokenize(text));
const read = (text: string) => parse({ path: 'x.yaml', text });
const world = { env: {}, readFile: () => '{"keys":[]}' };

/** Expects the same value and comments, and that formatting again changes nothing. */
function expectSame(text: string, after: string): void {
  const { document, findings } = read(after);
  expect(findings).toEqual([]);
  expect(document.value).toEqual(read(text).document.value);
  expect(after.replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
  expect(formatted(after)).toBe(after);
}

describe('formatYaml', () => {
  it('changes only white space, keeps the value, and is idempotent', () => {
    let readCount = 0;
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const text = untidy(seed).replace(/^\uFEFF/, '');
        if (read(text).findings.length > 0) return;
        readCount += 1;
        expectSame(text, formatted(text));
      }),
      { numRuns: runs(1000) },
    );
    expect(readCount).toBeGreaterThan(cases(950));
  });

  it('keeps the value and the line ends of a text with CRLF', () => {
    let readCount = 0;
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const text = untidy(seed).replace(/^\uFEFF/, '');
        const crlf = text.replaceAll('\n', '\r\n');
        if (!text.includes('\n') || read(text).findings.length > 0) return;
        readCount += 1;
        expect(read(crlf).findings).toEqual([]);
        expect(read(crlf).document.value).toEqual(read(text).document.value);
        expect(formatText(crlf)).toBe(formatted(text).replaceAll('\n', '\r\n'));
        expect(read(formatText(crlf)).document.value).toEqual(read(text).document.value);
      }),
      { numRuns: runs(500) },
    );
    expect(readCount).toBeGreaterThan(cases(450));
  });

  const all = globSync(['*.yaml', 'test/**/*.yaml'], { cwd: root.pathname }).sort();
  const files = all.filter((_file, index) => IS_DEEP || index % 3 === 0);

  it.each(files)('keeps the value and the problems of %s', (file) => {
    const text = readFileSync(new URL(file, root), 'utf8');
    if (read(text).findings.length > 0) return;
    const after = formatted(text);
    expectSame(text, after);
    const problemsOf = (of: string) =>
      load({ path: 'x.yaml', text: of }, world).problems.map(({ rule, message }) => `${rule} ${message}`);
    expect(problemsOf(after).sort()).toEqual(problemsOf(text).sort());
  });

  it('does not change gateway.yaml, and restores its indentation', () => {
    const text = readFileSync(new URL('gateway.yaml', root), 'utf8');
    expect(formatted(text)).toBe(text);
    const wide = text.replaceAll(/^( +)(- )?/gm, (_all, indent, dash) => indent.repeat(2) + (dash ? '-   ' : ''));
    expectSame(wide, text);
    expect(formatted(wide)).toBe(text);
  });

  it.each([
    ['a list in a map is indented', 'a:\n- b\n- c: 1\n  d: 2\ne: 3\n', 'a:\n  - b\n  - c: 1\n    d: 2\ne: 3\n'],
    ['blocks are indented by two columns', 'a:\n    b:\n     c: 1\n    d: 2\n', 'a:\n  b:\n    c: 1\n  d: 2\n'],
    ['one space', 'a:   1\nb : 2\nc:\n  -   x\n', 'a: 1\nb: 2\nc:\n  - x\n'],
    ['brackets', 'a: {b: 1,c :[ 2 ,3 ], "d":{ } }\n', 'a: { b: 1, c: [2, 3], "d": {} }\n'],
    ['brackets over lines move with their block', 'a:\n    b: [1,\n          2]\n', 'a:\n  b: [1,\n        2]\n'],
    ['at most one empty line', '\n\na: 1\n\n\n\nb: 2\n\n\n', 'a: 1\n\nb: 2\n'],
    ['the ends of lines', 'a: 1  \n# c \nb: 2', 'a: 1\n# c\nb: 2\n'],
    ['a comment stays with what follows it', 'a:\n    # on b\n    b: 1\n', 'a:\n  # on b\n  b: 1\n'],
    [
      'a comment stays with the block that it ends',
      'a:\n    b: 1\n    # end of a\n\nc: 2\n',
      'a:\n  b: 1\n  # end of a\n\nc: 2\n',
    ],
    [
      'a comment stays with its item in an unindented list',
      'a:\n# on b\n- b\n# on c\nc: 1\n',
      'a:\n  # on b\n  - b\n# on c\nc: 1\n',
    ],
    [
      'a comment at the end stays with its block',
      'a:\n    b:\n        c: 1\n      # odd\n',
      'a:\n  b:\n    c: 1\n  # odd\n',
    ],
    ['comments after values stay aligned', 'a: 1     # c\nbcd: 234 # d\n', 'a: 1     # c\nbcd: 234 # d\n'],
    [
      'lines below | keep their white space',
      'a:\n    b: |\n            x  \n\n              y\n    c: 1\n',
      'a:\n  b: |\n    x  \n\n      y\n  c: 1\n',
    ],
    ['an empty text', '\n \n', ''],
  ])('%s', (_name, text, after) => {
    expectSame(text, after);
    expect(formatted(text)).toBe(after);
  });

  it('formats the example of docs/manifest/README.md', () => {
    const [, section = ''] = readFileSync(new URL('docs/manifest/README.md', root), 'utf8').split('## Formatting\n');
    const [before = '', after] = [...section.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
    expect(formatted(before)).toBe(after);
  });

  it('formats a manifest of 10,000 routes in linear time', () => {
    const routes = Array.from(
      { length: 10_000 },
      (_, i) => `- id:  r${i}\n  method: GET\n  path: /r/${i}/{id}\n  upstream: up\n  access: public\n`,
    );
    const text = `version: 1\nupstreams: {up: {url: http://127.0.0.1:1}}\nroutes:\n${routes.join('')}`;
    const start = cpuMs();
    const after = formatted(text);
    expect(cpuMs() - start).toBeLessThan(5000);
    expect(after.split('\n')).toHaveLength(50_004);
  });
});
