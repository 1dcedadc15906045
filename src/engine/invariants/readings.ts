import type { Route } from '../plan/route-definition.ts';
import { foldLiteral, readPath } from '../routing/path-folding.ts';
import type { Pattern } from '../routing/pattern.ts';

/**
 * Returns the paths as which servers read a path, each folded. Servers that normalize Unicode before they split segments do not count:
 * to them, each path with a parameter could be any other path.
 */
function readingsOf(path: string, { keepsEncodedSlash }: Pick<Route, 'keepsEncodedSlash'>): string[] {
  const decoded = keepsEncodedSlash ? path.replaceAll(/%2f/gi, '/') : path;
  return [...new Set([path, decoded])].flatMap((one) => readPath(one)?.written ?? []);
}

/** True if a path matches one of the patterns, as sent or as some server reads it. */
export function isReadAs(path: string, patterns: readonly Pattern[], route: Pick<Route, 'keepsEncodedSlash'>): boolean {
  if (patterns.some((pattern) => matches(pattern, path))) return true;
  const readings = readingsOf(path, route);
  return patterns.some((pattern) => {
    const folded = pattern.map(foldLiteral);
    return readings.some((reading) => matches(folded, reading));
  });
}

/** True if a path matches a pattern, as in the router: one trailing slash is ignored. */
function matches(pattern: Pattern, path: string): boolean {
  const texts = path.split('/').slice(1);
  if (texts.at(-1) === '') texts.pop();
  if (pattern.at(-1)?.kind === 'rest' ? texts.length < pattern.length - 1 : texts.length !== pattern.length)
    return false;
  return pattern.every(
    (segment, index) =>
      segment.kind === 'rest' || (segment.kind === 'literal' ? segment.text === texts[index] : texts[index] !== ''),
  );
}
