import { byId, element, showRows } from './element.js';
import { integer } from './format.js';

/**
 * Shows refusals by code, the most frequent first. A 5xx is a failure of an upstream or of the gateway, not a refusal.
 *
 * @param {string} table its id
 * @param {Record<string, number>} counts by code
 * @param {Record<string, number>} statuses by code
 */
export function showRefusals(table, counts, statuses) {
  if (byId(table).tHead.rows.length === 0) byId(table).tHead.append(headerRow());
  const rows = Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(([code, count]) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, element('code', {}, code)),
        element('td', { class: `number ${isFailure(statuses[code]) ? 'bad' : ''}` }, String(statuses[code] ?? '')),
        element('td', { class: 'number' }, integer(count)),
      ),
    );
  showRows(table, rows, 'None.');
}

function headerRow() {
  return element(
    'tr',
    {},
    element('th', { scope: 'col' }, 'Code'),
    element('th', { scope: 'col', class: 'number' }, 'Status'),
    element('th', { scope: 'col', class: 'number' }, 'Requests'),
  );
}

/** @param {number | undefined} status */
export function isFailure(status = 0) {
  return status >= 500;
}
