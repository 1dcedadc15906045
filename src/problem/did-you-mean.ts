import { distance } from 'fastest-levenshtein';

/**
 * The known word nearest to what was written, or `undefined` when none is near enough to be meant:
 * at most a third of its letters may differ. Letter case, `-` and `_` do not count as a difference.
 */
export function didYouMean(written: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const word of known) {
    const steps = distance(fold(written), fold(word));
    if (steps < least && steps <= Math.max(1, Math.floor(word.length / 3))) {
      best = word;
      least = steps;
    }
  }
  return best;
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
