import type { Pattern } from '../pattern.ts';
import type { FormSegment, FreeText } from './path-spelling.ts';

/** The texts of free segments, by their positions. */
export type FreeTexts = ReadonlyMap<number, FreeText>;

/** A form of a path, and a pattern that it should match. */
interface Alignment {
  readonly segments: readonly FormSegment[];
  readonly pattern: Pattern;
  /** The text of a segment that no literal matches. */
  readonly unknown: string;
  /** True if a segment of dots can disappear from the form. */
  readonly canShorten: boolean;
  /** True if a query can end the form earlier. */
  readonly canEnd: boolean;
}

/** Yields the texts of free segments with which the form matches the pattern. Some servers read a text as several segments. */
export function* alignments(alignment: Alignment): Generator<FreeTexts> {
  yield* align(alignment, 0, 0, new Map());
}

/** Aligns the segments of the form from `index` with those of the pattern from `position`. */
function* align(alignment: Alignment, index: number, position: number, found: FreeTexts): Generator<FreeTexts> {
  const { segments, pattern } = alignment;
  const isRest = pattern[position]?.kind === 'rest';
  const segment = segments[index];
  if (isRest || (segment === undefined && position === pattern.length)) yield found;
  if (isRest || segment === undefined) return;
  const { text, freePosition } = segment;
  if (freePosition !== undefined) yield* alignFree(alignment, { index, position, found, freePosition });
  else if (matches(pattern[position], text)) yield* align(alignment, index + 1, position + 1, found);
}

interface FreeStep {
  readonly index: number;
  readonly position: number;
  readonly found: FreeTexts;
  readonly freePosition: number;
}

function* alignFree(alignment: Alignment, { index, position, found, freePosition }: FreeStep): Generator<FreeTexts> {
  const { segments, pattern, unknown, canShorten, canEnd } = alignment;
  const withText = (text: FreeText) => new Map(found).set(freePosition, text);
  const parts: string[] = [];
  for (let end = position; ; end += 1) {
    const segment = pattern[end];
    const isPatternEnd = end === pattern.length;
    if (canEnd && isPatternEnd) yield withText({ parts: [...parts], isEnd: true });
    if (segment?.kind === 'rest' && parts.length > 0) {
      yield* align(alignment, index + 1, end, withText({ parts: [...parts] }));
      // No segment of a pattern matches an empty one, so a route with more segments before its rest does not match.
      yield withText({ parts: [...parts, '', unknown] });
    } else if (parts.length === 1 && parts[0] === unknown) yield* align(alignment, index + 1, end, found);
    else if (parts.length > 0 || canShorten) yield* align(alignment, index + 1, end, withText({ parts: [...parts] }));
    // Servers that merge slashes read the same, and few routes match the form of the others.
    if (canShorten && parts.length > 1)
      yield* align(alignment, index + 1, end, withText({ parts: parts.flatMap((part) => ['', part]).slice(1) }));
    if (segment === undefined || segment.kind === 'rest') return;
    // Each remaining segment of the form needs one of the pattern.
    if (!canShorten && !canEnd && pattern.at(-1)?.kind !== 'rest' && pattern.length - end < segments.length - index)
      return;
    parts.push(segment.kind === 'literal' ? segment.text : unknown);
  }
}

function matches(segment: Pattern[number] | undefined, text: string): boolean {
  if (segment?.kind === 'literal') return segment.text === text;
  return segment?.kind === 'parameter' && text !== '';
}
