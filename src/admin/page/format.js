/** Shown instead of a missing value. */
export const NONE = '–';

const INTEGER_FORMAT = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** @param {number} value */
export function integer(value) {
  return INTEGER_FORMAT.format(value);
}

/**
 * @param {number} number
 * @param {string} noun
 */
export function quantity(number, noun) {
  return `${integer(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/**
 * Formats a number with three significant digits.
 *
 * @param {number} value
 */
export function decimal(value) {
  if (value >= 100 || Number.isInteger(value)) return integer(value);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/**
 * Formats a part of a whole. Only a part of nothing is 0 %, and only the whole is 100 %.
 *
 * @param {number} part
 * @param {number} whole
 */
export function share(part, whole) {
  if (part === 0 || part === whole) return part === 0 ? '0 %' : '100 %';
  const percent = (100 * part) / whole;
  if (percent < 0.01) return '< 0.01 %';
  return percent > 99.99 ? '> 99.99 %' : `${percent.toFixed(percent < 1 || percent > 99 ? 2 : 1)} %`;
}

/** @param {number | null | undefined} ms */
export function duration(ms) {
  if (ms === null || ms === undefined) return NONE;
  return ms < 1_000 ? `${decimal(ms)} ms` : `${decimal(ms / 1_000)} s`;
}

/**
 * Formats a size in the units of the manifest, without rounding.
 *
 * @param {number} bytes
 */
export function size(bytes) {
  let [value, index] = [bytes, 0];
  while (value >= 1_024 && value % 1_024 === 0 && index < SIZE_UNITS.length - 1) {
    value /= 1_024;
    index += 1;
  }
  return `${integer(value)} ${SIZE_UNITS[index]}`;
}

const SIZE_UNITS = ['B', 'KB', 'MB', 'GB'];

/** @param {string | number | Date} time */
export function timeOfDay(time) {
  return new Date(time).toLocaleTimeString('en-GB');
}

/** @param {string | number | Date} time */
export function dateAndTime(time) {
  return new Date(time).toLocaleString('sv-SE');
}

/**
 * @param {string | number | Date} time
 * @param {number} now
 */
export function ago(time, now) {
  const seconds = Math.max(0, Math.round((now - new Date(time).getTime()) / 1_000));
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
