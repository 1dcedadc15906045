import { cell, element, rowHead, showRows } from './element.js';
import { integer } from './format.js';

/**
 * Shows refusals by code, the most frequent first. A 5xx is a failure of an upstream or of the gateway, not a refusal.
 *
 * @param {string} table its id
 * @param {Record<string, number>} counts by code
 * @param {Record<string, number>} statuses by code
 */
export function showRefusals(table, counts, statuses) {
  const rows = Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(([code, count]) =>
      element(
        'tr',
        {},
        rowHead(element('code', {}, code)),
        cell(`number ${isFailure(statuses[code]) ? 'bad' : ''}`, statuses[code] ?? ''),
        cell('number', integer(count)),
      ),
    );
  showRows(table, rows, 'None.');
}

/** @param {number | undefined} status */
export function isFailure(status = 0) {
  return status >= 500;
}
