import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { mergeImport } from '../../src/openapi/import/merge-import.ts';
import { MergeError, RouteFile } from '../../src/openapi/import/route-file.ts';
import { runs } from '../support/runs.ts';

const route = (id: string, more: object = {}) => ({ id, method: 'GET', path: `/${id}`, ...more });
const text = (routes: readonly object[], schemas?: object) =>
  stringify({ ...(schemas && { schemas }), routes }, { aliasDuplicateObjects: false });

const mergeTexts = (base: string, own: string, next: string) =>
  mergeImport(new RouteFile(base), new RouteFile(own), new RouteFile(next));

/** Merges three lists of routes. Returns the merged routes, and the paths of the conflicts. */
function merge(base: readonly object[], own: readonly object[], next: readonly object[]) {
  const merged = mergeTexts(text(base), text(own), text(next));
  const { routes } = parse(merged.text) as { routes: unknown };
  const { added, changed, removed, conflicts } = merged;
  return { routes, counts: [added, changed, removed], conflicts: conflicts.map(({ path }) => path.join('/')) };
}

describe('a second import', () => {
  it('takes changes of the document, and keeps those of a person', () => {
    const base = [route('a', { query: { a: 1 } }), route('b')];
    const own = [route('a', { query: { a: 1 }, timeout: '5s' }), route('b')];
    const next = [route('a', { query: { a: 2, b: 1 } }), route('b')];
    expect(merge(base, own, next)).toEqual({
      routes: [route('a', { query: { a: 2, b: 1 }, timeout: '5s' }), route('b')],
      counts: [0, 1, 0],
      conflicts: [],
    });
  });

  it('adds a route after the one before it in the document', () => {
    const next = [route('first'), route('a'), route('new'), route('b')];
    expect(merge([route('a'), route('b')], [route('b'), route('a'), route('hand')], next)).toEqual({
      routes: [route('first'), route('b'), route('a'), route('new'), route('hand')],
      counts: [2, 0, 0],
      conflicts: [],
    });
  });

  it('removes a route that nobody has edited, and keeps an edited one', () => {
    const base = [route('a'), route('b')];
    expect(merge(base, [route('a'), route('b', { path: '/c' })], [])).toEqual({
      routes: [route('b', { path: '/c' })],
      counts: [0, 0, 1],
      conflicts: ['routes/b'],
    });
  });

  it('does not return a removed route, and reports its changes', () => {
    expect(merge([route('a'), route('b')], [route('a')], [route('a'), route('b')]).conflicts).toEqual([]);
    expect(merge([route('a'), route('b')], [route('a')], [route('a'), route('b', { path: '/c' })])).toEqual({
      routes: [route('a')],
      counts: [0, 0, 0],
      conflicts: ['routes/b'],
    });
  });

  it('keeps the access of a person, and takes that of the document otherwise', () => {
    const [secured, open] = [[route('a', { access: 'protected' })], [route('a', { access: 'public' })]];
    const limited = [route('a', { access: 'protected', roles: ['admin'] })];
    expect(merge(secured, secured, open).routes).toEqual(open);
    expect(merge(open, secured, open).routes).toEqual(secured);
    expect(merge(secured, limited, open)).toMatchObject({ routes: limited, conflicts: ['routes/a/access'] });
    expect(merge(limited, limited, open).routes).toEqual(open);
    expect(merge(secured, open, limited)).toMatchObject({ routes: open, conflicts: ['routes/a/roles'] });
    expect(merge(open, open, limited).routes).toEqual(limited);
  });

  it('keeps a schema that a route of a person needs', () => {
    const body = { schema: { $ref: '#/schemas/Note' } };
    const schemas = { Note: { type: 'object' }, Other: true };
    const own = text([route('a', { body }), route('hand', { body })], schemas);
    const { text: merged } = mergeTexts(
      text([route('a', { body })], schemas),
      own,
      text([route('a')], { Other: true }),
    );
    expect(parse(merged)).toEqual({
      schemas,
      routes: [route('a'), route('hand', { body })],
    });
    const free = mergeTexts(
      text([route('a', { body })], schemas),
      text([route('a', { body })], schemas),
      text([route('a')]),
    );
    expect(parse(free.text)).toEqual({ routes: [route('a')] });
  });

  it('keeps comments, and the text of a file that needs no change', () => {
    const own = '# Ours\nroutes:\n  - {id: a,   path: /a} # the first\n';
    expect(mergeTexts(text([route('a')]), own, text([route('a')])).text).toBe(own);
    const { text: merged } = mergeTexts('routes: [{ id: a, path: /a }]', own, text([{ id: 'a', path: '/b' }]));
    expect(merged).toBe('# Ours\nroutes:\n  - { id: a, path: /b } # the first\n');
  });

  it('refuses a file with aliases', () => {
    expect(() => new RouteFile('routes: [&a { id: a }, *a]')).toThrow(MergeError);
  });

  it.each([
    '- a',
    'text',
    'routes: { a: { path: /a } }',
    'routes: x',
    'routes: [x]',
    'schemas: [x]',
    'routes: [{ id: a }, { id: a }]',
  ])('refuses a file of another shape: %s', (own) => {
    expect(() => new RouteFile(own)).toThrow(MergeError);
  });

  it.each(['', '# nothing\n', 'routes:\n', 'routes: []\n', 'schemas:\nroutes:\n'])('fills an empty file: %j', (own) => {
    expect(parse(mergeTexts('', own, text([route('a')])).text)).toMatchObject({ routes: [route('a')] });
  });

  it('moves a comment with its route, and keeps one of the whole list', () => {
    const own = `routes:\n  # All routes\n\n  # The first\n  - { id: a }\n\n  # The second\n  - { id: b }\n`;
    const [a, b] = [{ id: 'a' }, { id: 'b' }];
    expect(mergeTexts(text([a, b]), own, text([b])).text).toBe(
      'routes:\n  # All routes\n\n  # The second\n  - { id: b }\n',
    );
    expect(
      mergeTexts(text([a, b]), own, '# z\nroutes:\n  # The new one\n  - { id: z }\n  - { id: a }\n  - { id: b }\n')
        .text,
    ).toBe(own.replace('  # The first', '  # The new one\n  - { id: z }\n\n  # The first'));
  });

  it('finds a key that is written as a number', () => {
    const schemas = (value: number) => `schemas:\n  a: { properties: { 200: { maximum: ${value} } } }\nroutes: []\n`;
    const { text: merged } = mergeTexts(schemas(1), schemas(1), schemas(2).replace('200', '"200"'));
    expect(parse(merged)).toEqual({ schemas: { a: { properties: { 200: { maximum: 2 } } } }, routes: [] });
    expect(merged.match(/200/g)).toHaveLength(1);
  });

  it('renames a route that the document renames, and keeps its edits', () => {
    const own = [route('a', { timeout: '5s' }), route('b')];
    const next = [{ ...route('a'), id: 'new', access: 'public' }, route('b')];
    expect(merge([route('a'), route('b')], own, next)).toEqual({
      routes: [{ ...route('a'), id: 'new', timeout: '5s', access: 'public' }, route('b')],
      counts: [0, 1, 0],
      conflicts: [],
    });
  });

  it('changes nothing if the last import wrote the file, but not its base', () => {
    const [before, after] = [text([route('a')]), text([route('b')])];
    expect(mergeTexts(before, after, after)).toMatchObject({ text: after, conflicts: [] });
  });

  it('merges random additions, removals and changes of routes, each as if it were alone', () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const version = fc.option(fc.nat({ max: 2 }), { nil: undefined });
    const versions = fc.tuple(version, version, version, version, version);
    const routesOf = (list: readonly (number | undefined)[]) =>
      ids.flatMap((id, at) => (list[at] === undefined ? [] : [route(id, { path: `/${id}/${list[at]}` })]));
    fc.assert(
      fc.property(versions, versions, versions, (base, own, next) => {
        const changes = ids.map((_, at) => {
          const [b, o, n] = [base[at], own[at], next[at]];
          if (n === b || n === o) return { version: o, isConflict: false };
          return o === b ? { version: n, isConflict: false } : { version: o, isConflict: true };
        });
        const { routes, conflicts } = merge(routesOf(base), routesOf(own), routesOf(next));
        const sorted = (routes as { id: string }[]).toSorted((one, other) => (one.id < other.id ? -1 : 1));
        expect(sorted).toEqual(routesOf(changes.map(({ version: merged }) => merged)));
        const expected = ids.filter((_, at) => changes[at]?.isConflict);
        expect(conflicts.map((path) => path.split('/')[1]).sort()).toEqual(expected);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('merges each member of random routes as if it were alone', () => {
    const ids = ['a', 'b', 'c'];
    const member = fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined });
    const members = fc.record({ x: member, y: fc.record({ z: member, w: member }) });
    const file = fc.tuple(members, members, members);
    fc.assert(
      fc.property(file, file, file, (base, own, next) => {
        const routes = [base, own, next].map((all) => all.map((one, at) => prune({ id: ids[at], ...one })));
        const [before = [], current = [], after = []] = routes;
        const merged = parse(mergeTexts(text(before), text(current), text(after)).text) as { routes: object[] };
        const expected = ids.flatMap((_, at) => {
          const [b, o, n] = [before[at], current[at], after[at]].map((one) => leavesOf(one ?? {}));
          const names = [...new Set([b, o, n].flatMap((leaves) => [...(leaves?.keys() ?? [])]))].sort();
          return names.flatMap((name) => {
            const value = o?.get(name) === b?.get(name) ? n?.get(name) : o?.get(name);
            return value === undefined ? [] : [`${at} ${name}=${value}`];
          });
        });
        const found = merged.routes.flatMap((one, at) =>
          [...leavesOf(one)].map(([name, value]) => `${at} ${name}=${value}`).sort(),
        );
        expect(found).toEqual(expected);
      }),
      { numRuns: runs(2_000) },
    );
  });
});

/** Removes undefined members; the map `y` stays. */
function prune<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** Returns the scalars of a route by their paths. */
function leavesOf(value: object, path = ''): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === 'object' && inner !== null)
      for (const [at, leaf] of leavesOf(inner, `${path}${key}/`)) found.set(at, leaf);
    else found.set(`${path}${key}`, inner);
  }
  return found;
}
