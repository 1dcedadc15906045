import { cell, element, rowHead, showRows } from './element.js';
import { integer } from './format.js';

/**
 * Shows counts above 0, the highest first.
 *
 * @param {string} table its id
 * @param {Record<string, number>} counts
 * @param {(name: string) => HTMLElement[]} cellsOf returns the cells before the count
 */
export function showCounts(table, counts, cellsOf) {
  const rows = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => element('tr', {}, ...cellsOf(name), cell('number', integer(count))));
  showRows(table, rows);
}

/**
 * Shows refusals by code. A 5xx is a failure of an upstream or of the gateway, not a refusal.
 *
 * @param {string} table its id
 * @param {Record<string, number>} counts by code
 * @param {Record<string, number>} statuses by code
 */
export function showRefusals(table, counts, statuses) {
  showCounts(table, counts, (code) => [
    rowHead(element('code', {}, code)),
    cell(`number ${isFailure(statuses[code]) ? 'bad' : ''}`, statuses[code] ?? ''),
  ]);
}

/** @param {number | undefined} status */
export function isFailure(status = 0) {
  return status >= 500;
}
