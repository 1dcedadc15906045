import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { MergeError, mergeImport } from '../../src/openapi-import/merge-import.ts';
import { runs } from '../support/runs.ts';

const route = (id: string, more: object = {}) => ({ id, method: 'GET', path: `/${id}`, ...more });
const text = (routes: readonly object[], schemas?: object) =>
  stringify({ ...(schemas && { schemas }), routes }, { aliasDuplicateObjects: false });

/** Merges three lists of routes. Returns the merged routes, and the paths of the conflicts. */
function merge(base: readonly object[], own: readonly object[], next: readonly object[]) {
  const merged = mergeImport(text(base), text(own), text(next));
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
    expect(merge(secured, limited, open).routes).toEqual([route('a', { access: 'public', roles: ['admin'] })]);
    expect(merge(open, secured, open).routes).toEqual(secured);
  });

  it('keeps a schema that a route of a person needs', () => {
    const body = { schema: { $ref: '#/schemas/Note' } };
    const schemas = { Note: { type: 'object' }, Other: true };
    const own = text([route('a', { body }), route('hand', { body })], schemas);
    const { text: merged } = mergeImport(
      text([route('a', { body })], schemas),
      own,
      text([route('a')], { Other: true }),
    );
    expect(parse(merged)).toEqual({
      schemas,
      routes: [route('a'), route('hand', { body })],
    });
    const free = mergeImport(
      text([route('a', { body })], schemas),
      text([route('a', { body })], schemas),
      text([route('a')]),
    );
    expect(parse(free.text)).toEqual({ routes: [route('a')] });
  });

  it('keeps comments, and the text of a file that needs no change', () => {
    const own = '# Ours\nroutes:\n  - {id: a,   path: /a} # the first\n';
    expect(mergeImport(text([route('a')]), own, text([route('a')])).text).toBe(own);
    const { text: merged } = mergeImport('routes: [{ id: a, path: /a }]', own, text([{ id: 'a', path: '/b' }]));
    expect(merged).toBe('# Ours\nroutes:\n  - { id: a, path: /b } # the first\n');
  });

  it('refuses a file with aliases', () => {
    const own = 'routes: [&a { id: a }, *a]';
    expect(() => mergeImport(text([]), own, text([]))).toThrow(MergeError);
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
        const merged = parse(mergeImport(text(before), text(current), text(after)).text) as { routes: object[] };
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
