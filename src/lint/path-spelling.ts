import { foldedVariants } from '../plan/routing/path-folding.ts';
import type { Pattern } from '../plan/routing/pattern.ts';

/** Ends the path for servers that decode it before they split off the query. */
const QUERY = '%3Fx';

interface SpelledSegment {
  /** `undefined` while any text fits the pattern. */
  readonly text: string | undefined;
  readonly hasQuery: boolean;
}

/** One spelling of the paths of a pattern, with free segments that can still get other texts. */
export class PathSpelling {
  readonly path: string;
  /** Every form in which some server could read the path. */
  readonly forms: readonly string[];
  readonly #segments: readonly SpelledSegment[];
  readonly #unknown: string;

  private constructor(segments: readonly SpelledSegment[], unknown: string) {
    this.#segments = segments;
    this.#unknown = unknown;
    this.path = this.#write(() => unknown);
    this.forms = foldedVariants(this.path);
  }

  /**
   * @param length the number of segments
   * @param unknown differs from every literal of a route, in any spelling
   */
  static create(pattern: Pattern, length: number, unknown: string): PathSpelling {
    const segments = Array.from({ length }, (_, position) => {
      const segment = pattern[position];
      return { text: segment?.kind === 'literal' ? segment.text : undefined, hasQuery: false };
    });
    return new PathSpelling(segments, unknown);
  }

  /** Returns, for each segment of a form, the position of the free segment of the path that it comes from. */
  freePositions(form: number): (number | undefined)[] {
    const names = this.#segments.map((_, position) => `${this.#unknown}-${position}-${this.#unknown}`);
    const positions = new Map(names.map((name, position) => [name, position]));
    const named = foldedVariants(this.#write((position) => names[position] ?? ''))[form] ?? '';
    return segmentsOf(named).map((text) => positions.get(text));
  }

  /** Returns the pattern of all paths with which a form matches the same segments. */
  formPattern(form: number): Pattern {
    const positions = this.freePositions(form);
    return segmentsOf(this.forms[form] ?? '').map((text, index) =>
      positions[index] === undefined ? { kind: 'literal', text } : { kind: 'parameter', name: 'any' },
    );
  }

  /** Gives free segments the literals of a pattern that a form should match; `undefined` if it has none there. */
  withLiterals(form: number, pattern: Pattern): PathSpelling | undefined {
    const segments = [...this.#segments];
    let isChanged = false;
    for (const [index, position] of this.freePositions(form).entries()) {
      const literal = pattern[index];
      if (position === undefined || literal?.kind !== 'literal') continue;
      // A parameter folds away, and the text differs from the literal, so the route of the literal does not match it.
      const end = segments[position]?.hasQuery ? QUERY : ';x';
      segments[position] = { text: `${literal.text}${end}`, hasQuery: false };
      isChanged = true;
    }
    return isChanged ? new PathSpelling(segments, this.#unknown) : undefined;
  }

  /** Yields spellings of which the first form is equal to that of this one, but a later form has other segments. */
  *reshaped(form: number): Generator<PathSpelling> {
    const hasQuery = /%3f|%23/i.test(this.path);
    for (const position of this.freePositions(form)) {
      if (position === undefined || this.#segments[position]?.hasQuery) continue;
      yield this.#with(position, { text: '...', hasQuery: false });
      if (!hasQuery) continue;
      yield this.#with(position, { text: undefined, hasQuery: true });
      yield this.#with(position, { text: QUERY, hasQuery: false });
    }
  }

  #with(position: number, segment: SpelledSegment): PathSpelling {
    return new PathSpelling(this.#segments.with(position, segment), this.#unknown);
  }

  #write(freeText: (position: number) => string): string {
    const texts = this.#segments.map(
      ({ text, hasQuery }, position) => (text ?? freeText(position)) + (hasQuery ? QUERY : ''),
    );
    return `/${texts.join('/')}`;
  }
}

/** Returns the segments of a path, of which a trailing slash is ignored. */
export function segmentsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/').slice(1);
}
