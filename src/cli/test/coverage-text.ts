import type { CoverageCount, CoverageSummary } from '../../prove/testing/coverage.ts';
import { pluralize } from '../../report/text.ts';

/** A person reads no more. */
export const DEFAULT_MAX_UNCOVERED = 50;
/** With fewer equal routes, each one is worth its line. */
const MIN_GROUP = 4;
const MAX_NAMES = 10;

type Uncovered = CoverageSummary['uncovered'];

/** Formats the figures and the units that no case covers, in at most `max` lines. Without a limit, every route has its own line. */
export function formatCoverage({ percent, routes, roles, refusals, values, uncovered }: CoverageSummary, max: number) {
  const format = ({ covered, total }: CoverageCount, noun: string) => `${covered} of ${pluralize(total, noun)}`;
  const figures = [
    format(routes, 'route'),
    `${format(roles, 'role')} by route`,
    format(refusals, 'refusal'),
    format(values, 'validated value'),
  ].join(', ');
  return `coverage of routes, roles, refusals and values ${percent} %: ${figures}\n${formatUncovered(uncovered, max)}`;
}

function formatUncovered(uncovered: Uncovered, max: number): string {
  const isAll = max === Number.POSITIVE_INFINITY;
  const groups = isAll ? uncovered.map((entry) => [entry]) : groupEqual(uncovered);
  const lines = groups.slice(0, max).map((group) => {
    const names = group.map(({ route }) => route ?? 'any route');
    return `  not covered: ${joinUpTo(MAX_NAMES, names)}: ${joinUpTo(max, group[0]?.items ?? [])}\n`;
  });
  const omitted = groups.slice(max).flat().length;
  const isCut =
    omitted > 0 || groups.some(([first, ...others]) => (first?.items.length ?? 0) > max || others.length >= MAX_NAMES);
  const more = omitted === 0 ? '' : `and ${pluralize(omitted, 'more route')}; `;
  return lines.join('') + (isCut ? `  ${more}"test --max-uncovered 0" prints everything\n` : '');
}

/** Puts the routes together that lack the same, in the order of their first ones. */
function groupEqual(uncovered: Uncovered): Uncovered[] {
  const equal = Map.groupBy(uncovered, ({ items }) => JSON.stringify(items));
  return [...equal.values()].flatMap((group) => (group.length < MIN_GROUP ? group.map((entry) => [entry]) : [group]));
}

/** Joins at most `max` words, and the number of the others. */
function joinUpTo(max: number, words: readonly string[]): string {
  const others = words.length > max ? ` and ${words.length - max} more` : '';
  return `${words.slice(0, max).join(', ')}${others}`;
}
