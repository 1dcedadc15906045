import type { Source } from '../../manifest/source.ts';
import type { Problem } from '../../problem/problem.ts';

/** The kinds of changed decisions. */
export const CHANGE_KINDS = [
  'newly-refused',
  'newly-allowed',
  'other-route',
  'other-upstream',
  'other-status',
  'other-message',
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

export const UNKNOWN_REASONS = ['body_not_read', 'limit_counter', 'claims'] as const;
export type UnknownReason = (typeof UNKNOWN_REASONS)[number];

/** A decision of one plan about a request. */
export interface DecisionSummary {
  readonly outcome: 'forwarded' | 'refused' | 'responded';
  readonly route: string | undefined;
  readonly upstream: string | undefined;
  readonly status: number | undefined;
  readonly refusal: string | undefined;
  readonly reason: string | undefined;
}

/** Requests with the same change. */
export interface ChangeGroup {
  readonly kind: ChangeKind;
  readonly route: string | undefined;
  readonly from: DecisionSummary;
  readonly to: DecisionSummary;
  readonly requests: number;
  readonly callers: number;
  readonly witness: { readonly method: string; readonly path: string; readonly at: number; readonly id: string };
}

export interface CandidateReport {
  readonly state: 'none' | 'active' | 'rejected';
  readonly source: 'file' | 'request' | undefined;
  readonly file: string | undefined;
  readonly hash: string | undefined;
  readonly activeHash: string;
  readonly since: Date | undefined;
  readonly sample: number;
  readonly requests: number;
  readonly same: number;
  readonly unknown: ReadonlyMap<UnknownReason, number>;
  readonly kinds: ReadonlyMap<ChangeKind, number>;
  readonly groups: readonly ChangeGroup[];
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
  /** False if the candidate is a file of the command line. */
  readonly discard: () => CandidateOutcome;
}
