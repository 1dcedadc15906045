import { hash } from 'node:crypto';
import type { Exchange, ExchangeObserver } from '../../engine/gateway/exchange.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { WorkerContext } from '../../engine/shared-memory/worker-context.ts';
import { compareOutcomes } from '../compare-outcomes.ts';
import { type CandidateLimits, createCandidateLimits } from './candidate-limits.ts';
import { candidateOutcome, servedOutcome } from './candidate-outcome.ts';
import { CandidateRequest } from './candidate-request.ts';
import { type CandidateResults, createWitness, type UncomparedReason } from './candidate-results.ts';
import type { ComparisonRules } from './comparing-workers.ts';
import { type PlanPair, pairPlans } from './plan-pair.ts';
import { KeptBody, SharedComparison } from './shared-comparison.ts';

interface LiveCandidateOptions {
  readonly active: Plan;
  readonly candidate: Plan;
  readonly rules: ComparisonRules;
  /** The worker whose requests are compared, with the memory of the comparison. */
  readonly worker: WorkerContext;
  /** Receives the results of the requests of this worker. */
  readonly results: CandidateResults;
}

/** Requests of one worker that wait to be compared, and that wait for a token or a validation. */
const MAX_QUEUED = 1_000;
const MAX_PENDING = 64;
/** The longest time that comparing delays the requests of one turn of the event loop. */
const SLICE_MS = 1;

/** Compares each exchange that ends with what the candidate would have done. It sends nothing and delays no response. */
export class LiveCandidate implements ExchangeObserver {
  readonly pair: PlanPair;
  readonly #rules: ComparisonRules;
  readonly #results: CandidateResults;
  readonly #shared: SharedComparison;
  readonly #limits: CandidateLimits;
  #queue: Exchange[] = [];
  #pending = 0;
  #isScheduled = false;
  #isClosed = false;

  constructor({ active, candidate, rules, worker, results }: LiveCandidateOptions) {
    this.pair = pairPlans(active, candidate);
    this.#rules = rules;
    this.#results = results;
    this.#shared = new SharedComparison(worker, candidate.rateLimits.length);
    this.#limits = createCandidateLimits(this.pair, worker, this.#shared, rules.sample);
  }

  /** The bytes of bodies that are kept now. */
  get keptBytes(): number {
    return this.#shared.keptBytes;
  }

  /** Records which limits of the active plan have counted requests before. Call it once all workers compare. */
  recordHistory(counters: Parameters<CandidateLimits['recordHistory']>[0]): void {
    this.#limits.recordHistory(counters);
  }

  /** Gives back what an ended worker held, which had sent the results of `received` requests. */
  forgetWorker(index: number, received: number): void {
    this.#limits.forgetWorker(index);
    const lost = this.#shared.forget(index) - received;
    if (lost === 0) return;
    this.#results.addLost(lost);
    this.#shared.markMissingRequests();
  }

  copyBody(exchange: Exchange): KeptBody | undefined {
    const { request, target } = exchange;
    try {
      if (target === undefined || this.#skipReason(exchange) !== undefined || this.#isCertainlySame(exchange))
        return undefined;
      const body = this.pair.candidate.router.match(request.method ?? '', target.path)?.body;
      return body && new KeptBody(this.#shared, body.validate !== undefined || body.streamValidatorFor !== undefined);
    } catch {
      // The comparison will fail with the same error, and reports it.
      return undefined;
    }
  }

  observe(exchange: Exchange): void {
    this.#shared.countObserved();
    try {
      if (this.#isQueued(exchange)) return;
    } catch (error) {
      this.#results.fail(error);
    }
    exchange.bodyCopy?.release();
  }

  /** Ends the comparison. Requests that wait are not compared. */
  close(): void {
    this.#isClosed = true;
    for (const { bodyCopy } of this.#queue.splice(0)) bodyCopy?.release();
  }

  /** Queues the exchange, unless it is skipped or its outcome is known at once. Returns true if it is queued. */
  #isQueued(exchange: Exchange): boolean {
    const skipReason = this.#skipReason(exchange);
    if (skipReason !== undefined) this.#results.skip(skipReason);
    else if (this.#isCertainlySame(exchange)) this.#results.comparison.addSame();
    else if (this.#queue.length >= MAX_QUEUED) {
      this.#results.skip('queue');
      this.#shared.markMissingRequests();
    } else {
      this.#queue.push(exchange);
      this.#schedule();
      return true;
    }
    return false;
  }

  #skipReason({ plan, id }: Exchange): UncomparedReason | undefined {
    if (plan !== this.pair.active) return 'earlier-plan';
    const { sample } = this.#rules;
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
      const request = new CandidateRequest(exchange, this.pair, this.#limits, this.#rules.maySendTokens);
      const to = await candidateOutcome(request, exchange, this.pair);
      this.#limits.settle(request, to);
      this.#results.comparison.add(
        compareOutcomes(from, to),
        1,
        () => exchange.principal?.subject ?? this.#hash(exchange.clientAddress, 16),
        () => createWitness(exchange),
      );
    } catch (error) {
      this.#results.fail(error);
    } finally {
      exchange.bodyCopy?.release();
      this.#pending -= 1;
      this.#schedule();
    }
  }

  #hash(text: string, digits: number): string {
    return hash('sha256', this.#rules.salt + text).slice(0, digits);
  }
}
