import { cell, decisionsLink, element, rowHead, showRows } from './element.ts';
import { integer } from './format.ts';

/** Shows counts above 0, the highest first. `cellsOf` returns the cells before the count. */
export function showCounts(table: string, counts: Record<string, number>, cellsOf: (name: string) => HTMLElement[]) {
  const rows = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => element('tr', {}, ...cellsOf(name), cell('number', integer(count))));
  showRows(table, rows);
}

/** Shows refusals by code, of one route if it is named. A 5xx is a failure of an upstream or of the gateway, not a refusal. */
export function showRefusals(
  table: string,
  counts: Record<string, number>,
  statuses: Record<string, number>,
  routeId?: string,
) {
  showCounts(table, counts, (code) => [
    rowHead(element('code', {}, decisionsLink('refusal', code, routeId))),
    cell(`number ${isFailure(statuses[code]) ? 'bad' : ''}`, statuses[code] ?? ''),
  ]);
}

export function isFailure(status: number | undefined = 0) {
  return status >= 500;
}
