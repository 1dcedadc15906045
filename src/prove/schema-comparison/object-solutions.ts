import { getOrCreate } from '../../engine/get-or-create.ts';
import { memberSchemas } from './evaluate-schema.ts';
import { toMap } from './json-value.ts';
import {
  literalsOf,
  type SchemaLiteral,
  type SchemaTerm,
  type SomeMember,
  satisfies,
  standaloneTerm,
  termMaker,
} from './schema-terms.ts';
import type { LazyList, PartSolver } from './search-budget.ts';

type Members = ReadonlyMap<string, readonly SchemaTerm[]>;

/** Yields objects that may satisfy the literals, those with few members first. The caller tests them. */
export function* objectSolutions(solver: PartSolver, literals: readonly SchemaLiteral[]): Generator<unknown> {
  const { budget } = solver;
  const { width } = budget.effort;
  const schemas = literalsOf(literals, 'members');
  const some = literalsOf(literals, 'some-member');
  const ownNameTerms = literalsOf(literals, 'names').map(({ term }) => term);
  const forbidden = new Set(literalsOf(literals, 'absent').map(({ name }) => name));
  const required = new Map<string, readonly SchemaTerm[]>();
  for (const { name, terms } of literalsOf(literals, 'present'))
    required.set(name, [...(required.get(name) ?? []), ...terms]);
  const counts = literalsOf(literals, 'count');
  const min = Math.max(0, ...counts.map((count) => count.min));
  const max = Math.min(...counts.map((count) => count.max), MAX_MEMBERS);
  /** The names that the schemas mention. */
  const declaredNames = schemas.flatMap(({ schema }) => Object.keys(toMap(schema['properties'])));
  const knownNames = [...new Set([...required.keys(), ...declaredNames])].filter((name) => name !== '__proto__');
  const declaredPatterns = schemas.flatMap(({ schema }) => Object.keys(toMap(schema['patternProperties'])));
  const allPatterns = [...new Set([...declaredPatterns, ...some.flatMap(({ pattern }) => pattern ?? [])])];
  const termsByName = new Map<string, readonly SchemaTerm[]>();

  for (const members of withSome(required, some)) yield* complete(members);

  /** Yields the required members together with one for each literal that demands some member. */
  function* withSome(members: Members, [first, ...others]: readonly SomeMember[]): Generator<Members> {
    if (first === undefined) {
      yield members;
      return;
    }
    let remaining = width * 2;
    for (const name of namesFor(first)) {
      if (forbidden.has(name) || !first.selects(name) || !satisfies(name, first.nameTerms)) continue;
      const terms = [...(members.get(name) ?? []), ...first.terms];
      if (!isPossible(name, terms)) continue;
      remaining -= 1;
      if (remaining < 0) return;
      yield* withSome(new Map([...members, [name, terms]]), others);
    }
  }

  function isPossible(name: string, terms: readonly SchemaTerm[]): boolean {
    budget.spend();
    return satisfies(name, ownNameTerms) && valuesOf(name, terms).at(0) !== undefined;
  }

  /** Adds optional members up to the minimum, and yields objects with values for all members. */
  function* complete(members: Members): Generator<unknown> {
    if (Math.max(members.size, min) > MAX_MEMBERS) budget.limit();
    if (members.size > max) return;
    const all = new Map(members);
    const isFree = (name: string) => !all.has(name) && !forbidden.has(name) && isPossible(name, []);
    if (all.size < min)
      for (const name of namesFor(undefined)) {
        if (all.size >= min) break;
        if (isFree(name)) all.set(name, []);
      }
    if (all.size < min) {
      // There may be more names than those that were tried.
      budget.limit();
      return;
    }
    yield* valued(all);
    if (all.size >= max) return;
    // A member may be needed to meet a keyword such as `unevaluatedProperties` beside it.
    for (const name of namesFor(undefined).take(knownNames.length + width))
      if (isFree(name)) yield* valued(new Map([...all, [name, []]]));
  }

  /** Yields the object with the first value of each member, then those with another value of one member. */
  function* valued(members: Members): Generator<unknown> {
    const lists = [...members].map(([name, terms]) => [name, valuesOf(name, terms)] as const);
    const first = lists.map(([name, list]) => [name, list.at(0)] as const);
    if (first.some(([name, value]) => value === undefined || !satisfies(name, ownNameTerms))) return;
    yield Object.fromEntries(first);
    for (let index = 1; index < width; index += 1)
      for (const [at, [name, list]] of lists.entries()) {
        const value = list.at(index);
        if (value !== undefined) yield Object.fromEntries(first.with(at, [name, value]));
      }
  }

  function valuesOf(name: string, terms: readonly SchemaTerm[]): LazyList<unknown> {
    const common = getOrCreate(termsByName, name, () => {
      budget.spend(schemas.length >> 3);
      return schemas.flatMap(({ root, schema }) => memberSchemas(schema, name).map(termMaker(root, true)));
    });
    budget.spend(common.length >> 5);
    return solver.solve([...terms, ...common]);
  }

  /** Yields names of members, known ones first, then ones that differ in the patterns that they match. */
  function* namesFor(wanted: SomeMember | undefined): Generator<string> {
    const seen = new Set(['__proto__']);
    for (const name of candidateNames(wanted)) {
      if (!seen.has(name)) yield name;
      seen.add(name);
    }
  }

  function* candidateNames(wanted: SomeMember | undefined): Generator<string> {
    yield* knownNames;
    yield* ['x', 'y', 'a'];
    const nameTerms = [...ownNameTerms, ...(wanted?.nameTerms ?? []), ...patternTerms(wanted?.pattern, true), IS_TEXT];
    for (const patterns of patternCombinations(wanted?.pattern))
      for (const name of solver.solve([...nameTerms, ...patterns]).take(Math.max(width, min))) yield String(name);
    for (let count = 0; count < min; count += 1) yield `x${count}`;
  }

  /** Yields conditions for names: none, matches of one pattern, of no pattern, of two patterns. */
  function* patternCombinations(own: string | undefined): Generator<readonly SchemaTerm[]> {
    yield [];
    const others = allPatterns.filter((pattern) => pattern !== own).slice(0, MAX_PATTERNS);
    for (const pattern of others) yield patternTerms(pattern, true);
    yield others.flatMap((pattern) => patternTerms(pattern, false));
    for (const one of others)
      for (const other of others) if (one < other) yield [...patternTerms(one, true), ...patternTerms(other, true)];
  }
}

/** The patterns of names that are combined. */
const MAX_PATTERNS = 8;

const IS_TEXT = standaloneTerm({ type: 'string' }, true);

function patternTerms(pattern: string | undefined, isPositive: boolean): SchemaTerm[] {
  return pattern === undefined ? [] : [standaloneTerm({ pattern }, isPositive)];
}

const MAX_MEMBERS = 1_000;
