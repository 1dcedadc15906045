/** Shown instead of a missing value. */
export const NONE = '–';

const INTEGER_FORMAT = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function integer(value: number) {
  return INTEGER_FORMAT.format(value);
}

export function quantity(number: number, noun: string) {
  return `${integer(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** Formats a number with three significant digits. */
export function decimal(value: number) {
  if (value >= 100 || Number.isInteger(value)) return integer(value);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** Formats a part of a whole. Only a part of nothing is 0 %, and only the whole is 100 %. */
export function share(part: number, whole: number) {
  if (part === 0 || part === whole) return part === 0 ? '0 %' : '100 %';
  const percent = (100 * part) / whole;
  if (percent < 0.01) return '< 0.01 %';
  return percent > 99.99 ? '> 99.99 %' : `${percent.toFixed(percent < 1 || percent > 99 ? 2 : 1)} %`;
}

export function duration(ms: number | null | undefined) {
  if (ms === null || ms === undefined) return NONE;
  return ms < 1_000 ? `${decimal(ms)} ms` : `${decimal(ms / 1_000)} s`;
}

/** Formats a size in the units of the manifest, without rounding. */
export function size(bytes: number) {
  let [value, index] = [bytes, 0];
  while (value >= 1_024 && value % 1_024 === 0 && index < SIZE_UNITS.length - 1) {
    value /= 1_024;
    index += 1;
  }
  return `${integer(value)} ${SIZE_UNITS[index]}`;
}

const SIZE_UNITS = ['B', 'KB', 'MB', 'GB'];

export function timeOfDay(time: string | number | Date) {
  return new Date(time).toLocaleTimeString('en-GB');
}

export function dateAndTime(time: string | number | Date) {
  return new Date(time).toLocaleString('sv-SE');
}

export function ago(time: string | number | Date, now: number) {
  const seconds = Math.max(0, Math.round((now - new Date(time).getTime()) / 1_000));
  for (const [unit, size] of UNITS) if (seconds >= 2 * size) return `${Math.floor(seconds / size)} ${unit} ago`;
  return 'just now';
}

const UNITS: [string, number][] = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
  ['seconds', 1],
];
