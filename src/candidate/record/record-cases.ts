import type { PlannedManifest } from '../../load.ts';
import type { Environment } from '../../manifest/source.ts';
import { createMutationContext } from '../../testing/mutation/context.ts';
import type { RunCase } from '../../testing/mutation/missing-case.ts';
import type { TestedRoute } from '../../testing/mutation/mutant.ts';
import { testRequestsOf } from '../../testing/requests.ts';
import { createCaseRunner } from '../../testing/run-test-file.ts';
import type { TestCase, TestFile } from '../../testing/test-file.generated.ts';
import type { LogReader } from '../log/read-logs.ts';
import type { RecordContext } from './base-probes.ts';
import { findRecordedCase } from './find-recorded-case.ts';
import { mergeCases, type RecordedCase } from './merge-cases.ts';
import type { Observation } from './observation.ts';
import { countUnrecorded, ObservedRequests, type UnrecordedCounts } from './observe-requests.ts';
import { createRecordTokens } from './record-tokens.ts';
import { recordedPaths } from './recorded-paths.ts';
import { isRecordable } from './refused-probes.ts';

/** The test cases of a log. */
export interface RecordedLog {
  readonly tokens: TestFile['tokens'];
  /** In the order of the routes. Each case passes with the manifest. */
  readonly cases: readonly RecordedCase[];
  readonly requests: number;
  readonly unrecorded: UnrecordedCounts;
}

const NO_TEST_FILE: TestFile = { version: 1, manifest: '', environment: {}, tokens: {}, cases: [] };

/**
 * Returns the fewest test cases that have every route, method, role, refusal and class of statuses that a log has.
 *
 * @param maxCases the most important cases are kept: one of each route, then those of the most requests
 * @param onProgress called before the search for each case
 */
export async function recordCases(
  reader: LogReader,
  planned: PlannedManifest,
  readFile: Environment['readFile'],
  maxCases: number,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<RecordedLog> {
  const context = createMutationContext(planned, readFile, NO_TEST_FILE);
  const observed = new ObservedRequests(context);
  for await (const batch of reader) for (const request of batch) observed.add(request);
  const { observations, unrecorded, requests } = observed;
  const byRoute = Map.groupBy(observations, ({ tested }) => tested);
  const tokens = createRecordTokens(planned.plan, context.otherRole);
  const pathsOf = memoize((tested) => recordedPaths(byRoute.get(tested) ?? [], tested, context));
  const unknownPath = observations.find(isUnknownPath)?.path ?? '/x';
  const record: RecordContext = { context, tokens, pathsOf, unknownPath };
  const runRequest = createCaseRunner(tokens.all, planned);
  const run: RunCase = (testCase) => runRequest(testRequestsOf([testCase])[0] as Parameters<typeof runRequest>[0]);
  const found: { observation: Observation; testCase: TestCase }[] = [];
  for (const [index, observation] of observations.entries()) {
    onProgress(index, observations.length);
    const status = commonStatus(observation, byRoute.get(observation.tested) ?? []);
    const testCase = await findRecordedCase(observation, status, record, run);
    if (testCase === undefined) countUnrecorded(unrecorded, unrecordedReason(observation), observation.requests);
    else found.push({ observation, testCase });
  }
  const cases = limitCases(mergeCases(found), maxCases, unrecorded);
  const position = (route: TestedRoute | undefined) =>
    route === undefined ? context.routes.length : context.routes.indexOf(route);
  return { tokens: tokens.all, requests, unrecorded, cases: sortCases(cases, position) };
}

function isUnknownPath({ result, path }: Observation): boolean {
  return result.kind === 'refused' && result.code === 'route_unknown' && path !== undefined;
}

function memoize(pathsOf: (tested: TestedRoute) => readonly string[]): (tested: TestedRoute) => readonly string[] {
  const known = new Map<TestedRoute, readonly string[]>();
  return (tested) => {
    const paths = known.get(tested) ?? pathsOf(tested);
    known.set(tested, paths);
    return paths;
  };
}

/** Returns the most frequent status of its class on the route, so that the cases of all methods and roles are alike. */
function commonStatus({ result, statuses }: Observation, ofRoute: readonly Observation[]): number {
  if (result.kind !== 'forwarded') return 0;
  const counts = new Map<number, number>();
  for (const other of ofRoute)
    if (other.result.kind === 'forwarded' && other.result.statusClass === result.statusClass)
      for (const [status, count] of other.statuses) counts.set(status, (counts.get(status) ?? 0) + count);
  const [[status] = [[...statuses.keys()][0] ?? 200]] = [...counts].sort(([, one], [, two]) => two - one);
  return status;
}

function unrecordedReason({ result, tested, isMatched }: Observation): string {
  const route = isMatched ? `${tested?.entry.id} ` : '';
  if (result.kind !== 'refused') return `${route}has another result with this manifest`;
  if (isMatched && !isRecordable(result.code))
    return `${route}refused with ${result.code}, which no test case can cause`;
  return `${route}refused with ${result.code}; no request for it was found`;
}

function limitCases(
  cases: readonly RecordedCase[],
  max: number,
  unrecorded: UnrecordedCounts,
): readonly RecordedCase[] {
  if (cases.length <= max) return cases;
  const heaviest = cases.toSorted((one, two) => two.requests - one.requests);
  const routes = new Set<TestedRoute | undefined>();
  const [firsts, others]: [RecordedCase[], RecordedCase[]] = [[], []];
  for (const recorded of heaviest) {
    const { tested } = recorded.observation;
    (routes.has(tested) ? others : firsts).push(recorded);
    routes.add(tested);
  }
  const sorted = [...firsts, ...others];
  const omitted = sorted.slice(max).reduce((sum, { requests }) => sum + requests, 0);
  countUnrecorded(unrecorded, `more than ${max} cases`, omitted);
  return sorted.slice(0, max);
}

/** Sorts cases by route: forwarded requests first, by status, and then refusals, the most frequent first. */
function sortCases(
  cases: readonly RecordedCase[],
  position: (route: TestedRoute | undefined) => number,
): RecordedCase[] {
  const rank = ({ observation: { result, tested, isMatched } }: RecordedCase) => [
    position(tested),
    isMatched ? 0 : 1,
    result.kind === 'forwarded' ? result.statusClass : 10,
  ];
  return cases.toSorted((one, two) => {
    const [first, second] = [rank(one), rank(two)];
    const index = first.findIndex((number, at) => number !== second[at]);
    return index === -1 ? two.requests - one.requests : (first[index] ?? 0) - (second[index] ?? 0);
  });
}
