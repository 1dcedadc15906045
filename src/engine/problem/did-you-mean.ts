import { distance } from 'fastest-levenshtein';
import { getOrCreate } from '../get-or-create.ts';

/** Compare at most this many words: thousands of misspelt names against thousands of words would take seconds. */
const MAX_WORDS = 500;

/**
 * Returns the nearest known word, or `undefined`. A word is near if at most a third of its letters differ, two letters are
 * swapped, or one word is the start of the other. Two swapped letters count as less than a wrong one. Letter case, `-` and `_` are ignored. Never returns the written word itself.
 */
export function didYouMean(written: string, known: readonly string[]): string | undefined {
  const [best] = nearMatches(written, known).toSorted((a, b) => a.steps - b.steps);
  const folded = fold(written);
  const isPart = (other: string, index: number) =>
    known[index] !== written && (isPrefix(folded, other) || isPrefix(other, folded));
  return best?.word ?? known[foldedWords(known).findIndex(isPart)];
}

/** Returns the only near word; `undefined` if there are several. */
export function onlyNearMatch(written: string, known: readonly string[]): string | undefined {
  const [first, second] = nearMatches(written, known);
  return second === undefined ? first?.word : undefined;
}

function nearMatches(written: string, known: readonly string[]): { word: string; steps: number }[] {
  const folded = fold(written);
  return foldedWords(known).flatMap((other, index) => {
    const word = known[index] ?? '';
    const steps = word === written ? undefined : nearSteps(folded, other, word.length);
    return steps === undefined ? [] : [{ word, steps }];
  });
}

/** All letters are right, so `lnit` is rather `lint` than `init`. */
const SWAP_STEPS = 0.5;

/** Returns the number of letters that differ; `undefined` if the two are not near. */
function nearSteps(folded: string, other: string, length: number): number | undefined {
  const third = Math.floor(length / 3);
  if (Math.abs(other.length - folded.length) > Math.max(2, third)) return undefined;
  const steps = distance(folded, other);
  if (steps === 2 && isAnagram(folded, other)) return SWAP_STEPS;
  return steps <= Math.max(1, third) ? steps : undefined;
}

/** Returns the number of letters that differ. */
export function editSteps(written: string, word: string): number {
  return distance(fold(written), fold(word));
}

/** True if at most a third of the letters differ, or two letters are swapped. */
export function isNear(written: string, word: string): boolean {
  return nearSteps(fold(written), fold(word), word.length) !== undefined;
}

const FOLDED_WORDS = new WeakMap<readonly string[], string[]>();

/** Returns the folded words of a list, once for all the misspelt names that are compared with it. */
function foldedWords(known: readonly string[]): string[] {
  return getOrCreate(FOLDED_WORDS, known, () => known.slice(0, MAX_WORDS).map(fold));
}

function isAnagram(one: string, other: string): boolean {
  return one.length === other.length && [...one].sort().join() === [...other].sort().join();
}

function isPrefix(start: string, word: string): boolean {
  return start.length >= 3 && word.startsWith(start);
}

/** Returns `; did you mean "x"?` with the first character that only looks like one of x, or else `; write one of: a, b`. */
export function suggestion(written: string, known: readonly string[]): string {
  const near = didYouMean(written, known);
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
