import type { Exchange } from '../../engine/gateway/exchange.ts';
import { loggedPath } from '../../engine/log/logged-path.ts';
import { type ComparisonTotals, MAX_ALL_CALLERS, OutcomeComparison } from '../comparison.ts';

export type CandidateWitness = ReturnType<typeof createWitness>;

/** Describes a request that changes, as the access log does. It has no query, header or body. */
export function createWitness(exchange: Exchange) {
  const { id, request, target, plan, route } = exchange;
  const path = target && loggedPath(plan, request.method, target.path, route);
  // True if the path has surrogates in place of identifiers.
  const keyed = path !== target?.path;
  // The page and the command line also show a witness without a method, as earlier gateways sent it.
  return { id, at: Date.now(), method: request.method as string | null, path: path ?? null, keyed };
}

/** Requests that were not compared: too many waited, began with an earlier plan, or were not in the sample. */
export type UncomparedReason = 'queue' | 'earlier-plan' | 'sample';

/** The requests that were not compared. `worker` counts those whose worker ended before, and is missing if none did. */
type SkippedRequests = Readonly<Record<UncomparedReason, number>> & { readonly worker?: number };

/** Results as plain data that another thread can receive. */
export interface ResultBatch {
  readonly totals: ComparisonTotals<CandidateWitness>;
  readonly skipped: Readonly<Record<UncomparedReason, number>>;
  readonly errors: number;
  /** The first of the errors. */
  readonly error: string | undefined;
}

/** The results of the requests that were observed. Each one is compared, skipped, or an error. */
export class CandidateResults {
  /** The compared requests. */
  readonly comparison: OutcomeComparison<CandidateWitness>;
  readonly #onError: (error: string) => void;
  #skipped: Record<UncomparedReason, number> = { queue: 0, 'earlier-plan': 0, sample: 0 };
  #lost = 0;
  #errors = 0;
  #error: string | undefined;

  /** Calls `onError` with the first error, and limits the callers of all changes together. */
  constructor(onError: (error: string) => void = () => undefined, maxCallers = MAX_ALL_CALLERS) {
    this.#onError = onError;
    this.comparison = new OutcomeComparison(1, maxCallers);
  }

  get skipped(): SkippedRequests {
    return this.#lost === 0 ? this.#skipped : { ...this.#skipped, worker: this.#lost };
  }

  /** Requests for which the candidate failed. */
  get errors(): number {
    return this.#errors;
  }

  skip(reason: UncomparedReason): void {
    this.#skipped[reason] += 1;
  }

  fail(error: unknown): void {
    this.#addErrors(1, String(error));
  }

  /** Counts requests that a worker had observed when it ended, and whose results it had not sent. */
  addLost(requests: number): void {
    this.#lost += requests;
  }

  /** Returns all results since the last call, and begins to count from zero. Returns `undefined` if there are none. */
  take(): ResultBatch | undefined {
    const batch = { totals: this.comparison.take(), skipped: this.#skipped, errors: this.#errors, error: this.#error };
    this.#skipped = { queue: 0, 'earlier-plan': 0, sample: 0 };
    this.#errors = 0;
    this.#error = undefined;
    return requestsOf(batch) === 0 ? undefined : batch;
  }

  /** Adds the results of another worker. */
  merge({ totals, skipped, errors, error = '' }: ResultBatch): void {
    this.comparison.merge(totals);
    for (const [reason, count] of Object.entries(skipped)) this.#skipped[reason as UncomparedReason] += count;
    this.#addErrors(errors, error);
  }

  #addErrors(count: number, error: string): void {
    if (count > 0 && this.#errors === 0) {
      this.#error = error;
      this.#onError(error);
    }
    this.#errors += count;
  }
}

export function requestsOf({ totals, skipped, errors }: ResultBatch): number {
  return totals.requests + skipped.queue + skipped['earlier-plan'] + skipped.sample + errors;
}
