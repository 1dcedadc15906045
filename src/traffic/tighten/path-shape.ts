import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { foldedVariants } from '../../engine/routing/path-folding.ts';

/** Characters for which the router has no second reading. */
const PLAIN = /^[A-Za-z0-9_~@:-]+(?:\.[A-Za-z0-9_~@:-]+)*$/;
/** Plain characters, and escapes of others than slashes, backslashes, escapes, `;`, `?` and `#`. */
const ESCAPED = /^(?:[A-Za-z0-9_.~@:-]|%(?!2[35Ff]|3[BbFf]|5[Cc])[0-9A-Fa-f]{2})+$/;
/** A name that a developer chose: words of letters, with few digits, as in `v2` or `open-api.json`. */
const WORD = /^[A-Za-z][A-Za-z]*\d{0,2}(?:[-_.][A-Za-z]+\d{0,2})*$/;
const MAX_WORD_CHARACTERS = 32;
/** Keyed paths keep words of fewer letters; longer ones may be surrogates. */
const MAX_KEPT_WORD = /^[A-Za-z]{1,5}$/;
/** Random letters change between capitals and small letters more often than camel case. */
const MAX_CAPITALS = 4;

/** Replaces the identifiers in paths, so that equal requests to different items count as one. */
export class PathShapes {
  /** In lower case: the router folds letter case. */
  readonly #literals: ReadonlySet<string>;
  readonly #placeholder: string;

  constructor({ routes }: Pick<Plan, 'routes'>) {
    const segments = routes.flatMap(({ pattern }) => pattern);
    this.#literals = new Set(segments.flatMap((one) => (one.kind === 'literal' ? [one.text.toLowerCase()] : [])));
    let placeholder = '0';
    while (this.#literals.has(placeholder)) placeholder += '0';
    this.#placeholder = placeholder;
  }

  /** Returns a path that routes the same as this one, with the same text for each identifier. */
  shapeOf(path: string, isKeyed: boolean): string {
    if (!path.startsWith('/')) return path;
    const segments = path.split('/').map((segment) => {
      if (segment === '' || !this.#isPlain(segment)) return segment;
      // The router folds letter case, so a name in other letters is no identifier.
      const isName = this.isName(segment, isKeyed) || this.isName(segment.toLowerCase(), isKeyed);
      return isName ? segment : this.#placeholder;
    });
    return segments.join('/');
  }

  /** True if the router reads a segment in one way, and that is no literal of a route, nor of one that may be proposed. */
  #isPlain(segment: string): boolean {
    if (PLAIN.test(segment)) return !this.#literals.has(segment.toLowerCase());
    if (!ESCAPED.test(segment) || this.#literals.has(segment.toLowerCase())) return false;
    return foldedVariants(`/${segment}`).every(
      (variant) => variant.lastIndexOf('/') === 0 && !this.isName(variant.slice(1), false),
    );
  }

  /** True if a segment may be a literal of a proposed route: no identifier, no surrogate and no secret. */
  isName(segment: string, isKeyed: boolean): boolean {
    if (this.#literals.has(segment.toLowerCase())) return true;
    if (isKeyed) return MAX_KEPT_WORD.test(segment);
    const capitals = segment.replaceAll(/[^A-Z]/g, '').length;
    const isCapital = capitals === segment.length;
    return WORD.test(segment) && segment.length <= MAX_WORD_CHARACTERS && (isCapital || capitals <= MAX_CAPITALS);
  }
}

/** True if the access log has surrogates in place of words in the paths of a route. */
export function hasKeyedPaths({ access, path }: Route, log: object): boolean {
  const paths = 'paths' in log ? log.paths : undefined;
  return paths === 'keyed' || (paths === undefined && access === 'public' && /[{*]/.test(path));
}
