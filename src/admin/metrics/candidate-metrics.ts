import { CHANGE_KINDS } from '../../traffic/compare-outcomes.ts';
import { UNKNOWN_REASONS } from '../../traffic/outcome.ts';
import { type CandidateReport, candidateTotals, reportCandidate } from '../candidate-report.ts';
import type { Metric, Sample } from './metric.ts';

/** Metrics of the candidate. They count from 0 for each candidate. All series exist from the start, so that alerts see the first change. */
export const CANDIDATE_METRICS: readonly Metric[] = [
  {
    name: 'candidate_info',
    type: 'gauge',
    help: '1 while a candidate is compared with the active manifest, with its SHA-256; 0 without one.',
    labels: ['hash'],
    *collect(context) {
      const { state, hash } = reportCandidate(context);
      yield { labels: { hash: hash ?? '' }, value: Number(state === 'active') };
    },
  },
  {
    name: 'candidate_requests_total',
    type: 'counter',
    help: 'Requests by the result of the comparison with the candidate: "same", "changed", "unknown", "skipped" (not compared), "error" (the comparison failed).',
    labels: ['result'],
    *collect(context) {
      for (const [result, value] of Object.entries(candidateTotals(reportCandidate(context))))
        yield { labels: { result }, value };
    },
  },
  countersBy('candidate_changes_total', 'Requests that the candidate decides differently, by kind of the change.', {
    label: 'kind',
    values: Object.keys(CHANGE_KINDS),
    read: ({ counts }) => counts.changed,
  }),
  countersBy(
    'candidate_unknown_total',
    'Requests for which the decision of the candidate is unknown, by reason (docs/candidate.md).',
    {
      label: 'reason',
      values: Object.keys(UNKNOWN_REASONS),
      read: ({ counts }) => counts.unknown,
    },
  ),
];

interface CounterSeries {
  readonly label: string;
  readonly values: readonly string[];
  readonly read: (report: CandidateReport) => ReadonlyMap<string, number>;
}

function countersBy(name: string, help: string, { label, values, read }: CounterSeries): Metric {
  return {
    name,
    type: 'counter',
    help,
    labels: [label],
    *collect(context): Generator<Sample> {
      const counts = read(reportCandidate(context));
      for (const value of values) yield { labels: { [label]: value }, value: counts.get(value) ?? 0 };
    },
  };
}
