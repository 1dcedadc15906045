import { memberSchemas, schemasInPlace } from './evaluate-schema.ts';
import { toMap } from './json-value.ts';
import {
  type LiteralOf,
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
export function objectSolutions(solver: PartSolver, literals: readonly SchemaLiteral[]): Generator<unknown> {
  return new ObjectSearch(solver, literals).solutions();
}

class ObjectSearch {
  readonly #solver: PartSolver;
  readonly #members: LiteralOf<'members' | 'unevaluated'>[];
  readonly #some: readonly SomeMember[];
  readonly #nameTerms: readonly SchemaTerm[];
  readonly #required = new Map<string, readonly SchemaTerm[]>();
  readonly #forbidden: ReadonlySet<string>;
  readonly #min: number;
  readonly #max: number;
  /** The names that the schemas mention. */
  readonly #knownNames: readonly string[];
  readonly #patterns: readonly string[];
  readonly #termsByName = new Map<string, readonly SchemaTerm[]>();
  /** The schemas that apply for certain, and those whose branches may evaluate more members. */
  readonly #applied: ReadonlySet<unknown>;
  #isStrict = false;

  constructor(solver: PartSolver, literals: readonly SchemaLiteral[]) {
    this.#solver = solver;
    this.#members = [...literalsOf(literals, 'members'), ...literalsOf(literals, 'unevaluated')];
    this.#applied = new Set(this.#members.map(({ schema }) => schema));
    this.#some = literalsOf(literals, 'some-member');
    this.#nameTerms = literalsOf(literals, 'names').map(({ term }) => term);
    this.#forbidden = new Set(literalsOf(literals, 'absent').map(({ name }) => name));
    for (const { name, terms } of literalsOf(literals, 'present'))
      this.#required.set(name, [...(this.#required.get(name) ?? []), ...terms]);
    const counts = literalsOf(literals, 'count');
    this.#min = Math.max(0, ...counts.map(({ min }) => min));
    this.#max = Math.min(...counts.map(({ max }) => max), MAX_MEMBERS);
    const declared = this.#members.flatMap((literal) => declaringSchemas(literal));
    this.#knownNames = [
      ...new Set([...this.#required.keys(), ...declared.flatMap(({ properties }) => Object.keys(toMap(properties)))]),
    ].filter((name) => name !== '__proto__');
    this.#patterns = [
      ...new Set([
        ...declared.flatMap(({ patternProperties }) => Object.keys(toMap(patternProperties))),
        ...this.#some.flatMap(({ pattern }) => pattern ?? []),
      ]),
    ];
  }

  /** Yields objects in which `unevaluatedProperties` validates all members that a branch may evaluate, then the others. */
  *solutions(): Generator<unknown> {
    const passes = this.#members.some(({ kind }) => kind === 'unevaluated') ? [true, false] : [false];
    for (const isStrict of passes) {
      this.#isStrict = isStrict;
      this.#termsByName.clear();
      for (const members of this.#withSome(this.#required, this.#some)) yield* this.#complete(members);
    }
  }

  /** Yields the required members together with one for each literal that demands some member. */
  *#withSome(members: Members, [first, ...others]: readonly SomeMember[]): Generator<Members> {
    if (first === undefined) {
      yield members;
      return;
    }
    let remaining = this.#solver.budget.effort.width * 2;
    for (const name of this.#namesFor(first)) {
      if (this.#forbidden.has(name) || !first.selects(name) || !satisfies(name, first.nameTerms)) continue;
      const terms = [...(members.get(name) ?? []), ...first.terms];
      if (!this.#isPossible(name, terms)) continue;
      remaining -= 1;
      if (remaining < 0) return;
      yield* this.#withSome(new Map([...members, [name, terms]]), others);
    }
  }

  #isPossible(name: string, terms: readonly SchemaTerm[]): boolean {
    this.#solver.budget.spend();
    return satisfies(name, this.#nameTerms) && this.#valuesOf(name, terms).at(0) !== undefined;
  }

  /** Adds optional members up to the minimum, and yields objects with values for all members. */
  *#complete(members: Members): Generator<unknown> {
    if (Math.max(members.size, this.#min) > MAX_MEMBERS) this.#solver.budget.limit();
    if (members.size > this.#max) return;
    const all = new Map(members);
    if (all.size < this.#min)
      for (const name of this.#namesFor(undefined)) {
        if (all.size >= this.#min) break;
        if (!all.has(name) && !this.#forbidden.has(name) && this.#isPossible(name, [])) all.set(name, []);
      }
    if (all.size < this.#min) {
      // There may be more names than those that were tried.
      this.#solver.budget.limit();
      return;
    }
    yield* this.#valued(all);
    if (all.size >= this.#max) return;
    // A member may be needed to meet a keyword such as `unevaluatedProperties` beside it.
    let remaining = this.#knownNames.length + this.#solver.budget.effort.width;
    for (const name of this.#namesFor(undefined)) {
      remaining -= 1;
      if (remaining < 0) return;
      if (!all.has(name) && !this.#forbidden.has(name) && this.#isPossible(name, []))
        yield* this.#valued(new Map([...all, [name, []]]));
    }
  }

  /** Yields the object with the first value of each member, then those with another value of one member. */
  *#valued(members: Members): Generator<unknown> {
    const lists = [...members].map(([name, terms]) => [name, this.#valuesOf(name, terms)] as const);
    const first = lists.map(([name, list]) => [name, list.at(0)] as const);
    if (first.some(([name, value]) => value === undefined || !satisfies(name, this.#nameTerms))) return;
    yield Object.fromEntries(first);
    for (let index = 1; index < this.#solver.budget.effort.width; index += 1)
      for (const [at, [name, list]] of lists.entries()) {
        const value = list.at(index);
        if (value !== undefined) yield Object.fromEntries(first.with(at, [name, value]));
      }
  }

  #valuesOf(name: string, terms: readonly SchemaTerm[]): LazyList<unknown> {
    let common = this.#termsByName.get(name);
    if (common === undefined) {
      this.#solver.budget.spend(this.#members.length >> 3);
      common = this.#members.flatMap((literal) =>
        memberTerms(literal, name, this.#isStrict ? this.#applied : undefined),
      );
      this.#termsByName.set(name, common);
    }
    this.#solver.budget.spend(common.length >> 5);
    return this.#solver.solve([...terms, ...common]);
  }

  /** Yields names of members, known ones first, then ones that differ in the patterns that they match. */
  *#namesFor(some: SomeMember | undefined): Generator<string> {
    const seen = new Set<string>();
    for (const name of this.#candidateNames(some)) {
      if (seen.has(name) || name === '__proto__') continue;
      seen.add(name);
      yield name;
    }
  }

  *#candidateNames(some: SomeMember | undefined): Generator<string> {
    const { width } = this.#solver.budget.effort;
    yield* this.#knownNames;
    yield* ['x', 'y', 'a'];
    const nameTerms = [...this.#nameTerms, ...(some?.nameTerms ?? []), ...patternTerms(some?.pattern, true), IS_TEXT];
    for (const patterns of this.#patternCombinations(some?.pattern))
      for (const name of this.#solver.solve([...nameTerms, ...patterns]).take(Math.max(width, this.#min)))
        yield String(name);
    for (let count = 0; count < this.#min; count += 1) yield `x${count}`;
  }

  /** Yields conditions for names: none, matches of one pattern or of no pattern, of two patterns or of only one of them. */
  *#patternCombinations(own: string | undefined): Generator<readonly SchemaTerm[]> {
    yield [];
    const others = this.#patterns.filter((pattern) => pattern !== own).slice(0, MAX_PATTERNS);
    for (const pattern of others) yield patternTerms(pattern, true);
    yield others.flatMap((pattern) => patternTerms(pattern, false));
    for (const one of others)
      for (const other of others)
        if (one !== other) {
          yield [...patternTerms(one, true), ...patternTerms(other, false)];
          if (one < other) yield [...patternTerms(one, true), ...patternTerms(other, true)];
        }
  }
}

/** The patterns of names that are combined. */
const MAX_PATTERNS = 8;

const IS_TEXT = standaloneTerm({ type: 'string' }, true);

function patternTerms(pattern: string | undefined, isPositive: boolean): SchemaTerm[] {
  return pattern === undefined ? [] : [standaloneTerm({ pattern }, isPositive)];
}

const MAX_MEMBERS = 1_000;

/**
 * Returns the terms that a literal adds for the member with a name.
 *
 * @param applied the only schemas that evaluate members; without it, every branch may
 */
function memberTerms(
  literal: LiteralOf<'members' | 'unevaluated'>,
  name: string,
  applied: ReadonlySet<unknown> | undefined,
): SchemaTerm[] {
  const { root, schema } = literal;
  const meet = termMaker(root, true);
  if (literal.kind === 'members') return memberSchemas(schema, name).map(meet);
  const isEvaluated = declaringSchemas(literal).some(
    (inside) => applied?.has(inside) !== false && memberSchemas(inside, name).length > 0,
  );
  return isEvaluated ? [] : [meet(schema['unevaluatedProperties'])];
}

/** Returns the schemas that may evaluate members: the schema and, for `unevaluatedProperties`, those of its branches. */
function declaringSchemas({
  kind,
  root,
  schema,
}: LiteralOf<'members' | 'unevaluated'>): Readonly<Record<string, unknown>>[] {
  return kind === 'members' ? [schema] : schemasInPlace(root, schema);
}
