import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fixText } from '../../src/lint/fix-text.ts';
import { unifiedDiff } from '../../src/lint/unified-diff.ts';
import { parse } from '../../src/manifest/document.ts';
import { AUTH, loadText, manifestOf, ROUTE } from '../manifest/support.ts';
import { lintText } from './support.ts';

const fixed = (text: string) => fixText(text, (next) => lintText(next)).text;
const route = (written: string) =>
  manifestOf('', `  - { id: a, method: GET, upstream: contacts, access: public, ${written} }\n`);
const inRoute = (written: string) => route(`path: /a, ${written}`);

describe('what is mended', () => {
  test.each([
    ['a misspelt key', inRoute('websockt: true'), inRoute('websocket: true')],
    ['a misspelt key in quotes', inRoute('"websockt": true'), inRoute('"websocket": true')],
    ['a method in lower case', inRoute('').replace('GET', 'get'), inRoute('')],
    ['a misspelt word', inRoute('encodedSlash: kep'), inRoute('encodedSlash: keep')],
    ['a unit of time', inRoute('timeout: 10 seconds'), inRoute('timeout: 10s')],
    ['days', inRoute('timeout: 1d'), inRoute('timeout: 24h')],
    [
      'a unit of size',
      ROUTE.replace(' }', ', body: { maxBytes: 64kb } }'),
      ROUTE.replace(' }', ', body: { maxBytes: 64KB } }'),
    ],
    ['a trailing slash', route('path: /a/'), route('path: /a')],
    ['a parameter as others write it', route('path: /a/:id'), route("path: '/a/{id}'")],
    ['a parameter in quotes', route("path: '/a/:id'"), route("path: '/a/{id}'")],
    ['an escape in lower case', route('path: /caf%c3%a9'), route('path: /caf%C3%A9')],
    ['a needless escape', route('path: /%61'), route('path: /a')],
    ['an item twice', inRoute('').replace('GET', '[GET, PUT, GET]'), inRoute('').replace('GET', '[GET, PUT]')],
    [
      'an item twice, both misspelt',
      inRoute('').replace('GET', '[get, get, PUT]'),
      inRoute('').replace('GET', '[GET, PUT]'),
    ],
    [
      'two of one fault, and a fault behind another one',
      route('pth: /a/:x/').replace('GET', 'get'),
      route("path: '/a/{x}'"),
    ],
  ])('%s', (_what, bad, good) => {
    const [before, after] = [bad, good].map((text) => (text.startsWith('version') ? text : manifestOf('', text)));
    expect(loadText(before ?? '').plan).toBeUndefined();
    expect(fixed(before ?? '')).toBe(after);
    expect(loadText(after ?? '').problems).toEqual([]);
  });

  test('an item of a list in lines goes with its line', () => {
    const list = (items: string) =>
      manifestOf('', `  - id: a\n    method:\n${items}    path: /a\n    upstream: contacts\n    access: public\n`);
    expect(fixed(list('      - GET # reads\n      - GET\n      - PUT\n'))).toBe(
      list('      - GET # reads\n      - PUT\n'),
    );
  });

  test('a target twice', () => {
    const urls = (list: string) => manifestOf('', ROUTE).replace('url: http://127.0.0.1:7002', `urls: [${list}]`);
    expect(fixed(urls('http://127.0.0.1:7002, http://127.0.0.1:7002/'))).toBe(urls('http://127.0.0.1:7002'));
  });
});

describe('what is left alone', () => {
  test.each([
    ['who may call', inRoute('').replace('access: public', 'access: publik')],
    ['a word that is near to two', manifestOf(AUTH.replace('ES256', 'XS256'), ROUTE.replace('public', 'protected'))],
    ['a key whose right name is there', inRoute('acess: public')],
    [
      'a line with a comment of its own',
      manifestOf(
        '',
        `  - id: a\n    method:\n      - GET\n      - GET # again\n    path: /a\n    upstream: contacts\n    access: public\n`,
      ),
    ],
    ['what came from a variable', inRoute('timeout: "${T:-10 sec}"')],
  ])('%s', (_what, text) => {
    expect(fixed(text)).toBe(text);
  });

  test('an alias; its anchor is mended, for both', () => {
    const routes = (path: string) =>
      manifestOf(
        '',
        `  - { id: a, method: GET, path: &p ${path}, upstream: contacts, access: public }\n  - { id: b, method: PUT, path: *p, upstream: contacts, access: public }\n`,
      );
    expect(fixed(routes('/a/'))).toBe(routes('/a'));
  });

  test('everything but the places of the faults: comments, quotes, line ends, blanks', () => {
    const text =
      '\uFEFF# one\r\nversion:   1 # two\r\nupstreams: {"contacts" : {url: http://127.0.0.1:7002}}\r\n\r\nroutes:\r\n - id: \'a\'\r\n   method: get   # three\r\n   path: "/a/:id/" # four\r\n   upstream: contacts\r\n   acces: public\r\n# five';
    const expected = text.replace('get ', 'GET ').replace('/a/:id/', '/a/{id}').replace('acces:', 'access:');
    expect(fixed(text)).toBe(expected);
    expect(loadText(expected).problems).toEqual([]);
  });

  test('what cannot be read any more than before: no edit makes a text unreadable', () => {
    const { plan } = loadText(fixed(inRoute('websockt: true, websoket: true')));
    expect(plan).toBeUndefined();
    expect(lintText(fixed(inRoute('websockt: true, websoket: true'))).map(({ rule }) => rule)).not.toContain('syntax');
  });
});

test('whatever was wrong: mending ends, what is mended stays so, and no comment is lost', () => {
  const lines = readFileSync(new URL('../../gateway.yaml', import.meta.url), 'utf8').split('\n');
  const swaps: [RegExp, string][] = [
    [/method: GET/, 'method: get'],
    [/access: /, 'acess: '],
    [/upstream: /, 'upstrem: '],
    [/maxBytes: (\d+)\w+/, 'maxBytes: $1kb'],
    [/(path: .*[^*'])$/, '$1/'],
    [/\[admin, user\]/, '[admin, user, admin]'],
  ];
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(lines.length - 1), fc.constantFrom(...swaps)), { maxLength: 8 }),
      (changes) => {
        const broken = changes
          .reduce(
            (current, [index, [from, to]]) => current.with(index, (current[index] ?? '').replace(from, to)),
            lines,
          )
          .join('\n');
        const mended = fixed(broken);
        expect(fixed(mended)).toBe(mended);
        const commentsOf = (text: string) =>
          parse({ path: 'g', text })
            .document.comments()
            .map(({ text: comment }) => comment);
        expect(commentsOf(mended)).toEqual(commentsOf(broken));
        expect(loadText(mended).problems).toEqual([]);
      },
    ),
    { numRuns: 25 },
  );
});

describe('a patch', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patch-'));

  test('is empty where nothing changed', () => expect(unifiedDiff('a', 'x\n', 'x\n')).toBe(''));

  test('shows three lines around', () => {
    const text = Array.from({ length: 20 }, (_, index) => `l${index + 1}\n`).join('');
    expect(unifiedDiff('a.yaml', text, text.replace('l10\n', 'L10\n'))).toBe(
      '--- a/a.yaml\n+++ b/a.yaml\n@@ -7,7 +7,7 @@\n l7\n l8\n l9\n-l10\n+L10\n l11\n l12\n l13\n',
    );
  });

  test('turns the one text into the other', () => {
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
      { numRuns: 60 },
    );
  });
});
