import { sortMethods } from '../../engine/http1/http-methods.ts';
import type { TestedRoute } from '../../prove/mutation/mutant.ts';
import type { TestCase } from '../../prove/testing/test-file.generated.ts';
import type { Observation } from './observe-requests.ts';

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

export interface FoundCase {
  readonly observation: Observation;
  readonly testCase: TestCase;
}

/** Merges cases that differ only in methods and roles. One with lists has every combination, so its methods have the same roles. */
export function mergeCases(found: readonly FoundCase[]): RecordedCase[] {
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
export function selectCases(cases: readonly RecordedCase[], max: number) {
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
export function sortCases(cases: readonly RecordedCase[]): RecordedCase[] {
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
