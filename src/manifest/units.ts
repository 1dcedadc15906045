const DURATIONS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const SIZES: Readonly<Record<string, number>> = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

/** `250ms`, `5s`, `2m`, `1h` in milliseconds. The schema has checked the form. */
export function durationMs(text: string): number {
  return measure(text, DURATIONS);
}

/** `512B`, `64KB`, `10MB`, `1GB` in bytes, by powers of 1024. The schema has checked the form. */
export function sizeBytes(text: string): number {
  return measure(text, SIZES);
}

function measure(text: string, units: Readonly<Record<string, number>>): number {
  const [, number, unit] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? [];
  const factor = unit !== undefined && Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (number === undefined || factor === undefined) throw new TypeError(`"${text}" is not a measure`);
  return Number(number) * factor;
}
