const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
const LAST = 0x10_ffff;
const MAX_UNIT = 0xffff;

/** A few properties are in use, in every pattern again. */
const rangesByEscape = new Map<string, string>();

/**
 * Returns the code points that a class escape of ECMA-262 matches, such as `\p{Script=Greek}` or `\S`, as ranges of an RE2
 * class. Throws if the engine does not know the escape. Surrogates are left out, because no valid text contains one.
 */
export function unicodeRanges(classEscape: string): string {
  const known = rangesByEscape.get(classEscape);
  if (known !== undefined) return known;
  const runs = new RegExp(`${classEscape}+`, 'gu');
  let ranges = '';
  for (const [start, end] of [
    [0, FIRST_SURROGATE - 1],
    [LAST_SURROGATE + 1, LAST],
  ] as const) {
    for (const [run] of codePointsBetween(start, end).matchAll(runs)) {
      const first = run.codePointAt(0) ?? 0;
      const isPair = run.length > 1 && (run.codePointAt(run.length - 2) ?? 0) > MAX_UNIT;
      const last = run.codePointAt(run.length - (isPair ? 2 : 1)) ?? 0;
      ranges += first === last ? hex(first) : `${hex(first)}-${hex(last)}`;
    }
  }
  rangesByEscape.set(classEscape, ranges);
  return ranges;
}

/** Formats a code point for RE2. */
export function hex(codePoint: number): string {
  return `\\x{${codePoint.toString(16)}}`;
}

/** Returns all code points of a range in order. Decoding bytes is much faster than joining characters. */
function codePointsBetween(start: number, end: number): string {
  const units = new Uint16Array((end - start + 1) * 2);
  let length = 0;
  for (let codePoint = start; codePoint <= end; codePoint += 1) {
    if (codePoint <= MAX_UNIT) units[length++] = codePoint;
    else {
      units[length++] = 0xd7c0 + (codePoint >> 10);
      units[length++] = 0xdc00 + (codePoint & 0x3ff);
    }
  }
  return Buffer.from(units.buffer, 0, length * 2).toString('utf16le');
}
