import { foldLiteral, foldSegment, isAlreadyFolded, readPath, type SegmentReader } from './path-folding.ts';
import type { Pattern } from './pattern.ts';

/** The literals with which servers compare a path: folded, or as they are written. */
export type LiteralForm = 'folded' | 'written';

/** A path as some server reads it. */
export interface PathReading {
  readonly path: string;
  readonly form: LiteralForm;
}

/**
 * Returns a function that returns every reading of a path, the first one with all segments folded; `undefined` if there are too many.
 *
 * A server that ignores letter case compares a folded path with folded literals. A server that does not compares a path that keeps its
 * letter case with literals as they are written. A segment keeps its letter case only where a literal has capitals: elsewhere both
 * servers read the same, and one that ignores the letter case of a single segment too.
 */
export function createPathReader(patterns: readonly Pattern[]): (path: string) => readonly PathReading[] | undefined {
  const texts = { folded: new Set<string>(), written: new Set<string>() };
  /** The literals that folding changes, each behind its position, and folded. */
  const [unfolded, changed] = [new Set<string>(), new Set<string>()];
  for (const pattern of patterns)
    for (const [position, segment] of pattern.entries()) {
      if (segment.kind !== 'literal') continue;
      const { text } = foldLiteral(segment);
      texts.folded.add(text);
      texts.written.add(segment.text);
      if (isAlreadyFolded(segment)) continue;
      unfolded.add(`${position} ${segment.text}`);
      changed.add(text);
    }
  const folded = readerOf('folded');
  const written = readerOf('written');
  if (changed.size === 0) return folded;
  return (path) => {
    const readings = folded(path);
    // Without a literal that folding changes, both forms are the same.
    const hasChanged = readings?.some((one) => one.path.split('/').some((text) => changed.has(text)));
    const others = hasChanged === true ? written(path) : [];
    return readings && others && [...readings, ...others];
  };

  function readerOf(form: LiteralForm) {
    const fold = (segment: string, position: number) => {
      const text = foldSegment(segment);
      if (form === 'folded' || !(changed.has(text) || text.includes('%252f'))) return text;
      return unfolded.has(`${position} ${segment}`) ? segment : foldSegment(segment, true);
    };
    const isOther = (segment: string, text: string, position: number) =>
      texts[form].has(text) && !unfolded.has(`${position} ${segment}`);
    const reader: SegmentReader = { keepsCase: form === 'written', fold, isOther };
    return (path: string): PathReading[] | undefined => {
      const found = readPath(path, reader);
      // The last form is for servers that decode slashes after all else, and merge them.
      const paths = [...(found?.written ?? []), ...(found?.normalized ?? [])].flatMap((one) =>
        /%252f/i.test(one) ? [one, one.replaceAll(/(?:%252f|\/)+/gi, '/')] : [one],
      );
      return found && paths.map((one) => ({ path: one, form }));
    };
  }
}
