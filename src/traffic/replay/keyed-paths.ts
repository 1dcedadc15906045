import { isShortWord, looksLikeIdentifier } from '../../engine/log/plain-names.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { type Pattern, patternKey } from '../../engine/routing/pattern.ts';
import type { ReplaySide } from './route-rules.ts';

/** The paths of a log that have surrogates in place of identifiers. */
export type KeyedPaths = ReturnType<typeof createKeyedPaths>;

/** @param logged the manifest that wrote the log */
export function createKeyedPaths({ plan, manifest }: ReplaySide, next: Plan) {
  const { paths } = manifest.log;
  const newPatterns = patternsOf(next, plan);
  const isSurrogateIn = (path: string, route: Route | undefined) => {
    if (route !== undefined) {
      const { pattern } = route;
      const firstValue = pattern.findIndex(({ kind }) => kind !== 'literal');
      return (segment: string, index: number) =>
        index >= firstValue && pattern[index]?.kind !== 'literal' && !isShortWord(segment);
    }
    const isMatched = plan.router.allowedMethods(path).length > 0;
    return (segment: string) =>
      segment === HIDDEN || looksLikeIdentifier(segment) || (isMatched && !isShortWord(segment));
  };
  return {
    /** True if the path of a logged request may have surrogates. @param route `undefined` if it has none */
    isKeyed: (route: Route | undefined): boolean => {
      if (route === undefined) return plan.log.keyedPaths !== undefined;
      const isKeyedRoute = paths === 'keyed' || (paths === undefined && route.access === 'public');
      return isKeyedRoute && route.pattern.some(({ kind }) => kind !== 'literal');
    },
    /** True if a path with surrogates may stand for one that matches another route of the new plan. */
    mayMatchOther: (path: string, route: Route | undefined): boolean => {
      if (newPatterns.length === 0) return false;
      const segments = path.replace(/\/$/, '').split('/').slice(1);
      const isSurrogate = isSurrogateIn(path, route);
      return newPatterns.some((pattern) => mayMatch(pattern, segments, isSurrogate));
    },
  };
}

/** Stands in the log for a value without a surrogate. */
const HIDDEN = '*';

/** Returns the patterns that only the new plan has. */
function patternsOf({ routes }: Plan, old: Plan): Pattern[] {
  const keys = new Set(old.routes.map(({ pattern }) => patternKey(pattern)));
  return routes.map(({ pattern }) => pattern).filter((pattern) => !keys.has(patternKey(pattern)));
}

/** True if a path may match a pattern with the original values of its surrogates. */
function mayMatch(
  pattern: Pattern,
  segments: readonly string[],
  isSurrogate: (segment: string, index: number) => boolean,
): boolean {
  const hasRest = pattern.at(-1)?.kind === 'rest';
  if (hasRest ? segments.length < pattern.length - 1 : segments.length !== pattern.length) return false;
  return pattern.every((part, index) => {
    const segment = segments[index] ?? '';
    return part.kind !== 'literal' || part.text === segment || isSurrogate(segment, index);
  });
}
