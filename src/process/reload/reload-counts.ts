import type { ReloadCause, ReloadOutcome } from './reload-outcome.ts';

const KINDS = ['accepted', 'rejected', 'unreadable'] as const satisfies readonly ReloadOutcome['kind'][];
const CAUSES = ['change', 'poll', 'signal', 'request'] as const satisfies readonly ReloadCause[];

export interface ReloadCount {
  readonly kind: (typeof KINDS)[number];
  readonly cause: ReloadCause;
  readonly count: number;
}

/** Counts reloads by outcome and cause. */
export class ReloadCounts {
  readonly #counts = new Map(KINDS.flatMap((kind) => CAUSES.map((cause) => [keyOf({ kind, cause }), 0])));

  add(reload: ReloadOutcome): void {
    const key = keyOf(reload);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Returns every combination, including those with a count of zero, so that each metric series exists from the start. */
  all(): ReloadCount[] {
    return [...this.#counts].map(([key, count]) => ({ ...JSON.parse(key), count }));
  }
}

function keyOf({ kind, cause }: Pick<ReloadOutcome, 'kind' | 'cause'>): string {
  return JSON.stringify({ kind, cause });
}
