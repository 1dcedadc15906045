/** The characters that one step of a pattern matches. */
export interface CharacterSet {
  readonly has: (codePoint: number) => boolean;
  /** The first and last code points of its ranges, whose neighbours behave differently. Those of Unicode properties are left out. */
  readonly bounds: readonly number[];
}

export function rangeSet(first: number, last: number): CharacterSet {
  return { has: (codePoint) => codePoint >= first && codePoint <= last, bounds: [first, last] };
}

export function unionOf(sets: readonly CharacterSet[]): CharacterSet {
  return {
    has: (codePoint) => sets.some((set) => set.has(codePoint)),
    bounds: sets.flatMap(({ bounds }) => bounds),
  };
}

export function complementOf({ has, bounds }: CharacterSet): CharacterSet {
  return { has: (codePoint) => !has(codePoint), bounds };
}

/** Returns the set in which the letter case does not count. */
export function caseless({ has, bounds }: CharacterSet): CharacterSet {
  return {
    has: (codePoint) => has(codePoint) || spellingsOf(codePoint).some(has),
    bounds: [...bounds, ...bounds.flatMap(spellingsOf)],
  };
}

/** Returns the other letter cases of a character. A second round is for letters such as the Kelvin sign, a spelling of k and K. */
function spellingsOf(codePoint: number): number[] {
  const direct = casesOf(codePoint);
  return [...direct, ...direct.flatMap(casesOf)];
}

function casesOf(codePoint: number): number[] {
  const text = String.fromCodePoint(codePoint);
  return [text.toLowerCase(), text.toUpperCase()].filter((spelling) => [...spelling].length === 1).map(codePointOf);
}

/** Returns the characters of an escape such as `\p{L}` or `\P{Script=Greek}`. Throws an error if there is no such property. */
export function propertySet(classEscape: string): CharacterSet {
  const expression = new RegExp(`^${classEscape}$`, 'u');
  return { has: (codePoint) => expression.test(String.fromCodePoint(codePoint)), bounds: [] };
}

export const DIGITS = rangeSet(0x30, 0x39);
export const WORD = unionOf([DIGITS, rangeSet(0x41, 0x5a), rangeSet(0x61, 0x7a), rangeSet(0x5f, 0x5f)]);
/** The characters of `\s` in ECMA-262, section 22.2.2.9. */
export const SPACE = unionOf([
  rangeSet(0x09, 0x0d),
  rangeSet(0x20, 0x20),
  rangeSet(0xa0, 0xa0),
  rangeSet(0xfeff, 0xfeff),
  propertySet('\\p{Z}'),
]);
export const LINE_END = unionOf([rangeSet(0x0a, 0x0a), rangeSet(0x0d, 0x0d), rangeSet(0x2028, 0x2029)]);

/** Returns a few characters that stand for all: two characters that every set treats alike have one of them. */
export function alphabetOf(all: readonly CharacterSet[]): number[] {
  // A repetition copies its set thousands of times.
  const sets = [...new Set(all)];
  const candidates = new Set([
    ...COMMON,
    ...sets.flatMap(({ bounds }) => bounds.flatMap((bound) => [bound, bound - 1, bound + 1])),
  ]);
  const bySignature = new Map<string, number>();
  for (const codePoint of candidates) {
    if (codePoint < 0 || codePoint > 0x10ffff || (codePoint >= 0xd800 && codePoint <= 0xdfff)) continue;
    const signature = sets.map((set) => (set.has(codePoint) ? '1' : '0')).join('');
    if (!bySignature.has(signature)) bySignature.set(signature, codePoint);
  }
  return [...bySignature.values()];
}

/** Readable characters first: they represent their kind in an example. */
const COMMON = [
  ...codePointsOf('xabcdefghijklmnopqrstuvwyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.@/: ,;+*=!?#$%&()[]{}<>|\\^~`\'"'),
  ...codePointsOf('éßñÉΩωжЖ中あカ한אअก٣\u00a0\t\n\r\u2028😀'),
  ...Array.from({ length: 0x20 }, (_, codePoint) => codePoint),
  0x7f,
];

function codePointsOf(text: string): number[] {
  return [...text].map(codePointOf);
}

export function codePointOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
