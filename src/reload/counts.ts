import type { Cause, Reload } from './outcome.ts';

const KINDS = ['loaded', 'kept', 'unreadable'] as const satisfies readonly Reload['kind'][];
const CAUSES = ['change', 'poll', 'signal', 'request'] as const satisfies readonly Cause[];

export interface Count {
  readonly kind: (typeof KINDS)[number];
  readonly cause: Cause;
  readonly count: number;
}

/** How many attempts ended how, by what had brought them about. */
export class Counts {
  readonly #counts = new Map(KINDS.flatMap((kind) => CAUSES.map((cause) => [keyOf({ kind, cause }), 0])));

  count(reload: Reload): void {
    const key = keyOf(reload);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Those too that are none. */
  all(): Count[] {
    return [...this.#counts].map(([key, count]) => ({ ...JSON.parse(key), count }));
  }
}

function keyOf({ kind, cause }: Pick<Reload, 'kind' | 'cause'>): string {
  return JSON.stringify({ kind, cause });
}
