import { distance } from 'fastest-levenshtein';

/** Compare at most this many words: thousands of misspelt names against thousands of words would take seconds. */
const MAX_WORDS = 500;

/**
 * Returns the nearest known word, or `undefined`. A word is near if at most a third of its letters differ, two letters are
 * swapped, or one word is the start of the other. Letter case, `-` and `_` are ignored.
 */
export function didYouMean(written: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const { word, steps } of nearMatches(written, known)) {
    if (steps < least) {
      best = word;
      least = steps;
    }
  }
  const folded = fold(written);
  const isPart = (word: string) => isPrefix(folded, fold(word)) || isPrefix(fold(word), folded);
  return best ?? known.slice(0, MAX_WORDS).find(isPart);
}

/** Returns the only near word; `undefined` if there are several. */
export function onlyNearMatch(written: string, known: readonly string[]): string | undefined {
  const [first, second] = nearMatches(written, known);
  return second === undefined ? first?.word : undefined;
}

function nearMatches(written: string, known: readonly string[]): { word: string; steps: number }[] {
  return known
    .slice(0, MAX_WORDS)
    .filter((word) => isNear(written, word))
    .map((word) => ({ word, steps: editSteps(written, word) }));
}

/** Returns the number of letters that differ. */
export function editSteps(written: string, word: string): number {
  return distance(fold(written), fold(word));
}

/** True if at most a third of the letters differ, or two letters are swapped. */
export function isNear(written: string, word: string): boolean {
  const mayDiffer = Math.max(isAnagram(fold(written), fold(word)) ? 2 : 1, Math.floor(word.length / 3));
  return Math.abs(fold(written).length - fold(word).length) <= mayDiffer && editSteps(written, word) <= mayDiffer;
}

function isAnagram(one: string, other: string): boolean {
  return one.length === other.length && [...one].sort().join() === [...other].sort().join();
}

function isPrefix(start: string, word: string): boolean {
  return start.length >= 3 && word.startsWith(start);
}

/**
 * Returns `; did you mean "x"?`, and the first character that only looks like one of x. If no word is near, lists the valid
 * ones: `; write one of: a, b`. Never suggests the written word itself, which is then rejected for another reason.
 */
export function suggestion(written: string, known: readonly string[]): string {
  const near = didYouMean(
    written,
    known.slice(0, MAX_WORDS).filter((word) => word !== written),
  );
  if (near !== undefined) return `; did you mean "${near}"?${strayCharacter(written, near)}`;
  if (known.length === 0) return '';
  const words = known.slice(0, 12).join(', ');
  return `; write one of: ${words}${known.length > 12 ? ', …' : ''}`;
}

/** Names a character that is not in the near word and that a reader may not see: a letter of another script, or a space. */
function strayCharacter(written: string, near: string): string {
  const characters = [...written];
  const index = characters.findIndex((character) => !/[ -~]/.test(character) && !near.includes(character));
  const code = characters[index]?.codePointAt(0);
  if (code === undefined) return '';
  return ` (character ${index + 1} is U+${code.toString(16).toUpperCase().padStart(4, '0')})`;
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, '');
}
