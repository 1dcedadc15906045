import { createHash } from 'node:crypto';
import type { SchemaRoot } from '../plan/schema/schema-bundle.ts';
import { targetOf } from './evaluate-schema.ts';
import { referencesIn } from './schema-content.ts';

/** The references of a root that lead back to themselves, with a text for each that is equal for equal schemas. */
export class RecursiveSchemas {
  readonly #root: SchemaRoot;
  readonly #reached = new Map<string, ReadonlySet<string>>();
  /** The texts of the last round. They stand for the schemas while the next texts are computed. */
  #texts = new Map<string, string>();
  #isReady = false;

  constructor(root: SchemaRoot) {
    this.#root = root;
  }

  isRecursive(reference: string): boolean {
    return this.#referencesFrom(reference).has(reference);
  }

  textOf(reference: string): string {
    return this.#texts.get(reference) ?? '';
  }

  /**
   * Computes the texts of the recursive schemas that a schema reaches. Each round unfolds every schema once more, as when
   * the states of an automaton are minimized: after as many rounds as there are schemas, equal texts mean equal schemas.
   */
  prepare(schema: unknown, normalize: (target: unknown) => string): void {
    const names = referencesIn(schema).flatMap((reference) => [reference, ...this.#referencesFrom(reference)]);
    const pending = [...new Set(names)].filter((name) => this.isRecursive(name) && !this.#texts.has(name));
    if (this.#isReady || pending.length === 0) return;
    const all = [...new Set([...pending, ...this.#texts.keys()])];
    this.#isReady = true;
    this.#texts = new Map(all.map((name) => [name, '']));
    const rounds = Math.max(MIN_ROUNDS, 2 ** Math.ceil(Math.log2(2 * all.length)));
    for (let round = 0; round < rounds; round += 1)
      this.#texts = new Map(all.map((name) => [name, digest(normalize(targetOf(this.#root, name)))]));
    this.#isReady = false;
  }

  /** Returns the references that a reference leads to. */
  #referencesFrom(reference: string): ReadonlySet<string> {
    const known = this.#reached.get(reference);
    if (known !== undefined) return known;
    const reached = new Set(referencesIn(targetOf(this.#root, reference)));
    for (const name of reached) for (const next of referencesIn(targetOf(this.#root, name))) reached.add(next);
    this.#reached.set(reference, reached);
    return reached;
  }
}

/** Two manifests with at most sixteen recursive schemas each run the same number of rounds. */
const MIN_ROUNDS = 32;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
