import type { AdminContext } from '../../src/admin/admin-endpoint.ts';
import type { Problem } from '../../src/engine/problem/problem.ts';
import { createSingleWorker } from '../../src/engine/shared-memory/worker-context.ts';
import type { CandidateStatus } from '../../src/traffic/candidate/candidate-control.ts';
import type { CandidateWitness } from '../../src/traffic/candidate/candidate-results.ts';
import type { ComparingWorkers } from '../../src/traffic/candidate/comparing-workers.ts';
import type { ChangeKind } from '../../src/traffic/compare-outcomes.ts';
import type { ChangeGroup, ComparisonReport } from '../../src/traffic/comparison.ts';
import type { OutcomeReport, UnknownReason } from '../../src/traffic/outcome.ts';

/** A control whose status a test sets. */
export type FakeCandidate = AdminContext['candidate'] & {
  status: CandidateStatus | undefined;
  /** The hashes of the activated plans, with their samples. */
  readonly activated: [hash: string, sample: number][];
};

/** Creates a control that compares nothing. */
export function fakeCandidate(status?: CandidateStatus): FakeCandidate {
  const fake: FakeCandidate = {
    status,
    activated: [],
    prepare: async () => undefined,
    activate: async ({ plan: { hash } }, source, sample) => {
      fake.activated.push([hash, sample]);
      fake.status = activeCandidate(comparisonOf([]), { hash, source, sample });
    },
    remove: async () => {
      const isPresent = fake.status !== undefined;
      fake.status = undefined;
      return isPresent;
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
export function changeGroup(group: Partial<ChangeGroup<CandidateWitness>> = {}): ChangeGroup<CandidateWitness> {
  const witnesses = [{ id: 'id-1', at: 1_700_000_000_000, method: 'GET', path: '/api/contacts', keyed: false }];
  return { kind: 'newly-refused', from: FORWARDED, to: REFUSED, requests: 3, callers: 2, witnesses, ...group };
}

/** Returns the counts of requests with these changes. */
export function comparisonOf(
  groups: readonly ChangeGroup<CandidateWitness>[],
  same = 0,
  unknown: Readonly<Partial<Record<UnknownReason, number>>> = {},
): ComparisonReport<CandidateWitness> {
  const changed = new Map<ChangeKind, number>();
  for (const { kind, requests } of groups) changed.set(kind, (changed.get(kind) ?? 0) + requests);
  const reasons = new Map(Object.entries(unknown) as [UnknownReason, number][]);
  const requests = [...changed.values(), ...reasons.values()].reduce((sum, count) => sum + count, same);
  return { requests, same, unknown: reasons, changed, groups, ungrouped: 0 };
}

/** Returns the status of a candidate with these changes. */
export function activeCandidate(
  report = comparisonOf([changeGroup()], 6, { body: 1 }),
  more: Partial<CandidateStatus> = {},
): CandidateStatus {
  return {
    source: 'request',
    hash: 'c'.repeat(64),
    activeHash: 'a'.repeat(64),
    since: new Date('2026-01-02T03:04:05.000Z'),
    sample: 1,
    counts: report,
    report: () => report,
    skipped: { queue: 0, 'earlier-plan': 0, sample: 0 },
    errors: 0,
    ...more,
  };
}

/** The file of `--candidate`, whose last reload a test sets. */
export interface WatchedFile {
  readonly path: string;
  lastOutcome: NonNullable<AdminContext['candidateFile']>['lastOutcome'];
}

/** Returns a file that does not load. */
export function rejectedFile(problems: readonly Problem[], text: string): WatchedFile {
  const [path, at] = ['next.yaml', new Date()];
  const sources = [{ path, text }];
  return { path, lastOutcome: { kind: 'rejected', cause: 'change', at, ms: 1, files: [path], problems, sources } };
}

/** Returns the other workers of a process that has none. */
export function createNoWorkers(): ComparingWorkers {
  const nothing = async () => undefined;
  return { context: createSingleWorker(), listen: nothing, prepare: nothing, compare: nothing, stop: nothing };
}
