import { foldedVariants, foldLiteral } from '../../engine/routing/path-folding.ts';
import type { Pattern } from '../../engine/routing/pattern.ts';

/** The segments of a path as written, and as the router may read it. */
export type PathReadings = readonly (readonly string[])[];

/** Returns every form of a path that the router compares with patterns; see `createRouter`. */
export function readPath(path: string): PathReadings {
  const slashed = path.replaceAll(/%2f/gi, '/');
  const forms = new Set([path, ...foldedVariants(path), ...foldedVariants(slashed)]);
  return [...forms].map((form) => form.slice(1).replace(/\/$/, '').split('/'));
}

/** True if the router may match the path with this pattern, or compare the pattern with it. */
export function reads(readings: PathReadings, pattern: Pattern): boolean {
  return readings.some((segments) => {
    const [rest, fixed] = pattern.at(-1)?.kind === 'rest' ? [true, pattern.length - 1] : [false, pattern.length];
    const length = segments.length === 1 && segments[0] === '' ? 0 : segments.length;
    if (rest ? length < fixed : length !== fixed) return false;
    return pattern.slice(0, fixed).every((segment, index) => {
      if (segment.kind !== 'literal') return true;
      return segments[index] === segment.text || segments[index] === foldLiteral(segment).text;
    });
  });
}
