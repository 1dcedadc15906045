import { describe, expect, test } from 'vitest';
import { formatProblems } from '../../src/report/text.ts';
import { withLinearCost } from '../support/growth.ts';
import { bodyRoute, formatProblem, loadText, manifestOf, problemOf, ROUTE, repeat, violationsOf } from './support.ts';

/** Returns the routes of a manifest, each with an id and a path of its own. */
function routesOf(count: number, change: (route: string, index: number) => string = (route) => route): string {
  return repeat(count, (index) =>
    change(ROUTE.replace('id: contacts', `id: r${index}`).replace('/api/', `/r${index}/`), index),
  );
}

describe('aliases', () => {
  test('a bomb of nine levels is reported once', () => {
    const names = 'abcdefghij';
    const level = (index: number) => `${names[index + 1]}: &${names[index + 1]} [${`*${names[index]}, `.repeat(10)}]\n`;
    const text = `a: &a [${'x, '.repeat(10)}]\n${repeat(9, level)}`;
    // A cost that grows with the values would never end.
    expect(problemOf(text)).toMatch(/^\d+:\d+ the manifest has too many values; at most 500000 are read/);
  });

  test('a thousand merge keys are refused, each at its line', () => {
    const { plan, problems } = withLinearCost(1000, (size) => {
      const map = `{${repeat(1000, (index) => `k${index}: 1, `)}}`;
      return loadText(`a: &a ${map}\n${repeat(size, (index) => `m${index}: { <<: *a }\n`)}`);
    });
    expect(plan).toBeUndefined();
    expect(problems).toHaveLength(1000);
    expect(problems.map(formatProblem)[999]).toBe(
      '1001:9 merge keys ("<<") are not part of YAML 1.2; write the keys out, or those of all routes in "defaults"',
    );
  });

  test.each([
    [
      'a value that contains itself',
      'schemas: &all { A: *all }\n',
      '4:20 the alias "*all" refers to a value that contains it',
    ],
    [
      'a list that contains itself',
      'schemas: &all [*all]\n',
      '4:16 the alias "*all" refers to a value that contains it',
    ],
    [
      'an alias before its anchor',
      'listen: *later\nadmin: &later 127.0.0.1:1\n',
      '4:9 there is no anchor "&later" before this alias; add it, or remove the alias',
    ],
    ['an alias as a key', 'listen: &a x\n*a : 1\n', '5:1 a key must be a string; put it in quotes'],
  ])('%s', (_name, above, expected) => {
    expect(problemOf(manifestOf(above))).toBe(expected);
  });

  test('an anchor may be used several times', () => {
    const { plan } = loadText(
      manifestOf('schemas: { A: &name { type: string }, B: { properties: { first: *name, last: *name } } }\n'),
    );
    expect(plan?.routes).toHaveLength(1);
  });

  test('an error behind an alias is reported at its anchor', () => {
    const text = manifestOf('schemas: { A: &name { type: text }, B: { properties: { first: *name } } }\n');
    const { problems } = loadText(text);
    expect(new Set(problems.map(({ range }) => `${range.line}:${range.column}`))).toEqual(new Set(['4:29']));
  });
});

const TOO_DEEP = /^\d+:\d+ the manifest is nested too deeply here; at most 100 levels/;

describe('deep nesting is refused', () => {
  test.each<[name: string, size: number, textOf: (size: number) => string]>([
    ['lists in brackets', 10_000, (size) => `version: ${'['.repeat(size)}${']'.repeat(size)}`],
    ['brackets that are never closed', 100_000, (size) => `version: ${'['.repeat(size)}`],
    ['maps in braces', 10_000, (size) => `version: ${'{ a: '.repeat(size)}${'}'.repeat(size)}`],
    ['lists by dashes', 10_000, (size) => `${'- '.repeat(size)}x`],
    ['keys by question marks', 10_000, (size) => `${'? '.repeat(size)}x`],
    ['101 levels', 101, () => `version: ${'['.repeat(101)}${']'.repeat(101)}`],
  ])('%s', (_name, size, textOf) => {
    expect(withLinearCost(size, (length) => problemOf(textOf(length)))).toMatch(TOO_DEEP);
  });

  test('blocks by indentation', () => {
    // The text itself grows with the square of its levels.
    expect(problemOf(repeat(2_000, (index) => `${' '.repeat(index)}a:\n`))).toMatch(TOO_DEEP);
  });

  test('but 90 levels are accepted', () => {
    const { problems } = loadText(manifestOf(`schemas: { A: ${'{ not: '.repeat(90)}true${' }'.repeat(90)} }\n`));
    expect(problems).toEqual([]);
  });
});

function withInvalidValues(route: string): string {
  return route.replace(' }', ', body: 4, params: 7, query: x, headers: y, websocket: 3, login: 5 }');
}

/** Returns schemas of which each refers to one that does not exist. */
function schemasOf(count: number): string {
  return `schemas:\n${repeat(count, (index) => `  S${index}: { $ref: '#/schemas/X${index}' }\n`)}`;
}

describe('size', () => {
  test('10 MB are refused', () => {
    expect(problemOf('x'.repeat(10_000_000))).toBe('1:1 the manifest has 10000000 bytes; at most 5000000 are read');
  });

  test('4 MB of comments are accepted', () => {
    const load = (size: number) => loadText(`# ${'x'.repeat(size)}\n${manifestOf()}`);
    expect(withLinearCost(4_000_000, load).plan).toBeDefined();
  });

  test('10,000 routes are accepted', () => {
    const load = (size: number) => loadText(manifestOf('', routesOf(size)));
    expect(withLinearCost(10_000, load).plan?.routes).toHaveLength(10_000);
  });

  test('10,000 invalid routes are reported, each at its line', () => {
    const textOf = (size: number) =>
      manifestOf(
        '',
        routesOf(size, (route) => route.replace('POST', 'post')),
      );
    const { problems } = withLinearCost(10_000, (size) => loadText(textOf(size)));
    expect(problems.map(({ range }) => range.line)).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 5));
    const printed = formatProblems(problems, textOf(10_000), false);
    // They are equal, so they are one group.
    expect(printed.match(/^gateway\.yaml:/gm)).toHaveLength(1);
    expect(printed).toMatch(/\n {2}also at 6:\d+, .* and 9989 more\n$/);
  });

  test.each<[name: string, size: number, textOf: (size: number) => string, perItem: number]>([
    ['unknown keys', 19_000, (size) => manifestOf(repeat(size, (index) => `k${index}: 1\n`)), 1],
    ['invalid values in each route', 5_000, (size) => manifestOf('', routesOf(size, withInvalidValues)), 6],
    ['unknown schemas among as many valid ones', 5_000, (size) => manifestOf(schemasOf(size)), 1],
  ])('%s are reported', (_name, size, textOf, perItem) => {
    expect(withLinearCost(size, (count) => loadText(textOf(count))).problems).toHaveLength(size * perItem);
  });

  test('5,000 unknown upstreams among 5,000 valid ones are reported', () => {
    const textOf = (size: number) => {
      const upstreams = repeat(size, (index) => `  u${index}: { url: http://127.0.0.1:1 }\n`);
      const withUnknown = (route: string, index: number) =>
        route.replace('upstream: contacts', `upstream: nobody-${index}`);
      return `version: 1\nupstreams:\n${upstreams}routes:\n${routesOf(size, withUnknown)}`;
    };
    expect(withLinearCost(5_000, (size) => loadText(textOf(size))).problems).toHaveLength(5_000);
  });

  test.each<[name: string, size: number, textOf: (size: number) => string, expected: RegExp]>([
    ['brackets too many', 20_000, (size) => manifestOf(repeat(size, (index) => `k${index}: [1]]\n`)), /closes nothing/],
    ['colons too many', 20_000, (size) => manifestOf(repeat(size, (index) => `k${index}: b: c\n`)), /contains ": "/],
    ['quotes without an end', 20_000, (size) => manifestOf(repeat(size, (index) => `k${index}: "x\n`)), /quote/],
    ['spaces that are none', 150_000, (size) => manifestOf(repeat(size, (index) => `k${index}:\u00A01\n`)), /U\+00A0/],
  ])('%s: %i are read in linear time', (_name, size, textOf, expected) => {
    expect(withLinearCost(size, (count) => loadText(textOf(count))).problems[0]?.message).toMatch(expected);
  });

  test.each([
    ['keys of one map', manifestOf(repeat(100_000, (index) => `k${index}: 1\n`)), /^1:1 this has 100003 members/],
    [
      'items of one list',
      manifestOf(
        '',
        repeat(100_000, () => '  - x\n'),
      ),
      /^5:3 this has 100000 members/,
    ],
  ])('100,000 %s', (_name, text, expected) => {
    expect(problemOf(text)).toMatch(expected);
    expect(problemOf(text)).toMatch(/; at most 20000/);
  });

  test('a line of 100 kB has its caret under the error', () => {
    const route = (index: number) =>
      `{ id: r${index}, method: GET, path: /r${index}, upstream: contacts, access: public }, `;
    const bad = '{ id: bad, method: GET, path: /bad?, upstream: contacts, access: public }';
    const text = `{ version: 1, upstreams: { contacts: { url: http://127.0.0.1:1 } }, routes: [${repeat(1_400, route)}${bad}] }`;
    expect(text.length).toBeGreaterThan(100_000);
    const { problems } = loadText(text);
    expect(problems.map(({ range }) => range.column)).toEqual([text.indexOf('/bad?') + 1]);
    const [, line = '', caret = ''] = formatProblems(problems, text, false).split('\n');
    expect(line.length).toBeLessThan(140);
    expect(line.slice(caret.indexOf('^'), caret.lastIndexOf('^') + 1)).toBe('/bad?');
  });

  test('a key of 100 kB is shortened in the message', () => {
    const { problems } = loadText(manifestOf(`? ${'x'.repeat(100_000)}\n: 1\n`));
    expect(problems[0]?.message.length).toBeLessThan(700);
    expect(problems[0]?.message).toMatch(/^unknown key "xxx.*…"?.*; write one of: version, .*…$/);
    expect(problemOf(`${'x'.repeat(100_000)}: 1\n`)).toBe(
      '1:1 a key has at most 1024 characters; shorten it, or close the quote before it',
    );
  });
});

describe('bytes', () => {
  const bad = manifestOf('', ROUTE.replace('/api/contacts', '/api/contacts?'));
  const message = '5:41 a path has no query and no fragment; remove everything after the path';

  test('a byte order mark does not count as a column', () => {
    expect(loadText(`\uFEFF${manifestOf()}`).plan).toBeDefined();
    expect(problemOf(`\uFEFF${manifestOf().replace('version: 1', 'version: 2')}`)).toBe(
      '1:10 2 is not supported here; write 1',
    );
    expect(problemOf(`\uFEFF${bad}`)).toBe(message);
  });

  test('CRLF does not count as a column', () => {
    expect(loadText(manifestOf().replaceAll('\n', '\r\n')).plan).toBeDefined();
    expect(problemOf(bad.replaceAll('\n', '\r\n'))).toBe(message);
  });

  test('CRLF is not in the code frame', () => {
    const text = bad.replaceAll('\n', '\r\n');
    expect(formatProblems(loadText(text).problems, text, false)).toBe(
      formatProblems(loadText(bad).problems, bad, false),
    );
  });

  test.each([
    ['a NUL in a quoted value', 'listen: "a\\0b"\n', '4:9 "a\\u0000b" is not an address'],
    ['a NUL in a key', '"a\\0b": 1\n', '4:1 unknown key "a\uFFFDb"'],
    ['an escape sequence of a terminal in a key', '"\\e[31mred": 1\n', '4:1 unknown key "\uFFFD[31mred"'],
    ['a line break in a key', '"a\\nb": 1\n', '4:1 unknown key "a\uFFFDb"'],
    ['a lone surrogate in a value', 'listen: "\\ud800"\n', '4:9 "\\ud800" is not an address'],
    ['a raw lone surrogate', 'listen: \ud800\n', '4:9 U+D800 is half of a character'],
    ['a lone surrogate in a key', '"\\ud800": 1\n', '4:1 unknown key "\uFFFD"'],
  ])('%s', (_name, above, expected) => {
    const text = manifestOf(above);
    expect(problemOf(text)).toContain(expected);
    expect(formatProblems(loadText(text).problems, text, false)).not.toMatch(/[\0\x1b]/);
  });
});

describe('scalars that other YAML versions read differently', () => {
  test.each([
    ['no', '"no" is not an address'],
    ['off', '"off" is not an address'],
    ['010', '10 is not an address'],
    ['0o10', '8 is not an address'],
    ['1_000', '"1_000" is not an address'],
    ['2026-01-31', '"2026-01-31" is not an address'],
    ['12:30:45', '"12:30:45" is not an address'],
    ['~', 'an empty value is not an address'],
    ['.inf', 'a number must be finite'],
    ['-.inf', 'a number must be finite'],
    ['.nan', 'a number must be finite'],
    ['1e400', 'a number must be finite'],
    ['true', 'true is not an address'],
  ])('%s', (scalar, expected) => {
    expect(problemOf(manifestOf(`listen: ${scalar}\n`))).toMatch(new RegExp(`^4:9 ${RegExp.escape(expected)}`));
  });

  test.each(['no', 'off', 'y', 'null-value'])('%s is a name like any other', (name) => {
    const text = manifestOf().replaceAll('contacts:', `${name}:`).replace('upstream: contacts', `upstream: ${name}`);
    expect(loadText(text).plan?.upstreams.map(({ id }) => id)).toEqual([name]);
  });

  test('a closing bracket may have the column of its key', () => {
    const text = manifestOf('').replace(/routes:\n[\s\S]*/, `routes: [\n  ${ROUTE.slice(4)}]\n`);
    expect(loadText(text).plan?.routes).toHaveLength(1);
  });
});

describe('a name that every object inherits', () => {
  const INHERITED = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

  test.each(INHERITED)('%s as a key of the manifest', (name) => {
    expect(problemOf(manifestOf(`${name}: {}\n`))).toMatch(
      new RegExp(`^4:1 unknown key "${name}"; write one of: version`),
    );
  });

  test.each(INHERITED)('%s as a key of a route', (name) => {
    const text = manifestOf('', ROUTE.replace(' }', `, ${name}: 1 }`));
    expect(problemOf(text)).toContain(`unknown key "${name}"`);
  });

  test.each(INHERITED)('%s as a key of a map in place of a string', (name) => {
    const version = manifestOf(`version: { ${name}: [] }\n`).replace(/^version: 1\n/, '');
    expect(problemOf(version)).toMatch(/a map is not/);
    for (const map of [`admin: { listen: 127.0.0.1:1, ${name}: [] }`, `listen: { address: 127.0.0.1:1, ${name}: [] }`])
      expect(problemOf(manifestOf(`${map}\n`))).toContain(`unknown key "${name}"`);
    for (const word of ['public', 'POST', '/api/contacts'])
      expect(problemOf(manifestOf('', ROUTE.replace(word, `{ ${name}: [] }`)))).toMatch(/^5:\d+ a map /);
  });

  test.each(INHERITED)('%s as an unknown upstream', (name) => {
    const text = manifestOf('', ROUTE.replace('upstream: contacts', `upstream: ${name}`));
    expect(problemOf(text)).toMatch(/^5:\d+ (?:no upstream is named|".*" is not a name)/);
  });

  test.each(INHERITED)('%s as the name of an upstream', (name) => {
    const text = manifestOf().replace('upstreams:\n', `upstreams:\n  ${name}: { url: http://127.0.0.1:1 }\n`);
    const { plan, problems } = loadText(text);
    if (name === 'constructor') expect(plan?.upstreams.map(({ id }) => id)).toEqual(['constructor', 'contacts']);
    else
      expect(problems.map(formatProblem)).toEqual([
        expect.stringMatching(`^3:3 "${name}" is not a name; write lower-case`),
      ]);
  });

  test.each(INHERITED)('%s as the name of a schema', (name) => {
    const text = manifestOf(`schemas: { ${name}: { type: integer } }\n`, bodyRoute(`{ $ref: '#/schemas/${name}' }`));
    expect(violationsOf(loadText(text), '1')).toEqual([]);
    expect(violationsOf(loadText(text), '"1"')).toHaveLength(1);
    expect(problemOf(manifestOf('', bodyRoute(`{ $ref: '#/schemas/${name}' }`)))).toContain(
      `no schema is named "${name}"`,
    );
  });
});

test('names in other scripts are handled', () => {
  const text = manifestOf(
    'schemas: { 連絡先: { type: object }, "a/b~c %": { type: object } }\n',
    bodyRoute(`{ anyOf: [{ $ref: '#/schemas/連絡先' }, { $ref: '#/schemas/a~1b~0c%20%25' }] }`),
  );
  expect(loadText(text).problems).toEqual([]);
  expect(problemOf(manifestOf('連絡先: 1\n'))).toMatch(/^4:1 unknown key "連絡先"/);
  expect(problemOf(manifestOf().replace('  contacts:', '  連絡先: { url: http://a }\n  contacts:'))).toMatch(
    /^3:3 "連絡先" is not a name/,
  );
});
