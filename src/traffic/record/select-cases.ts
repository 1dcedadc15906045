import type { TestedRoute } from '../../prove/mutation/mutant.ts';
import type { RecordedCase } from './merge-cases.ts';

/** Returns at most `max` cases: the one of the most requests for each route first, then others. Also returns the requests of the omitted ones. */
export function selectCases(
  cases: readonly RecordedCase[],
  max: number,
): { readonly selected: readonly RecordedCase[]; readonly omitted: number } {
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
