import type { SchemaRoot } from '../../engine/schema/schema-bundle.ts';
import { targetOf } from './evaluate-schema.ts';
import { digest, digestOf, referencesFrom, referencesIn } from './schema-content.ts';

/** Serializes a normal form. */
type Normalize = (schema: unknown, keepsEvaluated: boolean) => string;

/** The references of a root that lead back to themselves, with a text for each that is equal for equal schemas. */
export class RecursiveSchemas {
  readonly #root: SchemaRoot;
  /** The texts of the last round. They stand for the schemas while the next texts are computed. */
  readonly #texts = new Map<string, string>();
  #isReady = false;
  /** The normal forms of schemas, by their place. They are valid as long as no text changes. */
  normalForms = new WeakMap<object, Map<string, unknown>>();

  constructor(root: SchemaRoot) {
    this.#root = root;
  }

  isRecursive(reference: string): boolean {
    return referencesFrom(this.#root, reference).has(reference);
  }

  /** Returns the text of a schema, or a text that also differs if the schema evaluates other members or items. */
  textOf(reference: string, keepsEvaluated: boolean): string {
    return this.#texts.get(`${keepsEvaluated} ${reference}`) ?? '';
  }

  /** Computes the texts of the recursive schemas that a schema reaches. */
  prepare(schema: unknown, normalize: Normalize): void {
    if (this.#isReady) return;
    const names = referencesIn(schema).flatMap((reference) => [reference, ...referencesFrom(this.#root, reference)]);
    const pending = [...new Set(names)].filter((name) => this.isRecursive(name) && !this.#isKnown(name));
    // A schema reaches more references than those that it depends on, so these come first.
    pending.sort((one, other) => referencesFrom(this.#root, one).size - referencesFrom(this.#root, other).size);
    this.#isReady = true;
    try {
      for (const name of pending) if (!this.#isKnown(name)) this.#computeTexts(this.#groupOf(name), normalize);
    } finally {
      this.#isReady = false;
    }
  }

  /**
   * Computes the texts of schemas that lead to each other. Each round unfolds every schema once more, as when the states of
   * an automaton are minimized: after as many rounds as there are schemas, equal texts mean equal schemas.
   */
  #computeTexts(group: readonly string[], normalize: Normalize): void {
    const setTexts = (textOf: (name: string, keepsEvaluated: boolean) => string) => {
      const texts = group.flatMap((name) =>
        [false, true].map((keeps) => [`${keeps} ${name}`, textOf(name, keeps)] as const),
      );
      for (const [key, text] of texts) this.#texts.set(key, text);
      this.normalForms = new WeakMap();
    };
    const asWritten = () => setTexts((name) => `as written ${digestOf(this.#root, name)}`);
    const rounds = Math.max(MIN_ROUNDS, 2 ** Math.ceil(Math.log2(2 * group.length)));
    const characters = group.reduce((sum, name) => sum + JSON.stringify(targetOf(this.#root, name)).length, 0);
    if (rounds * characters > MAX_CHARACTERS) {
      asWritten();
      return;
    }
    setTexts(() => '');
    try {
      for (let round = 0; round < rounds; round += 1)
        setTexts((name, keepsEvaluated) => digest(normalize(targetOf(this.#root, name), keepsEvaluated)));
    } catch (error) {
      // The texts of a round in the middle would make different schemas equal.
      asWritten();
      throw error;
    }
  }

  #isKnown(reference: string): boolean {
    return this.#texts.has(`false ${reference}`);
  }

  /** Returns the references that lead to a reference and that it leads to. */
  #groupOf(reference: string): string[] {
    return [...referencesFrom(this.#root, reference)].filter((name) => referencesFrom(this.#root, name).has(reference));
  }
}

/** Groups of at most sixteen schemas run the same number of rounds, so that two ways to divide a schema are equal. */
const MIN_ROUNDS = 32;
/** The characters that all rounds of a group may normalize. More of them would take seconds. */
const MAX_CHARACTERS = 500_000;
