import { getOrCreate } from '../../engine/get-or-create.ts';
import { charge } from '../../engine/schema/cost-budget.ts';
import { itemSchema, memberSchemas } from './evaluate-schema.ts';
import type { SchemaAlternative, SchemaLiteral, SchemaTerm } from './schema-terms.ts';

/** The alternatives of which one must be chosen. */
export type Choice = readonly SchemaAlternative[];

/** The parts of the solver that the search for branches uses. */
export interface BranchSearchContext {
  /** Returns a sign and a key that is equal for equal schemas. */
  readonly keyOf: (term: SchemaTerm) => string;
  readonly choicesOf: (term: SchemaTerm) => readonly Choice[];
  readonly spend: (steps: number) => void;
}

/** The cost to examine an alternative, in the units of `charge`. */
const ALTERNATIVE_COST = 4;
/** More schemas of members or items are not compared with each alternative. */
const MAX_COMPARED = 4;

/**
 * Yields the combinations of alternatives, one of each choice, as lists of literals. A choice with one possible alternative
 * is made first, and what it excludes is removed from the other choices. Most branches end there.
 */
export function* branchesOf(terms: readonly SchemaTerm[], context: BranchSearchContext): Generator<SchemaLiteral[]> {
  const signs: Signs = new Map();
  for (const term of terms) {
    const key = context.keyOf(term);
    signs.set(key.slice(1), key.charAt(0)).set(term.schema, key.charAt(0));
  }
  const open = terms.flatMap((term) => context.choicesOf(term));
  yield* new Branch(context, [], signs, unsharedFirst(open, context)).branches();
}

/**
 * The signs of terms and literals that hold in a branch, by their keys, and of schemas whose choices are made. A key alone does not
 * say that: a reference has the key of its target.
 */
type Signs = Map<unknown, string>;

class Branch {
  readonly #context: BranchSearchContext;
  readonly #literals: SchemaLiteral[];
  readonly #signs: Signs;
  #open: readonly Choice[];

  constructor(context: BranchSearchContext, literals: SchemaLiteral[], signs: Signs, open: readonly Choice[]) {
    this.#context = context;
    this.#literals = literals;
    this.#signs = signs;
    this.#open = open;
  }

  *branches(): Generator<SchemaLiteral[]> {
    if (!this.#makeForcedChoices()) return;
    const [first, ...others] = [...this.#open].sort((one, other) => one.length - other.length);
    if (first === undefined) {
      yield this.#literals;
      return;
    }
    for (const alternative of first) {
      this.#context.spend(1 + (this.#signs.size >> 7));
      const open = [...others, [alternative]];
      yield* new Branch(this.#context, [...this.#literals], new Map(this.#signs), open).branches();
    }
  }

  /** Makes the choices with one possible alternative. Returns false if a choice has none. */
  #makeForcedChoices(): boolean {
    for (let isChanged = true; isChanged; ) {
      isChanged = false;
      const pending = [...this.#open];
      const open: Choice[] = [];
      // The loop visits the choices that are added while it runs. Thousands of required members would overflow the stack.
      for (const choice of pending) {
        const possible = this.#possibleAlternatives(choice);
        if (possible === undefined) continue;
        const [only, second] = possible;
        if (only === undefined) return false;
        if (second !== undefined) {
          open.push(possible);
          continue;
        }
        if (!this.#choose(only, pending)) return false;
        isChanged = true;
      }
      this.#open = open;
    }
    return true;
  }

  /** Returns the alternatives that may hold; `undefined` if one of them already does. */
  #possibleAlternatives(choice: Choice): Choice | undefined {
    const possible: SchemaAlternative[] = [];
    for (const alternative of choice) {
      charge(ALTERNATIVE_COST);
      const state = this.#stateOf(alternative);
      if (state === 'holds') return undefined;
      if (state === 'open') possible.push(alternative);
    }
    return possible.length === choice.length ? choice : possible;
  }

  #stateOf({ terms, literals }: SchemaAlternative): 'holds' | 'excluded' | 'open' {
    let holds = true;
    for (const term of terms) {
      const key = this.#context.keyOf(term);
      const known = this.#signs.get(key.slice(1));
      if (known !== undefined && known !== key.charAt(0)) return 'excluded';
      holds &&= this.#signs.get(term.schema) === key.charAt(0);
    }
    for (const literal of literals) {
      const key = keyOfLiteral(literal);
      const known = key === '' ? undefined : this.#signs.get(key.slice(1));
      if (known !== undefined && known !== key.charAt(0)) return 'excluded';
      if (this.#isRefused(literal)) return 'excluded';
      holds &&= known !== undefined && !('terms' in literal && literal.terms.length > 0);
    }
    return holds ? 'holds' : 'open';
  }

  /** True if the schema of a member or item refuses what the literal demands of it. */
  #isRefused(literal: SchemaLiteral): boolean {
    if (literal.kind !== 'present' && literal.kind !== 'item') return false;
    if (literal.terms.length === 0) return false;
    const required = new Set(
      this.#literals.slice(0, MAX_COMPARED).flatMap((known) => this.#schemasFor(literal, known)),
    );
    return literal.terms.some((term) => {
      const key = this.#context.keyOf(term);
      return key.startsWith('-') && required.has(`+${key.slice(1)}`);
    });
  }

  /** Returns the keys of the schemas that a literal of the branch demands of the same member or item. */
  #schemasFor(literal: Extract<SchemaLiteral, { kind: 'present' | 'item' }>, known: SchemaLiteral): string[] {
    const { keyOf } = this.#context;
    if (literal.kind === 'present' && known.kind === 'members')
      return memberSchemas(known.schema, literal.name).map((schema) =>
        keyOf({ root: known.root, schema, isPositive: true }),
      );
    if (literal.kind === 'item' && known.kind === 'items')
      return [keyOf({ root: known.root, schema: itemSchema(known.schema, literal.index), isPositive: true })];
    return [];
  }

  /** Adds an alternative to the branch, and its choices to `pending`. Returns false if it contradicts the branch. */
  #choose({ terms, literals }: SchemaAlternative, pending: Choice[]): boolean {
    this.#context.spend(1 + (terms.length >> 3));
    for (const literal of literals) {
      const key = keyOfLiteral(literal);
      if (key !== '' && !this.#hold(key)) return false;
      // The schemas of members and items are compared with each alternative, so they come first.
      if (literal.kind === 'members' || literal.kind === 'items') this.#literals.unshift(literal);
      else this.#literals.push(literal);
    }
    for (const term of terms) {
      const key = this.#context.keyOf(term);
      if (!this.#hold(key)) return false;
      if (this.#signs.get(term.schema) === key.charAt(0)) continue;
      this.#signs.set(term.schema, key.charAt(0));
      pending.push(...this.#context.choicesOf(term));
    }
    return true;
  }

  #hold(key: string): boolean {
    const [sign, name] = [key.charAt(0), key.slice(1)];
    const known = this.#signs.get(name);
    this.#signs.set(name, sign);
    return known === undefined || known === sign;
  }
}

const literalKeys = new WeakMap<SchemaLiteral, string>();

/** Returns a sign and a key. Two literals with one key exclude each other if their signs differ. Returns '' without a key. */
function keyOfLiteral(literal: SchemaLiteral): string {
  return getOrCreate(literalKeys, literal, createLiteralKey);
}

function createLiteralKey(literal: SchemaLiteral): string {
  const sign = 'isPositive' in literal && !literal.isPositive ? '-' : '+';
  if (literal.kind === 'keyword') return `${sign}${literal.keyword} ${JSON.stringify(literal.value)}`;
  if (literal.kind === 'present') return `+member ${literal.name}`;
  if (literal.kind === 'absent') return `-member ${literal.name}`;
  return literal.kind === 'unique' ? `${sign}unique` : '';
}

/** Sorts alternatives: first those that demand a schema of no other choice, which is the difference of two long lists. */
function unsharedFirst(open: readonly Choice[], { keyOf }: BranchSearchContext): Choice[] {
  const holders = new Map<string, number>();
  for (const [index, choice] of open.entries())
    for (const { terms } of choice)
      for (const term of terms) {
        charge(ALTERNATIVE_COST);
        const name = keyOf(term).slice(1);
        const known = holders.get(name);
        holders.set(name, known === undefined || known === index ? index : SEVERAL);
      }
  const rank = ({ terms }: SchemaAlternative) =>
    terms.some((term) => term.isPositive && holders.get(keyOf(term).slice(1)) !== SEVERAL) ? 0 : 1;
  return open.map((choice) => choice.toSorted((one, other) => rank(one) - rank(other)));
}

const SEVERAL = -1;
