/** @import { Responses } from './api.js' */
import { badge, byId, cell, element, rowHead, setText, showRows } from './element.js';
import { decimal, integer, NONE, quantity } from './format.js';

/**
 * @typedef {Responses['status']['rate_limits'][number]} Limit
 * @typedef {Responses['traffic']['limits'][number]} LimitTraffic
 * @typedef {Responses['status']['stores'][number]} Store
 * @typedef {Pick<Limit, 'id' | 'key' | 'requests' | 'period_ms' | 'burst' | 'failures' | 'mode'>} LimitRule
 */

/** A manifest may have thousands of limits. */
const MAX_ROWS = 50;

/** The rows as they are displayed. The table is redrawn only when they change, so that selected text stays selected. */
let displayed = '';

/**
 * Shows the rate limits, those with the most refused and reported requests first. A limit without a place in the traffic had no
 * requests in the last hour.
 *
 * @param {Pick<Responses['status'], 'rate_limits' | 'stores'>} status
 * @param {readonly LimitTraffic[]} traffic
 * @param {number} seconds of the last minute that the traffic covers
 */
export function showLimits({ rate_limits: limits, stores }, traffic, seconds) {
  byId('limits-card').hidden = limits.length === 0;
  const byLimit = new Map(traffic.map((counts) => [counts.id, counts]));
  const rows = limits
    .map((limit) => ({ limit, counts: byLimit.get(limit.id) }))
    .sort(
      (one, other) => overLimit(other.counts) - overLimit(one.counts) || overHour(other.counts) - overHour(one.counts),
    )
    .slice(0, MAX_ROWS);
  const text = JSON.stringify([rows, stores, Math.round(seconds)]);
  if (text === displayed) return;
  displayed = text;
  setText(byId('limits-count'), limits.length > MAX_ROWS ? `The first ${MAX_ROWS} of ${integer(limits.length)}.` : '');
  const storeOf = new Map(stores.map((store) => [store.id, store]));
  const elements = rows.map(({ limit, counts }) => limitRow(limit, storeOf.get(limit.store ?? ''), counts, seconds));
  showRows('limits', elements);
}

/**
 * Returns the rule of a limit, such as "5 per 15 min by client".
 *
 * @param {LimitRule} limit
 */
export function ruleOf({ key, requests, period_ms, burst, failures }) {
  const counted = failures === null ? quantity(requests, 'request') : quantity(requests, 'failure');
  const atOnce = burst === requests ? '' : `, ${integer(burst)} at once`;
  return `${counted} per ${period(period_ms)}${atOnce}, by ${key.join(' and ')}`;
}

/** @param {LimitRule} limit */
export function modeBadges({ mode }) {
  return mode === 'report' ? [' ', badge('report only', 'warn')] : [];
}

/**
 * @param {Limit} limit
 * @param {Store | undefined} store
 * @param {LimitTraffic | undefined} counts
 * @param {number} seconds
 */
function limitRow(limit, store, counts, seconds) {
  const rate = (/** @type {number} */ count) =>
    counts === undefined || seconds === 0 ? NONE : `${decimal(count / seconds)}/s`;
  const { refused = 0, reported = 0, last_hour = { refused: 0, reported: 0 } } = counts ?? {};
  return element(
    'tr',
    {},
    rowHead(limit.id, ...modeBadges(limit), element('span', { class: 'narrow-only hint' }, ruleOf(limit))),
    cell('wide-only', ruleOf(limit)),
    cell('number wide-only', rate(counts?.requests ?? 0)),
    cell('number', rate(refused)),
    cell('number', rate(reported)),
    cell('number', integer(last_hour.refused)),
    cell('number', integer(last_hour.reported)),
    cell('number wide-only', integer(limit.counters)),
    cell('wide-only', limit.store ?? 'this process', ...storeBadges(store)),
  );
}

/**
 * Returns a badge for a store that does not respond.
 *
 * @param {Store | undefined} store
 */
function storeBadges(store) {
  if (store === undefined || store.state === 'up') return [];
  return [' ', badge(store.state, store.state === 'down' ? 'bad' : 'warn')];
}

/** @param {LimitTraffic | undefined} counts */
function overLimit(counts) {
  return counts === undefined ? 0 : counts.refused + counts.reported;
}

/** @param {LimitTraffic | undefined} counts */
function overHour(counts) {
  return counts === undefined ? 0 : overLimit({ ...counts, ...counts.last_hour });
}

/** @type {[string, number][]} */
const UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** @param {number} ms */
function period(ms) {
  const [unit, size] = UNITS.find(([, unitMs]) => ms % unitMs === 0) ?? ['ms', 1];
  return `${integer(ms / size)} ${unit}`;
}
