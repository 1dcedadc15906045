import type { Gateway } from '../../gateway/gateway.ts';
import type { Log } from '../../log/log.ts';
import type { Plan } from '../../plan/plan.ts';
import type { ComparisonCounts, ComparisonReport } from '../comparison.ts';
import { type CandidateWitness, LiveCandidate, type SkipReason } from './live-candidate.ts';

/** `file`: the file of `run --candidate`, which is watched; `request`: a manifest that the admin API received. */
export type CandidateSource = 'file' | 'request';

/** The candidate and its counts so far. */
export interface CandidateStatus {
  readonly source: CandidateSource;
  /** SHA-256 of the manifests, in hex. */
  readonly hash: string;
  readonly activeHash: string;
  /** The counts begin again when one of the two plans is replaced. */
  readonly since: Date;
  /** The share of the requests that are compared, from 0 to 1. */
  readonly sample: number;
  readonly counts: ComparisonCounts;
  /** Returns the counts with the changes in groups. */
  readonly report: () => ComparisonReport<CandidateWitness>;
  readonly skipped: Readonly<Record<SkipReason, number>>;
  /** Requests for which the candidate failed. */
  readonly errors: number;
}

/** How often changes are logged. */
const LOG_INTERVAL_MS = 60_000;

interface CurrentCandidate {
  readonly live: LiveCandidate;
  readonly source: CandidateSource;
  readonly sample: number;
  readonly since: Date;
  loggedChanges: number;
}

/** Compares the requests of a gateway with a candidate, as long as there is one. */
export class CandidateControl {
  readonly #gateway: Pick<Gateway, 'observe' | 'plan'>;
  readonly #logger: Log['logger'];
  #current: CurrentCandidate | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(gateway: Pick<Gateway, 'observe' | 'plan'>, logger: Log['logger']) {
    this.#gateway = gateway;
    this.#logger = logger;
  }

  /** `undefined` without a candidate. */
  get status(): CandidateStatus | undefined {
    if (this.#current === undefined) return undefined;
    const { live, source, sample, since } = this.#current;
    const { active, candidate } = live.pair;
    const { comparison, skipped, errors } = live;
    const plans = { hash: candidate.hash, activeHash: active.hash };
    const report = () => comparison.report();
    return { source, ...plans, since, sample, counts: comparison.counts, report, skipped, errors };
  }

  /** Begins to compare requests with this plan. @param sample the share of the requests, from 0 to 1 */
  activate(candidate: Plan, source: CandidateSource, sample: number): void {
    const { plan: active } = this.#gateway;
    const live = new LiveCandidate({
      active,
      candidate,
      sample,
      // A manifest that the admin API received must not be able to send tokens to an address of its own.
      maySendTokens: source === 'file',
      onError: (error) => this.#logger.error({ reason: String(error) }, 'the candidate failed to compare a request'),
    });
    if (source === 'file') void candidate.auth?.verifier.prepare();
    else this.#logger.info({ hash: candidate.hash, sample }, 'the gateway compares requests with a candidate');
    this.#current = { live, source, sample, since: new Date(), loggedChanges: 0 };
    this.#timer ??= setInterval(() => this.#logChanges(), LOG_INTERVAL_MS).unref();
    this.#gateway.observe(live);
  }

  /** Compares with the plan that is active now. Call it after each activation. */
  rebase(): void {
    if (this.#current === undefined) return;
    const { live, source, sample } = this.#current;
    this.activate(live.pair.candidate, source, sample);
  }

  /** Ends the comparison. Returns false if there is no candidate. */
  remove(): boolean {
    const isPresent = this.#current !== undefined;
    this.#current = undefined;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#gateway.observe(undefined);
    return isPresent;
  }

  #logChanges(): void {
    const current = this.#current;
    if (current === undefined) return;
    const { comparison, pair } = current.live;
    const { changes } = comparison;
    if (changes === current.loggedChanges) return;
    current.loggedChanges = changes;
    const { requests, changed } = comparison.counts;
    this.#logger.info(
      { hash: pair.candidate.hash, requests, changed: Object.fromEntries(changed) },
      'the candidate changes requests',
    );
  }
}
