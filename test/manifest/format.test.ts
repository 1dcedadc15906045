import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { load } from '../../src/load.ts';
import { parse } from '../../src/manifest/document.ts';
import { formatYaml } from '../../src/manifest/format.ts';
import { tokenize } from '../../src/manifest/yaml-tokens.ts';
import { untidy } from './untidy.ts';

const root = new URL('../../', import.meta.url);
const laidOut = (text: string) => formatYaml(tokenize(text));
const read = (text: string) => parse({ path: 'x.yaml', text });
const world = { env: {}, readFile: () => '{"keys":[]}' };

/** Everything that a layout must leave as it is. */
function expectSame(text: string, after: string): void {
  const { document, findings } = read(after);
  expect(findings).toEqual([]);
  expect(document.value).toEqual(read(text).document.value);
  expect(after.replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
  expect(laidOut(after)).toBe(after);
}

describe('a layout', () => {
  it('changes white space alone, means the same, and is its own layout: whatever was written', () => {
    let isRead = 0;
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const text = untidy(seed).replace(/^\uFEFF/, '');
        if (read(text).findings.length > 0) return;
        isRead += 1;
        expectSame(text, laidOut(text));
      }),
      { numRuns: 2000 },
    );
    expect(isRead).toBeGreaterThan(1900);
  });

  const files = globSync(['*.yaml', 'test/**/*.yaml'], { cwd: root.pathname }).sort();

  it.each(files)('leaves %s what it is', (file) => {
    const text = readFileSync(new URL(file, root), 'utf8');
    if (read(text).findings.length > 0) return;
    const after = laidOut(text);
    expectSame(text, after);
    const said = (of: string) =>
      load({ path: 'x.yaml', text: of }, world).problems.map(({ rule, message }) => `${rule} ${message}`);
    expect(said(after).sort()).toEqual(said(text).sort());
  });

  it('leaves gateway.yaml as it is, and leads back to it when it is indented anew', () => {
    const text = readFileSync(new URL('gateway.yaml', root), 'utf8');
    expect(laidOut(text)).toBe(text);
    const wide = text.replaceAll(/^( +)(- )?/gm, (_all, indent, dash) => indent.repeat(2) + (dash ? '-   ' : ''));
    expectSame(wide, text);
    expect(laidOut(wide)).toBe(text);
  });

  it.each([
    ['a list in a map stands further in', 'a:\n- b\n- c: 1\n  d: 2\ne: 3\n', 'a:\n  - b\n  - c: 1\n    d: 2\ne: 3\n'],
    ['blocks are two columns further in', 'a:\n    b:\n     c: 1\n    d: 2\n', 'a:\n  b:\n    c: 1\n  d: 2\n'],
    ['one space', 'a:   1\nb : 2\nc:\n  -   x\n', 'a: 1\nb: 2\nc:\n  - x\n'],
    ['brackets', 'a: {b: 1,c :[ 2 ,3 ], "d":{ } }\n', 'a: { b: 1, c: [2, 3], "d": {} }\n'],
    ['brackets over lines move with their block', 'a:\n    b: [1,\n          2]\n', 'a:\n  b: [1,\n        2]\n'],
    ['one empty line at most', '\n\na: 1\n\n\n\nb: 2\n\n\n', 'a: 1\n\nb: 2\n'],
    ['the ends of lines', 'a: 1  \n# c \nb: 2', 'a: 1\n# c\nb: 2\n'],
    ['a comment stays with what follows it', 'a:\n    # on b\n    b: 1\n', 'a:\n  # on b\n  b: 1\n'],
    ['and with what it ends', 'a:\n    b: 1\n    # end of a\n\nc: 2\n', 'a:\n  b: 1\n  # end of a\n\nc: 2\n'],
    [
      'and with its own where a list is as far left',
      'a:\n# on b\n- b\n# on c\nc: 1\n',
      'a:\n  # on b\n  - b\n# on c\nc: 1\n',
    ],
    ['and at the end with what holds it', 'a:\n    b:\n        c: 1\n      # odd\n', 'a:\n  b:\n    c: 1\n  # odd\n'],
    ['comments behind values stay aligned', 'a: 1     # c\nbcd: 234 # d\n', 'a: 1     # c\nbcd: 234 # d\n'],
    [
      'lines below | keep what is theirs',
      'a:\n    b: |\n            x  \n\n              y\n    c: 1\n',
      'a:\n  b: |\n    x  \n\n      y\n  c: 1\n',
    ],
    ['a text with nothing in it', '\n \n', ''],
  ])('%s', (_name, text, after) => {
    expectSame(text, after);
    expect(laidOut(text)).toBe(after);
  });

  it('formats the example of docs/manifest/README.md', () => {
    const [, section = ''] = readFileSync(new URL('docs/manifest/README.md', root), 'utf8').split('## Formatting\n');
    const [before = '', after] = [...section.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
    expect(laidOut(before)).toBe(after);
  });

  it('takes no more than a moment for a manifest of 10,000 routes', () => {
    const routes = Array.from(
      { length: 10_000 },
      (_, i) => `- id:  r${i}\n  method: GET\n  path: /r/${i}/{id}\n  upstream: up\n  access: public\n`,
    );
    const text = `version: 1\nupstreams: {up: {url: http://127.0.0.1:1}}\nroutes:\n${routes.join('')}`;
    const start = performance.now();
    const after = laidOut(text);
    expect(performance.now() - start).toBeLessThan(5000);
    expect(after.split('\n')).toHaveLength(50_004);
  });
});
