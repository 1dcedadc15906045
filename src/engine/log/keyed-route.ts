import type { Route } from '../plan/route-definition.ts';
import { readSegment } from '../routing/path-folding.ts';
import type { PathValueRule } from '../validation/parameters.ts';
import { isShortWord, looksLikeIdentifier } from './plain-names.ts';

/** The settings of paths that have surrogates in place of identifiers. */
export interface KeyedPathSettings {
  readonly secret: string;
  readonly routes: readonly KeyedRoute[];
  /** The literal segments of all paths, each read by `readLiteral`. */
  readonly literals: ReadonlySet<string>;
}

/** A route whose path has segments that the log replaces. */
export interface KeyedRoute {
  readonly route: Route;
  /** Returns true if the segment at an index of a matched path, from 0, is an identifier. */
  readonly isReplaced: (segment: string, index: number) => boolean;
  /** Returns true if a surrogate is as valid for the parameter as the value is. */
  readonly fits: (surrogate: string, value: string, index: number) => boolean;
}

/** Returns `undefined` for a path without parameters and without `/**`. */
export function keyedRouteOf(route: Route): KeyedRoute | undefined {
  const { pattern } = route;
  const firstValue = pattern.findIndex(({ kind }) => kind !== 'literal');
  if (firstValue === -1) return undefined;
  const ruleAt = (index: number) => route.parameters?.pathValues.get(index);
  const isReplaced = (segment: string, index: number) => {
    // `/**` also matches the words of a folder of files.
    const kind = pattern[index]?.kind ?? 'rest';
    if (kind === 'parameter') return !isKept(segment, ruleAt(index));
    return kind === 'rest' && looksLikeIdentifier(segment);
  };
  return {
    route,
    isReplaced: (segment, index) => index >= firstValue && segment !== '' && isReplaced(segment, index),
    fits: (surrogate, value, index) => {
      const rule = ruleAt(index);
      if (rule === undefined) return true;
      return !rule.listed.has(surrogate) && (rule.isValid(value) !== true || rule.isValid(surrogate) !== false);
    },
  };
}

/** Returns a text as the router compares it with the literals of stricter routes. */
export function readLiteral(text: string): string {
  return readSegment(text).replace(/[. ]+$/, '');
}

/** True for a value that the manifest lists, and for a word that is too short to be an identifier. */
function isKept(segment: string, rule: PathValueRule | undefined): boolean {
  return rule !== undefined && rule.listed.size > 0 ? rule.listed.has(segment) : isShortWord(segment);
}
