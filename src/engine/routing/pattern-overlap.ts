import type { Pattern, Segment } from './pattern.ts';

/** Returns the pattern of the paths that both match; `undefined` if they have no path in common. */
export function intersect(one: Pattern, other: Pattern): Pattern | undefined {
  const segments: Segment[] = [];
  for (let index = 0; ; index += 1) {
    const a = one[index];
    const b = other[index];
    if (a === undefined && b === undefined) return segments;
    if (a?.kind === 'rest') return [...segments, ...other.slice(index)];
    if (b?.kind === 'rest') return [...segments, ...one.slice(index)];
    if (a === undefined || b === undefined) return undefined;
    if (a.kind === 'literal' && b.kind === 'literal' && a.text !== b.text) return undefined;
    segments.push(a.kind === 'literal' ? a : b);
  }
}
