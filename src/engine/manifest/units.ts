const DURATIONS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const MAX_TIMER_MS = 2 ** 31 - 1;
/** The bytes of the units of sizes, the smallest first. */
export const SIZES: Readonly<Record<string, number>> = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

/** Returns the milliseconds of a duration such as `250ms`, `5s`, `2m` or `1h`, which the schema has validated. */
export function durationMs(text: string): number {
  return parseQuantity(text, DURATIONS);
}

/** Returns the milliseconds of a duration, at most 24 days: Node runs a longer timer at once. */
export function timerMs(text: string): number {
  return Math.min(durationMs(text), MAX_TIMER_MS);
}

/** Returns the bytes of a size such as `512B`, `64KB`, `10MB` or `1GB`, by powers of 1024. The schema has validated it. */
export function sizeBytes(text: string): number {
  return parseQuantity(text, SIZES);
}

/** Returns the correct form of a duration with a misspelt unit: `10 seconds`, `1d`. */
export function fixDuration(text: string): string | undefined {
  const [, number, written = ''] = MISSPELT.exec(text) ?? [];
  const word = written.toLowerCase();
  // A single capital M may mean a month or a minute.
  if (number === undefined || written === 'M') return undefined;
  if (/^d(?:ays?)?$/.test(word)) return `${Number(number) * 24}h`;
  const unit = Object.entries(DURATION_WORDS).find(([, words]) => words.test(word))?.[0];
  return unit && number + unit;
}

/** Returns the correct form of a size with a misspelt unit: `64kb`, `10 MiB`. */
export function fixSize(text: string): string | undefined {
  const [, number, written = ''] = MISSPELT.exec(text) ?? [];
  const [unit, prefix] = /^([kmg]?)(?:i?b)?$/.exec(written.toLowerCase()) ?? [];
  return number === undefined || !unit ? undefined : `${number}${prefix?.toUpperCase()}B`;
}

const MISSPELT = /^\s*([0-9]{1,9})\s*([A-Za-z]+)\s*$/;
const DURATION_WORDS: Readonly<Record<string, RegExp>> = {
  ms: /^(?:ms|msecs?|millis|milliseconds?)$/,
  s: /^(?:s|secs?|seconds?)$/,
  m: /^(?:m|mins?|minutes?)$/,
  h: /^(?:h|hrs?|hours?)$/,
};

function parseQuantity(text: string, units: Readonly<Record<string, number>>): number {
  const [, number, unit] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? [];
  const factor = unit !== undefined && Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (number === undefined || factor === undefined) throw new TypeError(`"${text}" is not a duration or a size`);
  return Number(number) * factor;
}

/** Returns the number and the duration of a rate such as `5 per 15m`, which the schema has validated. */
export function parseRate(text: string): { readonly requests: number; readonly periodMs: number } {
  const [requests = '', period = ''] = text.split(' per ');
  return { requests: Number(requests), periodMs: durationMs(period) };
}
