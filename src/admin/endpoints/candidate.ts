import type { CandidateReport, ChangeGroup, DecisionSummary } from '../../candidate/live/candidate-control.ts';
import { decodeText } from '../../manifest/decode-text.ts';
import { reportProblems } from '../../reload/reload-report.ts';
import {
  type AdminContext,
  type AdminRequest,
  type AdminResponse,
  jsonResponse,
  problemDetails,
} from '../admin-endpoint.ts';

/** Reports how the decisions of the candidate differ from those of the active plan. */
export function candidate(_request: AdminRequest, { candidate }: AdminContext): AdminResponse {
  return jsonResponse(candidateFields(candidate.report()));
}

/** Makes the manifest in the body the candidate, and responds with the report. A manifest with problems changes nothing. */
export async function putCandidate({ body }: AdminRequest, context: AdminContext): Promise<AdminResponse> {
  const { candidate, isStopping } = context;
  if (body.length === 0)
    return problemDetails(400, 'the body is empty; send a manifest, for example with: curl -T next.yaml');
  const outcome = isStopping() ? STOPPED : await candidate.put(decodeText(body));
  if (outcome.kind === 'cancelled')
    return problemDetails(503, 'the gateway is stopping and takes no candidate; send the request to another instance');
  if (outcome.kind === 'conflict') return fileConflict(outcome.file);
  if (outcome.kind === 'accepted') return jsonResponse(candidateFields(candidate.report()));
  const { problems } = outcome;
  return jsonResponse(
    { result: outcome.kind, problems: reportProblems(outcome), problem_count: problems.length },
    422,
  );
}

const STOPPED = { kind: 'cancelled' } as const;

/** Discards the candidate, and responds with the report. */
export function discardCandidate(_request: AdminRequest, { candidate }: AdminContext): AdminResponse {
  const outcome = candidate.discard();
  return outcome.kind === 'conflict' ? fileConflict(outcome.file) : jsonResponse(candidateFields(candidate.report()));
}

function fileConflict(file: string): AdminResponse {
  return problemDetails(
    409,
    `the candidate is the file "${file}" of --candidate; change the file, or restart the gateway without the option`,
  );
}

/** Returns the number of requests by the result of their comparison. */
export function candidateTotals({ same, kinds, unknown, skipped, errors }: CandidateReport) {
  return { same, changed: sumOf(kinds), unknown: sumOf(unknown), skipped: sumOf(skipped), error: errors };
}

/** Returns the member of /status that describes the candidate. */
export function candidateSummary({ candidate }: AdminContext) {
  const { state, source = null, file = null, hash = null, since = null, requests, kinds } = candidate.report();
  return { state, source, file, hash, since, requests, changed: sumOf(kinds) };
}

/** The body of GET /candidate. */
export type CandidateResponse = ReturnType<typeof candidateFields>;

function candidateFields(report: CandidateReport) {
  const { state, source = null, file = null, hash = null, since = null, sample, requests, same, errors } = report;
  return {
    state,
    source,
    file,
    hash,
    active_hash: report.activeHash,
    since,
    sample,
    requests,
    same,
    unknown: { total: sumOf(report.unknown), reasons: Object.fromEntries(report.unknown) },
    changed: {
      total: sumOf(report.kinds),
      kinds: Object.fromEntries(report.kinds),
      groups: report.groups.map(groupFields),
    },
    skipped: { total: sumOf(report.skipped), reasons: Object.fromEntries(report.skipped) },
    errors,
    problems: reportProblems(report),
    problem_count: report.problems.length,
  };
}

function groupFields({ kind, route = null, from, to, requests, callers, witness }: ChangeGroup) {
  const { method, path, at, id } = witness;
  return {
    kind,
    route,
    from: decisionFields(from),
    to: decisionFields(to),
    requests,
    callers,
    witness: { method, path, at, id },
  };
}

function decisionFields(decision: DecisionSummary) {
  const { outcome, route = null, upstream = null, status = null, refusal = null, reason = null } = decision;
  return { outcome, route, upstream, status, refusal, reason };
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return counts.values().reduce((sum, count) => sum + count, 0);
}
