import type { Source } from '../../manifest/source.ts';
import type { Problem } from '../../problem/problem.ts';
import type { ComparisonReport } from '../comparison.ts';

/** The first request of a change. */
export interface LiveWitness {
  readonly method: string;
  readonly path: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly id: string;
}

export interface CandidateReport {
  readonly state: 'none' | 'active' | 'rejected';
  readonly source: 'file' | 'request' | undefined;
  readonly file: string | undefined;
  readonly hash: string | undefined;
  readonly activeHash: string;
  readonly since: Date | undefined;
  readonly sample: number;
  readonly comparison: ComparisonReport<LiveWitness>;
  readonly skipped: ReadonlyMap<string, number>;
  readonly errors: number;
  readonly problems: readonly Problem[];
  readonly sources: readonly Source[];
}

export type CandidateOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'rejected'; readonly problems: readonly Problem[]; readonly sources: readonly Source[] }
  | { readonly kind: 'conflict'; readonly file: string }
  | { readonly kind: 'cancelled' };

/** Controls the candidate. */
export interface CandidateControl {
  readonly report: () => CandidateReport;
  readonly put: (text: string) => Promise<CandidateOutcome>;
  readonly discard: () => CandidateOutcome;
}
