import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { fixText, unifiedDiff } from '../../src/check/lint/fix-text.ts';
import { parse } from '../../src/engine/manifest/document.ts';
import { AUTH, loadText, manifestOf, ROUTE } from '../manifest/support.ts';
import { runs } from '../support/runs.ts';
import { lintText } from './support.ts';

const fixed = (text: string) => fixText(text, (next) => lintText(next)).text;
const route = (written: string) =>
  manifestOf('', `  - { id: a, method: GET, upstream: contacts, access: public, ${written} }\n`);
const inRoute = (written: string) => route(`path: /a, ${written}`);

describe('a fix corrects', () => {
  test.each([
    ['a misspelled key', inRoute('websockt: true'), inRoute('websocket: true')],
    ['a misspelled key in quotes', inRoute('"websockt": true'), inRoute('"websocket": true')],
    ['a method in lower case', inRoute('').replace('GET', 'get'), inRoute('')],
    ['a misspelled word', inRoute('encodedSlash: kep'), inRoute('encodedSlash: keep')],
    ['a unit of time', inRoute('timeout: 10 seconds'), inRoute('timeout: 10s')],
    ['a duration in days', inRoute('timeout: 1d'), inRoute('timeout: 24h')],
    [
      'a unit of size',
      ROUTE.replace(' }', ', body: { maxBytes: 64kb } }'),
      ROUTE.replace(' }', ', body: { maxBytes: 64KB } }'),
    ],
    ['a trailing slash', route('path: /a/'), route('path: /a')],
    ['a parameter in the syntax of other routers', route('path: /a/:id'), route("path: '/a/{id}'")],
    ['a quoted parameter in the syntax of other routers', route("path: '/a/:id'"), route("path: '/a/{id}'")],
    ['an escape in lower case', route('path: /caf%c3%a9'), route('path: /caf%C3%A9')],
    ['a needless escape', route('path: /%61'), route('path: /a')],
    ['a duplicate item', inRoute('').replace('GET', '[GET, PUT, GET]'), inRoute('').replace('GET', '[GET, PUT]')],
    [
      'a duplicate string of any value',
      manifestOf(AUTH.replace('admin, user', 'admin, user, admin'), ROUTE.replace('public', 'protected')),
      manifestOf(AUTH, ROUTE.replace('public', 'protected')),
    ],
    [
      'a duplicate item, both of them misspelled',
      inRoute('').replace('GET', '[get, get, PUT]'),
      inRoute('').replace('GET', '[GET, PUT]'),
    ],
    [
      'two errors of the same kind, and an error that another one hides',
      route('pth: /a/:x/').replace('GET', 'get'),
      route("path: '/a/{x}'"),
    ],
  ])('%s', (_title, bad, good) => {
    const [before, after] = [bad, good].map((text) => (text.startsWith('version') ? text : manifestOf('', text)));
    expect(loadText(before ?? '').plan).toBeUndefined();
    expect(fixed(before ?? '')).toBe(after);
    expect(loadText(after ?? '').problems).toEqual([]);
  });

  test('a duplicate item of a block list, with its line', () => {
    const list = (items: string) =>
      manifestOf('', `  - id: a\n    method:\n${items}    path: /a\n    upstream: contacts\n    access: public\n`);
    expect(fixed(list('      - GET # reads\n      - GET\n      - PUT\n'))).toBe(
      list('      - GET # reads\n      - PUT\n'),
    );
  });

  test('a duplicate endpoint', () => {
    const urls = (list: string) => manifestOf('', ROUTE).replace('url: http://127.0.0.1:7002', `urls: [${list}]`);
    expect(fixed(urls('http://127.0.0.1:7002, http://127.0.0.1:7002/'))).toBe(urls('http://127.0.0.1:7002'));
  });
});

describe('a fix does not change', () => {
  test.each([
    ['the access of a route', inRoute('').replace('access: public', 'access: publik')],
    [
      'a word that resembles two valid ones',
      manifestOf(AUTH.replace('ES256', 'XS256'), ROUTE.replace('public', 'protected')),
    ],
    ['a misspelled key whose correct form exists', inRoute('acess: public')],
    [
      'a duplicate item with its own comment',
      manifestOf(
        '',
        `  - id: a\n    method:\n      - GET\n      - GET # again\n    path: /a\n    upstream: contacts\n    access: public\n`,
      ),
    ],
    ['a value from the environment', inRoute('timeout: "${T:-10 sec}"')],
  ])('%s', (_title, text) => {
    expect(fixed(text)).toBe(text);
  });

  test('an alias, but it corrects the anchor', () => {
    const routes = (path: string) =>
      manifestOf(
        '',
        `  - { id: a, method: GET, path: &p ${path}, upstream: contacts, access: public }\n  - { id: b, method: PUT, path: *p, upstream: contacts, access: public }\n`,
      );
    expect(fixed(routes('/a/'))).toBe(routes('/a'));
  });

  test('comments, quotes, line ends and spaces', () => {
    const text =
      '\uFEFF# one\r\nversion:   1 # two\r\nupstreams: {"contacts" : {url: http://127.0.0.1:7002}}\r\n\r\nroutes:\r\n - id: \'a\'\r\n   method: get   # three\r\n   path: "/a/:id/" # four\r\n   upstream: contacts\r\n   acces: public\r\n# five';
    const expected = text.replace('get ', 'GET ').replace('/a/:id/', '/a/{id}').replace('acces:', 'access:');
    expect(fixed(text)).toBe(expected);
    expect(loadText(expected).problems).toEqual([]);
  });

  test('a text if that would make it invalid YAML', () => {
    const { plan } = loadText(fixed(inRoute('websockt: true, websoket: true')));
    expect(plan).toBeUndefined();
    expect(lintText(fixed(inRoute('websockt: true, websoket: true'))).map(({ rule }) => rule)).not.toContain('syntax');
  });
});

test('fixing any broken manifest ends, is idempotent and preserves comments', () => {
  const lines = readFileSync(new URL('../../gateway.yaml', import.meta.url), 'utf8').split('\n');
  const swaps: readonly (readonly [RegExp, string])[] = [
    [/method: GET/, 'method: get'],
    [/access: /, 'acess: '],
    [/upstream: /, 'upstrem: '],
    [/maxBytes: (\d+)\w+/, 'maxBytes: $1kb'],
    [/(path: .*[^*'])$/, '$1/'],
    [/\[admin, user\]/, '[admin, user, admin]'],
  ];
  /** A mistake in one of the lines that can have it. */
  const mistake = fc.constantFrom(...swaps).chain((swap) => {
    const indexes = lines.flatMap((line, index) => (swap[0].test(line) ? [index] : []));
    return fc.tuple(fc.constantFrom(...indexes), fc.constant(swap));
  });
  fc.assert(
    fc.property(fc.array(mistake, { minLength: 1, maxLength: 8 }), (changes) => {
      const broken = changes
        .reduce((current, [index, [from, to]]) => current.with(index, (current[index] ?? '').replace(from, to)), lines)
        .join('\n');
      const fixedText = fixed(broken);
      expect(fixed(fixedText)).toBe(fixedText);
      const commentsOf = (text: string) =>
        parse({ path: 'g', text })
          .document.comments()
          .map(({ text: comment }) => comment);
      expect(commentsOf(fixedText)).toEqual(commentsOf(broken));
      expect(loadText(fixedText).problems).toEqual([]);
    }),
    // Each run lints the manifest about ten times.
    { numRuns: runs(12) },
  );
});

describe('a unified diff', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patch-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is empty if the texts are equal', () => expect(unifiedDiff('a', 'x\n', 'x\n')).toBe(''));

  test('contains three lines of context', () => {
    const text = Array.from({ length: 20 }, (_, index) => `l${index + 1}\n`).join('');
    expect(unifiedDiff('a.yaml', text, text.replace('l10\n', 'L10\n'))).toBe(
      '--- a/a.yaml\n+++ b/a.yaml\n@@ -7,7 +7,7 @@\n l7\n l8\n l9\n-l10\n+L10\n l11\n l12\n l13\n',
    );
  });

  test('is accepted by git apply, which produces the new text', () => {
    const line = fc.constantFrom('a', 'b', 'c', '');
    const text = fc
      .array(line, { maxLength: 30 })
      .chain((lines) => fc.constantFrom('', '\n').map((end) => lines.join('\n') + end));
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after && before !== '' && after !== '');
        const file = join(folder, 'file');
        writeFileSync(file, before);
        execFileSync('git', ['apply', '--whitespace=nowarn'], {
          cwd: folder,
          input: unifiedDiff('file', before, after),
        });
        expect(readFileSync(file, 'utf8')).toBe(after);
      }),
      { numRuns: runs(60) },
    );
  });
});
