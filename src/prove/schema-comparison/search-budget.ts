import type { SchemaTerm } from './schema-terms.ts';

/** The values of a generator, computed once and on demand, for several readers. */
export class LazyList<T> {
  readonly #values: T[] = [];
  readonly #source: Iterator<T>;
  #isRunning = false;
  #isDone = false;

  constructor(source: Iterator<T>) {
    this.#source = source;
  }

  /** Returns a value; `undefined` if there are not enough, or if the generator itself asks for it while it runs. */
  at(index: number): T | undefined {
    while (index >= this.#values.length && !this.#isDone && !this.#isRunning) this.#advance();
    return this.#values[index];
  }

  /** Yields at most `count` values. */
  *take(count: number): Generator<T> {
    for (let index = 0; index < count; index += 1) {
      const value = this.at(index);
      if (value === undefined) return;
      yield value;
    }
  }

  #advance(): void {
    this.#isRunning = true;
    try {
      const { value, done } = this.#source.next();
      if (done) this.#isDone = true;
      else this.#values.push(value);
    } finally {
      this.#isRunning = false;
    }
  }
}

/** Thrown when a search has used its steps. */
export const SEARCH_CUT = Symbol('search cut');

/** The effort of one round of a search. A later round looks further. */
export interface SearchEffort {
  /** The steps of the round: examined branches, candidates and states. They do not depend on the speed of the machine. */
  readonly steps: number;
  /** The cost of the round, in the units of `charge`. A step may take long if the schemas are large. */
  readonly cost: number;
  /** The number of values to try for each member or item, and of names for each unknown member. */
  readonly width: number;
  /** The number of states that the search for a text visits. */
  readonly states: number;
}

/** The rounds of a search: most differences have a simple example. */
export const SEARCH_ROUNDS: readonly SearchEffort[] = [
  { steps: 3_000, cost: 4_000_000, width: 2, states: 1_000 },
  { steps: 25_000, cost: 10_000_000, width: 6, states: 10_000 },
];

/** Limits the work of a search, so that no schema can make it run for minutes. */
export class SearchBudget {
  readonly effort: SearchEffort;
  /** True if the search left out values of a kind: deeply nested ones, large ones, or long texts. */
  isLimited = false;
  #remaining: number;

  constructor(effort: SearchEffort) {
    this.effort = effort;
    this.#remaining = effort.steps;
  }

  limit(): void {
    this.isLimited = true;
  }

  /** Throws `SEARCH_CUT` if no steps remain. */
  spend(steps = 1): void {
    this.#remaining -= steps;
    if (this.#remaining < 0) throw SEARCH_CUT;
  }
}

/** Finds values for parts of the values that it searches: items and members. */
export interface PartSolver {
  readonly budget: SearchBudget;
  /** Returns the values that satisfy all terms, simple ones first. */
  solve(terms: readonly SchemaTerm[]): LazyList<unknown>;
}
