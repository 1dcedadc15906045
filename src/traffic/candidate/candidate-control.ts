import { randomBytes } from 'node:crypto';
import type { Gateway } from '../../engine/gateway/gateway.ts';
import type { Log } from '../../engine/log/log.ts';
import { SharedMemory } from '../../engine/shared-memory/worker-context.ts';
import { increase } from '../comparison.ts';
import { CandidateResults, type ResultBatch, requestsOf } from './candidate-results.ts';
import type { CandidateManifest, ComparingWorkers } from './comparing-workers.ts';
import { LiveCandidate } from './live-candidate.ts';

/** `file`: the file of `run --candidate`, which is watched; `request`: a manifest that the admin API received. */
type CandidateSource = 'file' | 'request';

/** The candidate and its counts so far. */
export type CandidateStatus = NonNullable<CandidateControl['status']>;

/** How often changes are logged. */
const LOG_INTERVAL_MS = 60_000;

/** The gateway of the main thread, whose requests are compared. */
type CandidateGateway = Pick<Gateway, 'observe' | 'plan' | 'rateLimiter'>;

interface CurrentComparison {
  readonly id: number;
  readonly candidate: CandidateManifest;
  /** Compares the requests of the main thread. */
  readonly live: LiveCandidate;
  /** The results of all workers. */
  readonly results: CandidateResults;
  readonly source: CandidateSource;
  readonly sample: number;
  readonly since: Date;
  /** The requests whose results were received, by the index of the worker. */
  readonly received: Map<number, number>;
  loggedChanges: number;
}

/** Compares the requests of all workers with a candidate, as long as there is one. */
export class CandidateControl {
  readonly #gateway: CandidateGateway;
  readonly #logger: Log['logger'];
  readonly #workers: ComparingWorkers;
  #lastId = 0;
  #current: CurrentComparison | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(gateway: CandidateGateway, logger: Log['logger'], workers: ComparingWorkers) {
    this.#gateway = gateway;
    this.#logger = logger;
    this.#workers = workers;
    workers.listen({
      addResults: (index, id, batch) => this.#addResults(index, id, batch),
      forgetWorker: (index) => this.#forgetWorker(index),
    });
  }

  get status() {
    if (this.#current === undefined) return undefined;
    const { live, results, source, sample, since } = this.#current;
    const { comparison, skipped, errors } = results;
    return {
      source,
      /** SHA-256 of the manifests, in hex. */
      hash: live.pair.candidate.hash,
      activeHash: live.pair.active.hash,
      /** The counts begin again when one of the two plans is replaced. */
      since,
      /** The share of the requests that are compared, from 0 to 1. */
      sample,
      counts: comparison.counts,
      /** Returns the counts with the changes in groups. */
      report: () => comparison.report(),
      skipped,
      /** Requests for which the candidate failed. */
      errors,
    };
  }

  /** Does everything that can fail before the activation. Rejects if a worker cannot compile the candidate. */
  prepare(candidate: CandidateManifest): Promise<void> {
    return this.#workers.prepare(candidate);
  }

  /** Begins to compare a share of the requests with a prepared plan. Resolves once all workers compare them; never rejects. */
  async activate(candidate: CandidateManifest, source: CandidateSource, sample: number): Promise<void> {
    const { plan, compileInput } = candidate;
    if (source === 'file') for (const method of plan.auth?.verifier.methods ?? []) void method.prepare();
    else this.#logger.info({ hash: plan.hash, sample }, 'the gateway compares requests with a candidate');
    // A manifest that the admin API received must not be able to send tokens to an address of its own.
    const rules = { sample, maySendTokens: source === 'file', salt: randomBytes(16).toString('base64url') };
    const { plan: active, rateLimiter } = this.#gateway;
    const worker = { ...this.#workers.context, memory: new SharedMemory() };
    const results = new CandidateResults((reason) =>
      this.#logger.error({ reason }, 'the candidate failed to compare a request'),
    );
    const live = new LiveCandidate({ active, candidate: plan, rules, worker, results });
    this.#current?.live.close();
    this.#lastId += 1;
    const id = this.#lastId;
    const received = new Map<number, number>();
    this.#current = { id, candidate, live, results, source, sample, since: new Date(), received, loggedChanges: 0 };
    this.#timer ??= setInterval(() => this.#logChanges(), LOG_INTERVAL_MS).unref();
    this.#gateway.observe(live);
    const { buffers } = worker.memory;
    await this.#workers.compare(compileInput, { id, activeHash: active.hash, rules, buffers });
    live.recordHistory(rateLimiter.local);
  }

  /** Compares with the plan that is active now. Call it after each activation. Never rejects. */
  async rebase(): Promise<void> {
    if (this.#current === undefined) return;
    const { candidate, source, sample } = this.#current;
    await this.activate(candidate, source, sample);
  }

  /** Ends the comparison. Resolves once no worker compares, with false if there is no candidate. */
  async remove(): Promise<boolean> {
    const isPresent = this.#current !== undefined;
    this.#current?.live.close();
    this.#current = undefined;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#gateway.observe(undefined);
    await this.#workers.stop();
    return isPresent;
  }

  #addResults(index: number, id: number, batch: ResultBatch): void {
    // The worker sent the results of an earlier comparison before it received this one.
    if (this.#current?.id !== id) return;
    const { results, received } = this.#current;
    results.merge(batch);
    increase(received, index, requestsOf(batch));
  }

  #forgetWorker(index: number): void {
    if (this.#current === undefined) return;
    const { live, received } = this.#current;
    live.forgetWorker(index, received.get(index) ?? 0);
    received.delete(index);
  }

  #logChanges(): void {
    const current = this.#current;
    if (current === undefined) return;
    const { comparison } = current.results;
    const { changes } = comparison;
    if (changes === current.loggedChanges) return;
    current.loggedChanges = changes;
    const { requests, changed } = comparison.counts;
    this.#logger.info(
      { hash: current.live.pair.candidate.hash, requests, changed: Object.fromEntries(changed) },
      'the candidate changes requests',
    );
  }
}
