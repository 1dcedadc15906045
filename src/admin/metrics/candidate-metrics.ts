import { CHANGE_KINDS } from '../../traffic/compare-outcomes.ts';
import { UNKNOWN_REASONS } from '../../traffic/outcome.ts';
import { candidateTotals, reportCandidate } from '../candidate-report.ts';
import { type MetricTable, metricBy } from './metric.ts';

/** Metrics of the candidate. They count from 0 for each candidate. All series exist from the start, so that alerts see the first change. */
export const CANDIDATE_METRICS: MetricTable = {
  candidate_info: metricBy(
    ['hash'],
    '1 while a candidate is compared with the active manifest, with its SHA-256; 0 without one.',
    (context) => {
      const { state, hash } = reportCandidate(context);
      return [[hash ?? '', Number(state === 'active')]];
    },
  ),
  candidate_requests_total: metricBy(
    ['result'],
    'Requests by the result of the comparison with the candidate: "same", "changed", "unknown", "skipped" (not compared), "error" (the comparison failed).',
    (context) => Object.entries(candidateTotals(reportCandidate(context))),
  ),
  candidate_changes_total: metricBy(
    ['kind'],
    'Requests that the candidate decides differently, by kind of the change.',
    (context) => countsOf(Object.keys(CHANGE_KINDS), reportCandidate(context).counts.changed),
  ),
  candidate_unknown_total: metricBy(
    ['reason'],
    'Requests for which the decision of the candidate is unknown, by reason (docs/candidate.md).',
    (context) => countsOf(Object.keys(UNKNOWN_REASONS), reportCandidate(context).counts.unknown),
  ),
};

function countsOf(names: readonly string[], counts: ReadonlyMap<string, number>): (readonly [string, number])[] {
  return names.map((name) => [name, counts.get(name) ?? 0]);
}
