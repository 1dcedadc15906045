import type { Responses } from './api.ts';
import { badge, byId, cell, decisionsLink, element, rowHead, setText, showRows } from './element.ts';
import { decimal, integer, NONE, quantity } from './format.ts';

type Limit = Responses['status']['rate_limits'][number];
type LimitTraffic = Responses['traffic']['limits'][number];
type Store = Responses['status']['stores'][number];
type LimitRule = Pick<Limit, 'id' | 'key' | 'requests' | 'period_ms' | 'burst' | 'failures' | 'mode'>;

/** A manifest may have thousands of limits. */
const MAX_ROWS = 50;

/** The rows as they are displayed. The table is redrawn only when they change, so that selected text stays selected. */
let displayed = '';

/** Shows the limits, those with the most refused and reported requests first. The traffic covers `seconds` of the last minute. */
export function showLimits(
  { rate_limits: limits, stores }: Pick<Responses['status'], 'rate_limits' | 'stores'>,
  traffic: readonly LimitTraffic[],
  seconds: number,
) {
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

/** Returns the rule of a limit, such as "5 per 15 min by client". */
export function ruleOf({ key, requests, period_ms, burst, failures }: LimitRule) {
  const counted = failures === null ? quantity(requests, 'request') : quantity(requests, 'failure');
  const atOnce = burst === requests ? '' : `, ${integer(burst)} at once`;
  return `${counted} per ${period(period_ms)}${atOnce}, by ${key.join(' and ')}`;
}

export function modeBadges({ mode }: LimitRule) {
  return mode === 'report' ? [' ', badge('report only', 'warn')] : [];
}

function limitRow(limit: Limit, store: Store | undefined, counts: LimitTraffic | undefined, seconds: number) {
  const rate = (count: number) => (counts === undefined || seconds === 0 ? NONE : `${decimal(count / seconds)}/s`);
  const { refused = 0, reported = 0, last_hour = { refused: 0, reported: 0 } } = counts ?? {};
  return element(
    'tr',
    {},
    rowHead(
      decisionsLink('limits', limit.id),
      ...modeBadges(limit),
      element('span', { class: 'narrow-only hint' }, ruleOf(limit)),
    ),
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

/** Returns a badge for a store that does not respond. */
function storeBadges(store: Store | undefined) {
  if (store === undefined || store.state === 'up') return [];
  return [' ', badge(store.state, store.state === 'down' ? 'bad' : 'warn')];
}

function overLimit(counts: LimitTraffic | undefined) {
  return counts === undefined ? 0 : counts.refused + counts.reported;
}

function overHour(counts: LimitTraffic | undefined) {
  return counts === undefined ? 0 : overLimit({ ...counts, ...counts.last_hour });
}

const UNITS: [string, number][] = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

function period(ms: number) {
  const [unit, size] = UNITS.find(([, unitMs]) => ms % unitMs === 0) ?? ['ms', 1];
  return `${integer(ms / size)} ${unit}`;
}
