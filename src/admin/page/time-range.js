import { byId } from './element.js';

const MINUTE_MS = 60_000;

/**
 * Calls `onChange` when the reader selects another time range.
 *
 * @param {string} id
 * @param {() => void} onChange
 */
export function onRangeChange(id, onChange) {
  byId(id).addEventListener('change', onChange);
}

/**
 * Returns the intervals in the selected time range.
 *
 * @template {{ at: string }} Interval
 * @param {string} id
 * @param {readonly Interval[]} intervals oldest first
 */
export function inRange(id, intervals) {
  const last = intervals.at(-1);
  const start = last === undefined ? 0 : new Date(last.at).getTime() - minutesOf(id) * MINUTE_MS;
  return intervals.filter(({ at }) => new Date(at).getTime() > start);
}

/** @param {string} id */
export function minutesOf(id) {
  return Number(byId(id).value);
}
