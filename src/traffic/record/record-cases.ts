import { getOrCreate } from '../../engine/get-or-create.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import { createMutationContext } from '../../prove/mutation/context.ts';
import { createRunCase } from '../../prove/mutation/missing-case.ts';
import type { TestedRoute } from '../../prove/mutation/mutant.ts';
import type { TestCase, TestFile } from '../../prove/testing/test-file.generated.ts';
import type { LogReader } from '../access-log/read-logs.ts';
import { increase } from '../comparison.ts';
import { createRecordTokens, type RecordContext } from './base-probes.ts';
import { findRecordedCase } from './find-recorded-case.ts';
import { type Observation, observeRequests } from './observe-requests.ts';
import { type FoundCase, mergeCases, selectCases, sortCases } from './recorded-cases.ts';
import { recordedPaths } from './recorded-paths.ts';
import { isRecordable } from './refused-probes.ts';

const NO_TEST_FILE: TestFile = { version: 1, manifest: '', environment: {}, tokens: {}, cases: [] };

/** The requests of a search. After many searches without a result, which only a hostile log needs, the others are short. */
const MAX_PROBES = 200;
const FEW_PROBES = 5;
const MAX_FAILURES = 300;
/** The statuses to try beside the most frequent one. */
const MAX_STATUSES = 3;

/**
 * Returns the fewest test cases that have every route, method, role, refusal and class of statuses of a log: at most `maxCases`, one of
 * each route first, then those of the most requests. Reports the progress before each search.
 */
export async function recordCases(
  reader: LogReader,
  planned: PlannedManifest,
  readFile: Environment['readFile'],
  maxCases: number,
  onProgress: (done: number, total: number) => void = () => undefined,
) {
  const context = createMutationContext(planned, readFile, NO_TEST_FILE);
  const { observations, unrecorded, requests } = await observeRequests(reader, context);
  const byRoute = Map.groupBy(observations, ({ tested }) => tested);
  const tokens = createRecordTokens(planned.plan, context.otherRole);
  const paths = new Map<TestedRoute, readonly string[]>();
  const pathsOf = (tested: TestedRoute) =>
    getOrCreate(paths, tested, () => recordedPaths(byRoute.get(tested) ?? [], tested, context));
  const unknownPath = observations.find(isUnknownPath)?.path ?? '/x';
  const record: RecordContext = { context, tokens, pathsOf, unknownPath };
  const run = createRunCase(tokens.all, planned);
  const found: FoundCase[] = [];
  let failures = 0;
  for (const [index, observation] of observations.entries()) {
    onProgress(index, observations.length);
    const common = commonStatus(observation, byRoute.get(observation.tested) ?? []);
    const statuses = new Set([common, ...[...observation.statuses.keys()].slice(0, MAX_STATUSES)]);
    const maxProbes = failures < MAX_FAILURES ? MAX_PROBES : FEW_PROBES;
    let testCase: TestCase | undefined;
    for (const status of isPossible(observation) ? statuses : [])
      testCase ??= await findRecordedCase(observation, status, maxProbes, record, run);
    if (testCase !== undefined) found.push({ observation, testCase });
    else increase(unrecorded, unrecordedReason(observation), observation.requests);
    if (testCase === undefined && isPossible(observation)) failures += 1;
  }
  const { selected, omitted } = selectCases(mergeCases(found), maxCases);
  if (omitted > 0) increase(unrecorded, `more than ${maxCases} cases`, omitted);
  // In the order of the routes. Each case passes with the manifest.
  const cases = sortCases(selected);
  return { tokens: tokens.all, requests, unrecorded, cases };
}

/** False for a refusal of a route that no test case can cause. */
function isPossible({ result, isMatched }: Observation): boolean {
  return result.kind !== 'refused' || !isMatched || isRecordable(result.code);
}

function isUnknownPath({ result, path }: Observation): boolean {
  return result.kind === 'refused' && result.code === 'route_unknown' && path !== undefined;
}

/** Returns the most frequent status of its class on the route, so that the cases of all methods and roles are alike. */
function commonStatus({ result, statuses }: Observation, ofRoute: readonly Observation[]): number {
  if (result.kind !== 'forwarded') return 0;
  const counts = new Map<number, number>();
  for (const other of ofRoute)
    if (other.result.kind === 'forwarded' && other.result.statusClass === result.statusClass)
      for (const [status, count] of other.statuses) increase(counts, status, count);
  const [[status] = [[...statuses.keys()][0] ?? 200]] = [...counts].sort(([, one], [, two]) => two - one);
  return status;
}

function unrecordedReason(observation: Observation): string {
  const { result, tested, isMatched } = observation;
  const route = isMatched ? `${tested?.entry.id} ` : '';
  if (result.kind !== 'refused') return `${route}has another result with this manifest`;
  if (!isPossible(observation)) return `${route}refused with ${result.code}, which no test case can cause`;
  return `${route}refused with ${result.code}; no request for it was found`;
}
