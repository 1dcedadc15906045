import { hash, randomBytes } from 'node:crypto';
import type { Exchange } from '../../gateway/exchange.ts';
import type { BodyCopy, ExchangeObserver } from '../../gateway/exchange-observer.ts';
import type { LocalCounters } from '../../gateway/rate-limits/local-counters.ts';
import { loggedPathOf } from '../../gateway/telemetry/request-record.ts';
import type { Plan } from '../../plan/plan.ts';
import { compareOutcomes } from '../compare-outcomes.ts';
import { OutcomeComparison } from '../comparison.ts';
import { UnknownFact } from '../outcome.ts';
import { CandidateLimits } from './candidate-limits.ts';
import { CandidateRequest } from './candidate-request.ts';
import { KeptBodies, KeptBody } from './kept-body.ts';
import { candidateOutcome, servedOutcome } from './outcomes.ts';
import { type PlanPair, pairPlans } from './plan-pair.ts';

/** A request that changes. It has no query, header or body. */
export interface CandidateWitness {
  /** The request id, as in the access log. */
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly method: string | null;
  /** As in the access log. */
  readonly path: string | null;
}

/** Requests that were not compared: too many waited, began with an earlier plan, or were not in the sample. */
export type UncomparedReason = 'queue' | 'earlier-plan' | 'sample';

export interface LiveCandidateOptions {
  readonly active: Plan;
  readonly candidate: Plan;
  /** The share of the requests to compare, from 0 to 1. */
  readonly sample: number;
  /** False if the tokens of the requests must not leave the process. */
  readonly maySendTokens: boolean;
  /** The counters of the active plan. */
  readonly counters: Pick<LocalCounters, 'tables'>;
  /** Called with the first error of the candidate. */
  readonly onError: (error: unknown) => void;
}

/** Requests that wait to be compared, and that wait for a token or a validation. */
const MAX_QUEUED = 1_000;
const MAX_PENDING = 64;
/** The longest time that comparing delays the requests of one turn of the event loop. */
const SLICE_MS = 1;
const DECISION_TIMEOUT_MS = 3_000;

/** Compares each exchange that ends with what the candidate would have done. It sends nothing and delays no response. */
export class LiveCandidate implements ExchangeObserver {
  readonly comparison = new OutcomeComparison<CandidateWitness>();
  readonly skipped: Record<UncomparedReason, number> = { queue: 0, 'earlier-plan': 0, sample: 0 };
  /** Requests for which the candidate failed. */
  errors = 0;
  readonly pair: PlanPair;
  readonly #options: LiveCandidateOptions;
  readonly #limits: CandidateLimits;
  readonly #bodies = new KeptBodies();
  readonly #salt = randomBytes(16).toString('base64url');
  #queue: Exchange[] = [];
  #pending = 0;
  #isScheduled = false;
  #isClosed = false;

  constructor(options: LiveCandidateOptions) {
    this.#options = options;
    this.pair = pairPlans(options.active, options.candidate);
    this.#limits = new CandidateLimits(this.pair, options.counters);
  }

  /** The bytes of bodies that are kept now. */
  get keptBytes(): number {
    return this.#bodies.usedBytes;
  }

  copyBody(exchange: Exchange): BodyCopy | undefined {
    const { request, target } = exchange;
    try {
      if (target === undefined || this.#skipReason(exchange) !== undefined || this.#isCertainlySame(exchange))
        return undefined;
      const body = this.pair.candidate.router.match(request.method ?? '', target.path)?.body;
      return body && new KeptBody(this.#bodies, body.validate !== undefined || body.streamValidatorFor !== undefined);
    } catch {
      // The comparison will fail with the same error, and reports it.
      return undefined;
    }
  }

  observe(exchange: Exchange): void {
    try {
      if (this.#isQueued(exchange)) return;
    } catch (error) {
      this.#fail(error);
    }
    exchange.bodyCopy?.release();
  }

  /** Ends the comparison. Requests that wait are not compared. */
  close(): void {
    this.#isClosed = true;
    for (const { bodyCopy } of this.#queue.splice(0)) bodyCopy?.release();
  }

  #fail(error: unknown): void {
    this.errors += 1;
    if (this.errors === 1) this.#options.onError(error);
  }

  /** Queues the exchange, unless it is skipped or its outcome is known at once. Returns true if it is queued. */
  #isQueued(exchange: Exchange): boolean {
    const skipReason = this.#skipReason(exchange);
    if (skipReason !== undefined) this.skipped[skipReason] += 1;
    else if (this.#isCertainlySame(exchange)) this.comparison.addSame();
    else if (this.#queue.length >= MAX_QUEUED) this.skipped.queue += 1;
    else {
      this.#queue.push(exchange);
      this.#schedule();
      return true;
    }
    return false;
  }

  #skipReason({ plan, id }: Exchange): 'earlier-plan' | 'sample' | undefined {
    if (plan !== this.pair.active) return 'earlier-plan';
    const { sample } = this.#options;
    return sample < 1 && Number.parseInt(this.#hash(id, 8), 16) >= sample * 2 ** 32 ? 'sample' : undefined;
  }

  /** True if the candidate has an equal route for the request, which is the case for most requests. */
  #isCertainlySame({ route, target, request }: Exchange): boolean {
    if (route === undefined || target === undefined || !this.pair.isHeadEqual) return false;
    return this.pair.isEqualRoute(route, this.pair.candidate.router.match(request.method ?? '', target.path));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed || this.#queue.length === 0 || this.#pending >= MAX_PENDING) return;
    this.#isScheduled = true;
    setImmediate(() => this.#compareSlice());
  }

  #compareSlice(): void {
    this.#isScheduled = false;
    const queue = this.#queue;
    const end = performance.now() + SLICE_MS;
    let count = 0;
    while (count < queue.length && this.#pending < MAX_PENDING && performance.now() < end) {
      void this.#compare(queue[count] as Exchange);
      count += 1;
    }
    this.#queue = queue.slice(count);
    this.#schedule();
  }

  async #compare(exchange: Exchange): Promise<void> {
    this.#pending += 1;
    try {
      const from = servedOutcome(exchange);
      const { maySendTokens } = this.#options;
      const request = new CandidateRequest({
        exchange,
        pair: this.pair,
        limits: this.#limits,
        isEachCounted: this.#isEachCounted,
        maySendTokens,
      });
      const to = await candidateOutcome(request, exchange, this.pair, withTimeout);
      this.#limits.settle(request, to);
      this.comparison.add(
        compareOutcomes(from, to),
        1,
        () => exchange.principal?.subject ?? this.#hash(exchange.clientAddress, 16),
        () => witnessOf(exchange),
      );
    } catch (error) {
      this.#fail(error);
    } finally {
      exchange.bodyCopy?.release();
      this.#pending -= 1;
      this.#schedule();
    }
  }

  get #isEachCounted(): boolean {
    return this.#options.sample === 1 && this.skipped.queue === 0;
  }

  #hash(text: string, digits: number): string {
    return hash('sha256', this.#salt + text).slice(0, digits);
  }
}

function witnessOf(exchange: Exchange): CandidateWitness {
  return {
    id: exchange.id,
    at: Date.now(),
    method: exchange.request.method ?? null,
    path: loggedPathOf(exchange) ?? null,
  };
}

/** Waits for a step of the decision. Rejects with `UnknownFact` if it takes too long. */
async function withTimeout(work: Promise<unknown> & { readonly cancel?: () => void }): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((_resolve, reject) => {
    timer = setTimeout(() => {
      work.cancel?.();
      reject(new UnknownFact('timeout'));
    }, DECISION_TIMEOUT_MS).unref();
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
