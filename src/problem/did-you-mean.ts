import { distance } from 'fastest-levenshtein';

/** Each is compared with what was written: thousands of wrong names among thousands of words would take seconds. */
const MAX_WORDS = 500;

/**
 * The known word nearest to what was written, or `undefined` when none is near enough to be meant: at most a
 * third of its letters may differ, or two have changed places, or one begins with the other. Letter case, `-`
 * and `_` do not count as a difference.
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
  const meant = fold(written);
  const isPart = (word: string) => isPrefix(meant, fold(word)) || isPrefix(fold(word), meant);
  return best ?? known.slice(0, MAX_WORDS).find(isPart);
}

/** The known word that must be meant: no other one is near. */
export function onlyNearMatch(written: string, known: readonly string[]): string | undefined {
  const [first, second] = nearMatches(written, known);
  return second === undefined ? first?.word : undefined;
}

function nearMatches(written: string, known: readonly string[]): { word: string; steps: number }[] {
  const meant = fold(written);
  return known
    .slice(0, MAX_WORDS)
    .map((word) => ({ word, steps: distance(meant, fold(word)) }))
    .filter(({ word, steps }) => steps <= Math.max(isAnagram(meant, fold(word)) ? 2 : 1, Math.floor(word.length / 3)));
}

function isAnagram(one: string, other: string): boolean {
  return one.length === other.length && [...one].sort().join() === [...other].sort().join();
}

function isPrefix(start: string, whole: string): boolean {
  return start.length >= 3 && whole.startsWith(start);
}

/** `; did you mean "x"?`, or what may be written when nothing is near: `; known here: a, b`. */
export function suggestion(written: string, known: readonly string[]): string {
  const near = didYouMean(written, known);
  if (near !== undefined) return `; did you mean "${near}"?`;
  if (known.length === 0) return '';
  const shown = known.slice(0, 12).join(', ');
  return `; write one of: ${shown}${known.length > 12 ? ', …' : ''}`;
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, '');
}
