import type { ChangeKind } from '../../src/candidate/compare-outcomes.ts';
import type { ChangeGroup, ComparisonReport } from '../../src/candidate/comparison.ts';
import type {
  CandidateControl,
  CandidateOutcome,
  CandidateReport,
  LiveWitness,
} from '../../src/candidate/live/candidate-control.ts';
import type { OutcomeReport } from '../../src/candidate/outcome.ts';

/** A control whose report and whose outcome of requests a test sets. */
export interface FakeCandidate extends CandidateControl {
  current: CandidateReport;
  outcome: CandidateOutcome;
  /** The manifests that were put. */
  readonly texts: string[];
}

/** The report without a candidate. */
export const NO_CANDIDATE: CandidateReport = {
  state: 'none',
  source: undefined,
  file: undefined,
  hash: undefined,
  activeHash: 'a'.repeat(64),
  since: undefined,
  sample: 1,
  comparison: { requests: 0, same: 0, unknown: new Map(), changed: new Map(), groups: [], ungrouped: 0 },
  skipped: new Map(),
  errors: 0,
  problems: [],
  sources: [],
};

/** Creates a control without a candidate. */
export function fakeCandidate(current = NO_CANDIDATE): FakeCandidate {
  const fake: FakeCandidate = {
    current,
    outcome: { kind: 'accepted' },
    texts: [],
    report: () => fake.current,
    put: async (text) => {
      fake.texts.push(text);
      return fake.outcome;
    },
    discard: () => {
      if (fake.outcome.kind === 'accepted') fake.current = NO_CANDIDATE;
      return fake.outcome;
    },
  };
  return fake;
}

const FORWARDED: OutcomeReport = {
  outcome: 'forwarded',
  route: 'contacts',
  upstream: 'up',
  status: null,
  refusal: null,
  reason: null,
};

export const REFUSED: OutcomeReport = {
  outcome: 'refused',
  route: 'contacts',
  upstream: null,
  status: 403,
  refusal: 'role_not_allowed',
  reason: 'role_not_allowed',
};

/** Returns a group of changed requests. */
export function changeGroup(group: Partial<ChangeGroup<LiveWitness>> = {}): ChangeGroup<LiveWitness> {
  const witness = { method: 'GET', path: '/api/contacts', at: 1_700_000_000_000, id: 'id-1' };
  return {
    kind: 'newly-refused',
    from: FORWARDED,
    to: REFUSED,
    requests: 3,
    callers: 2,
    witnesses: [witness],
    ...group,
  };
}

/** Returns the counts of requests with these changes. */
export function comparisonOf(
  groups: readonly ChangeGroup<LiveWitness>[],
  same = 0,
  unknown: ComparisonReport<LiveWitness>['unknown'] = new Map(),
): ComparisonReport<LiveWitness> {
  const changed = new Map<ChangeKind, number>();
  for (const { kind, requests } of groups) changed.set(kind, (changed.get(kind) ?? 0) + requests);
  const total = [...changed.values(), ...unknown.values()].reduce((sum, count) => sum + count, same);
  return { requests: total, same, unknown, changed, groups, ungrouped: 0 };
}

/** Returns the report of a candidate with these changes. */
export function activeCandidate(
  comparison = comparisonOf([changeGroup()], 6, new Map([['body', 1]])),
  more: Partial<CandidateReport> = {},
): CandidateReport {
  const since = new Date('2026-01-02T03:04:05.000Z');
  return { ...NO_CANDIDATE, state: 'active', source: 'request', hash: 'c'.repeat(64), since, comparison, ...more };
}
