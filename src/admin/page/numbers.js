/** What stands where there is no number. */
export const NONE = '–';

const GROUPED = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** @param {number} value */
export function whole(value) {
  return GROUPED.format(value);
}

/**
 * @param {number} number
 * @param {string} noun
 */
export function counted(number, noun) {
  return `${whole(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/**
 * Three digits that count.
 *
 * @param {number} value
 */
export function short(value) {
  if (value >= 100 || Number.isInteger(value)) return whole(value);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** @param {number | null | undefined} ms */
export function duration(ms) {
  if (ms === null || ms === undefined) return NONE;
  return ms < 1_000 ? `${short(ms)} ms` : `${short(ms / 1_000)} s`;
}

/** @param {string | number | Date} moment */
export function clock(moment) {
  return new Date(moment).toLocaleTimeString('en-GB');
}

/** @param {string | number | Date} moment */
export function dated(moment) {
  return new Date(moment).toLocaleString('sv-SE');
}

/**
 * @param {string | number | Date} moment
 * @param {number} now
 */
export function ago(moment, now) {
  const seconds = Math.max(0, Math.round((now - new Date(moment).getTime()) / 1_000));
  for (const [unit, size] of UNITS) if (seconds >= 2 * size) return `${Math.floor(seconds / size)} ${unit} ago`;
  return 'just now';
}

/** @type {[string, number][]} */
const UNITS = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
  ['seconds', 1],
];
