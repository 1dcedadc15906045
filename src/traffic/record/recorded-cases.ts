import { getOrCreate } from '../../engine/get-or-create.ts';
import { sortMethods } from '../../engine/http1/http-methods.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import { createMutationContext, type TestedRoute } from '../../prove/mutation/context.ts';
import { createRunCase } from '../../prove/mutation/missing-case.ts';
import type { TestCase, TestFile } from '../../prove/testing/test-file.generated.ts';
import type { LogReader } from '../access-log/read-logs.ts';
import { increase } from '../comparison.ts';
import { createRecordTokens, type RecordContext, recordedPaths } from './base-probes.ts';
import { findRecordedCase } from './find-recorded-case.ts';
import { type Observation, observeRequests } from './observe-requests.ts';
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

/** A test case with the number of requests that it stands for. */
export interface RecordedCase {
  readonly testCase: TestCase;
  /** One of the observations, which have all facts in common except methods and roles. */
  readonly observation: Observation;
  readonly methods: readonly string[];
  /** Empty if the result does not depend on a role. */
  readonly roles: readonly string[];
  readonly requests: number;
  readonly hasLoggedRole: boolean;
}

interface FoundCase {
  readonly observation: Observation;
  readonly testCase: TestCase;
}

/** Merges cases that differ only in methods and roles. One with lists has every combination, so its methods have the same roles. */
function mergeCases(found: readonly FoundCase[]): RecordedCase[] {
  const equal = Map.groupBy(found, ({ testCase, observation }) => {
    const { method: _method, role: _role, ...request } = testCase.request;
    return JSON.stringify([observation.tested?.entry.id, request, testCase.response, testCase.expect]);
  });
  return [...equal.values()].flatMap((cases) => {
    const byMethod = Map.groupBy(cases, ({ observation }) => observation.method);
    const byRoles = Map.groupBy(byMethod.values(), (sameMethod) =>
      JSON.stringify(sameMethod.map(({ testCase }) => testCase.request.role ?? null).sort()),
    );
    return [...byRoles.values()].map((groups) => mergedCase(groups.flat()));
  });
}

function mergedCase(cases: readonly FoundCase[]): RecordedCase {
  const [{ testCase, observation }] = cases as [FoundCase];
  const methods = [...new Set(cases.map((one) => one.observation.method))];
  const common = sortMethods(methods);
  const sorted = [...common, ...methods.filter((method) => !common.includes(method)).sort()];
  const roles = [...new Set(cases.flatMap((one) => one.testCase.request.role ?? []))].sort();
  const { role: _role, method: _method, ...request } = testCase.request;
  return {
    testCase: {
      ...testCase,
      request: {
        method: oneOrAll(sorted) ?? 'GET',
        ...request,
        ...(roles.length > 0 && { role: oneOrAll(roles) ?? '' }),
      },
    },
    observation,
    methods: sorted,
    roles: roles.length > 0 ? roles : cases.flatMap((one) => one.observation.role ?? []).slice(0, 1),
    requests: cases.reduce((sum, one) => sum + one.observation.requests, 0),
    hasLoggedRole: cases.every((one) => one.observation.hasLoggedRole),
  };
}

function oneOrAll(texts: readonly string[]): string | string[] | undefined {
  return texts.length > 1 ? [...texts] : texts[0];
}

/** Returns at most `max` cases: the one of the most requests for each route first, then others. Also returns the requests of the omitted ones. */
function selectCases(cases: readonly RecordedCase[], max: number) {
  const routes = new Set<TestedRoute | undefined>();
  const firsts: RecordedCase[] = [];
  const others: RecordedCase[] = [];
  for (const recorded of cases.toSorted((one, two) => two.requests - one.requests)) {
    const { tested } = recorded.observation;
    (routes.has(tested) ? others : firsts).push(recorded);
    routes.add(tested);
  }
  const sorted = [...firsts, ...others];
  const omitted = sorted.slice(max).reduce((sum, { requests }) => sum + requests, 0);
  return { selected: sorted.slice(0, max), omitted };
}

/** Sorts cases by route: forwarded requests first, by status, and then refusals, the most frequent first. */
function sortCases(cases: readonly RecordedCase[]): RecordedCase[] {
  return cases.toSorted((one, two) => {
    const [first, second] = [rankOf(one), rankOf(two)];
    const index = first.findIndex((number, at) => number !== second[at]);
    return index === -1 ? two.requests - one.requests : (first[index] ?? 0) - (second[index] ?? 0);
  });
}

/** Sorts after every class of statuses. */
const REFUSED_RANK = 10;

function rankOf({ observation: { result, tested, isMatched } }: RecordedCase): readonly number[] {
  return [
    tested === undefined ? Number.POSITIVE_INFINITY : Number(tested.path[1]),
    isMatched ? 0 : 1,
    result.kind === 'forwarded' ? result.statusClass : REFUSED_RANK,
  ];
}
