import type { ChangeGroup } from '../../candidate/comparison.ts';
import type { CandidateReport, LiveWitness } from '../../candidate/live/candidate-control.ts';
import { decodeText } from '../../manifest/decode-text.ts';
import { reportProblems } from '../../reload/reload-report.ts';
import {
  type AdminContext,
  type AdminRequest,
  type AdminResponse,
  jsonResponse,
  largeJsonResponse,
  problemDetails,
} from '../admin-endpoint.ts';
import { openJsonObject, streamJsonWithList } from '../json-stream.ts';

/** Reports how the decisions of the candidate differ from those of the active plan. */
export function candidate(_request: AdminRequest, { candidate }: AdminContext): AdminResponse {
  return largeJsonResponse(streamReport(candidate.report()));
}

/** Makes the manifest in the body the candidate, and responds with the report. A manifest with problems changes nothing. */
export async function putCandidate({ body }: AdminRequest, context: AdminContext): Promise<AdminResponse> {
  const { candidate, isStopping } = context;
  if (body.length === 0)
    return problemDetails(400, 'the body is empty; send a manifest, for example with: curl -T next.yaml');
  const outcome = isStopping() ? STOPPED : await candidate.put(decodeText(body));
  if (outcome.kind === 'cancelled')
    return problemDetails(
      503,
      'the gateway is stopping and accepts no candidate; send the request to another instance',
    );
  if (outcome.kind === 'conflict') return fileConflict(outcome.file);
  if (outcome.kind === 'accepted') return largeJsonResponse(streamReport(candidate.report()));
  const problems = reportProblems(outcome);
  return jsonResponse({ result: outcome.kind, problems, problem_count: outcome.problems.length }, 422);
}

const STOPPED = { kind: 'cancelled' } as const;

/** Discards the candidate, and responds with the report. */
export function discardCandidate(_request: AdminRequest, { candidate }: AdminContext): AdminResponse {
  const outcome = candidate.discard();
  return outcome.kind === 'conflict' ? fileConflict(outcome.file) : largeJsonResponse(streamReport(candidate.report()));
}

function fileConflict(file: string): AdminResponse {
  return problemDetails(
    409,
    `the candidate is the file "${file}" of --candidate; change the file, or restart the gateway without the option`,
  );
}

/** Returns the number of requests by the result of their comparison. */
export function candidateTotals({ comparison, skipped, errors }: CandidateReport) {
  const { same, changed, unknown } = comparison;
  return { same, changed: sumOf(changed), unknown: sumOf(unknown), skipped: sumOf(skipped), error: errors };
}

/** Returns the member of /status that describes the candidate. */
export function candidateSummary({ candidate }: AdminContext) {
  const report = candidate.report();
  const { state, source, file, hash, since, requests } = headOf(report);
  return { state, source, file, hash, since, requests, changed: sumOf(report.comparison.changed) };
}

/** The body of GET /candidate. */
export type CandidateResponse = ReturnType<typeof headOf> & {
  readonly changed: ReturnType<typeof changedOf> & { readonly groups: readonly ReturnType<typeof groupFields>[] };
};

/** Yields the JSON of a `CandidateResponse` in chunks: a candidate with other routes has thousands of groups. */
function* streamReport(report: CandidateReport): Generator<string> {
  yield `${openJsonObject(headOf(report))}"changed":`;
  yield* streamJsonWithList(changedOf(report), 'groups', report.comparison.groups.values().map(groupFields));
  yield '}\n';
}

function headOf(report: CandidateReport) {
  const { state, source = null, file = null, hash = null, since = null, sample, comparison, skipped, errors } = report;
  return {
    state,
    source,
    file,
    hash,
    active_hash: report.activeHash,
    since,
    sample,
    requests: comparison.requests,
    same: comparison.same,
    unknown: { total: sumOf(comparison.unknown), reasons: Object.fromEntries(comparison.unknown) },
    skipped: { total: sumOf(skipped), reasons: Object.fromEntries(skipped) },
    errors,
    problems: reportProblems(report),
    problem_count: report.problems.length,
  };
}

function changedOf({ comparison: { changed, ungrouped } }: CandidateReport) {
  return { total: sumOf(changed), kinds: Object.fromEntries(changed), ungrouped };
}

function groupFields({ kind, from, to, requests, callers, witnesses }: ChangeGroup<LiveWitness>) {
  return { kind, route: from.route ?? to.route, from, to, requests, callers, witness: witnesses[0] ?? null };
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return counts.values().reduce((sum, count) => sum + count, 0);
}
