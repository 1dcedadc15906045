import type { LocatedProblems } from '../../process/reload/manifest-thread.ts';
import { reportProblems } from '../../process/reload/reload-report.ts';
import type { CandidateWitness } from '../../traffic/candidate/candidate-results.ts';
import type { ChangeGroup } from '../../traffic/comparison.ts';
import {
  type AdminContext,
  type AdminRequest,
  type AdminResponse,
  busyResponse,
  jsonResponse,
  largeJsonResponse,
  openJsonObject,
  problemDetails,
  type Respond,
  streamJsonWithList,
} from '../admin-endpoint.ts';
import { type CandidateReport, candidateTotals, reportCandidate } from '../candidate-report.ts';

/** Reports how the decisions of the candidate differ from those of the active plan. */
export function candidate(_request: AdminRequest, context: AdminContext): AdminResponse {
  return largeJsonResponse(streamReport(reportCandidate(context)));
}

/** Makes the manifest in the body the candidate for `?sample=` of the requests, unless it has problems. Responds with the report. */
export const putCandidate: Respond = async (request, context, { candidateLoads }) => {
  const { adminMetrics, candidateFile, isStopping } = context;
  const sample = parseSample(request.query.get('sample'));
  if (isStopping()) return STOPPING;
  if (candidateFile !== undefined) return fileConflict(candidateFile.path);
  if (sample === undefined) return problemDetails(400, 'the sample must be above 0 and at most 1, for example 0.1');
  if (request.body.length === 0) return problemDetails(400, 'the body is empty; send the text of a manifest');
  const response = await candidateLoads(() => loadCandidate(request.body, sample, context));
  const detail = 'another candidate is being loaded; send the request again later';
  return response ?? busyResponse(adminMetrics, '/-/candidate', detail);
};

async function loadCandidate(text: Buffer, sample: number, context: AdminContext): Promise<AdminResponse> {
  const { candidate, reloader, isStopping } = context;
  const prepared = await reloader.prepareUnsaved(text);
  if (isStopping()) return STOPPING;
  if ('reason' in prepared)
    return problemDetails(503, `the manifest cannot be loaded: ${prepared.reason}; send the request again`);
  if ('problems' in prepared) {
    const problems = reportProblems(withoutPath(prepared, reloader.path));
    return jsonResponse({ result: 'rejected', problems, problem_count: prepared.problems.length }, 422);
  }
  const { planned } = prepared;
  try {
    await candidate.prepare(planned);
  } catch (error) {
    return problemDetails(503, `${error instanceof Error ? error.message : error}; send the request again`);
  }
  if (isStopping()) return STOPPING;
  await candidate.activate(planned, 'request', sample);
  return largeJsonResponse(streamReport(reportCandidate(context)));
}

/** The name of a manifest that is no file. */
export const SENT_MANIFEST = '<candidate>';

/** Names the manifest of the request in place of the file of the active manifest, in whose folder it is loaded. */
function withoutPath({ problems, sources }: LocatedProblems, path: string): LocatedProblems {
  const nameOf = (file: string) => (file === path ? SENT_MANIFEST : file);
  return {
    problems: problems.map((problem) => ({ ...problem, file: nameOf(problem.file) })),
    sources: sources.map((source) => ({ ...source, path: nameOf(source.path) })),
  };
}

export const discardCandidate: Respond = async (_request, context) => {
  const { candidate, candidateFile } = context;
  if (candidateFile !== undefined) return fileConflict(candidateFile.path);
  await candidate.remove();
  return largeJsonResponse(streamReport(reportCandidate(context)));
};

const STOPPING = problemDetails(
  503,
  'the gateway is stopping and accepts no candidate; send the request to another instance',
);

function fileConflict(file: string): AdminResponse {
  return problemDetails(
    409,
    `the candidate is the file "${file}" of --candidate; change the file, or restart the gateway without the option`,
  );
}

function parseSample(text: string | null): number | undefined {
  const sample = text === null ? 1 : Number(text);
  return sample > 0 && sample <= 1 ? sample : undefined;
}

/** Returns the member of /status that describes the candidate. */
export function candidateSummary(context: AdminContext) {
  const report = reportCandidate(context);
  const { state, source, file, hash, since, counts } = report;
  return { state, source, file, hash, since, requests: counts.requests, changed: candidateTotals(report).changed };
}

/** The body of GET /candidate. */
export type CandidateResponse = ReturnType<typeof headOf> & {
  readonly changed: ReturnType<typeof changedOf> & { readonly groups: readonly ReturnType<typeof groupFields>[] };
};

/** Returns the JSON of a `CandidateResponse` in chunks, with the numbers of now: those of later chunks would not agree with each other. */
function streamReport(report: CandidateReport): Generator<string> {
  const { groups, ungrouped } = report.groups();
  return formatReport(headOf(report), changedOf(report, ungrouped), groups);
}

function* formatReport(
  head: ReturnType<typeof headOf>,
  changed: ReturnType<typeof changedOf>,
  groups: readonly ChangeGroup<CandidateWitness>[],
): Generator<string> {
  yield `${openJsonObject(head)}"changed":`;
  yield* streamJsonWithList(changed, 'groups', groups.values().map(groupFields));
  yield '}\n';
}

function headOf(report: CandidateReport) {
  const { counts, skipped, rejected, groups: _groups, ...fields } = report;
  const totals = candidateTotals(report);
  return {
    ...fields,
    requests: counts.requests,
    same: counts.same,
    unknown: { total: totals.unknown, reasons: Object.fromEntries(counts.unknown) },
    skipped: { total: totals.skipped, reasons: skipped },
    problems: reportProblems(rejected),
    problem_count: rejected.problems.length,
  };
}

function changedOf(report: CandidateReport, ungrouped: number) {
  return { total: candidateTotals(report).changed, kinds: Object.fromEntries(report.counts.changed), ungrouped };
}

function groupFields({ kind, from, to, requests, callers, witnesses }: ChangeGroup<CandidateWitness>) {
  return { kind, route: from.route ?? to.route, from, to, requests, callers, witness: witnesses[0] ?? null };
}
