import { countForms, foldedVariants, readPath } from '../path-folding.ts';
import type { Pattern } from '../pattern.ts';

/** Ends the path for servers that decode it before they split off the query. */
const QUERY = '%3Fx';
/** A fullwidth solidus and question mark: a slash and a query for servers that normalize Unicode. */
const SLASH = '%EF%BC%8F';
const QUESTION_MARK = '%EF%BC%9F';

/** The text of a segment that a pattern leaves free. */
export interface FreeText {
  /** The segments that servers read which normalize Unicode. Without any, servers read an empty segment, or none. */
  readonly parts: readonly string[];
  /** True if the path ends here for some servers. */
  readonly isEnd?: boolean;
}

/** A segment of a form. */
export interface FormSegment {
  readonly text: string;
  /** The position of the free segment of the path that it comes from. */
  readonly freePosition: number | undefined;
}

interface SpelledSegment {
  /** `undefined` while any text fits the pattern. */
  readonly text: string | undefined;
  /** True if the pattern allows any text. */
  readonly isOpen: boolean;
}

/** One spelling of the paths of a pattern, with free segments that can still get other texts. */
export class PathSpelling {
  readonly path: string;
  /** Every form in which some server could read the path. */
  readonly forms: readonly string[];
  /** The number of forms, the first ones, for servers that do not normalize Unicode before they split segments. */
  readonly writtenCount: number;
  readonly #segments: readonly SpelledSegment[];
  readonly #unknown: string;

  private constructor(segments: readonly SpelledSegment[], unknown: string) {
    this.#segments = segments;
    this.#unknown = unknown;
    this.path = this.#write(() => unknown);
    const { written, normalized } = readPath(this.path);
    this.forms = [...written, ...normalized];
    this.writtenCount = written.length;
  }

  /**
   * @param length the number of segments
   * @param unknown differs from every literal of a route, in any spelling
   */
  static create(pattern: Pattern, length: number, unknown: string): PathSpelling {
    const segments = Array.from({ length }, (_, position) => {
      const segment = pattern[position];
      const text = segment?.kind === 'literal' ? segment.text : undefined;
      return { text, isOpen: text === undefined };
    });
    return new PathSpelling(segments, unknown);
  }

  segmentsOf(form: number): readonly FormSegment[] {
    const names = this.#segments.map((_, position) => `${this.#unknown}-${position}-${this.#unknown}`);
    const positions = new Map(names.map((name, position) => [name, position]));
    const named = segmentsOf(foldedVariants(this.#write((position) => names[position] ?? ''))[form] ?? '');
    return segmentsOf(this.forms[form] ?? '').map((text, index) => ({
      text,
      freePosition: positions.get(named[index] ?? ''),
    }));
  }

  /** Returns a name that is equal for forms of different spellings that servers read in the same way. */
  formName(form: number): string {
    if (form >= this.writtenCount) return 'normalized';
    const completeCount = countForms(this.path);
    return form < completeCount ? `complete ${form}` : `cut ${form - completeCount}`;
  }

  /** True if some servers read less than the complete path, because it has an escaped query or fragment. */
  hasEnd(): boolean {
    return /%3f|%23|%ef%bc%(?:9f|83)/i.test(this.path);
  }

  /** Gives free segments a text. */
  withTexts(texts: ReadonlyMap<number, FreeText>): PathSpelling {
    const segments = this.#segments.map((segment, position) => {
      const text = texts.get(position);
      return text === undefined ? segment : { ...segment, text: writeText(text) };
    });
    return new PathSpelling(segments, this.#unknown);
  }

  /**
   * Yields spellings with the same forms as written, but which begin with these segments for servers that normalize Unicode:
   * they read slashes behind a `;` parameter, and dot segments that remove everything before.
   */
  *withReading(segments: readonly string[]): Generator<PathSpelling> {
    const most = Math.max(...this.forms.map((form) => form.split('/').length));
    const reading = `;${joinParts(['', ...Array.from({ length: most }, () => '..'), ...segments])}`;
    for (const [position, { text = this.#unknown, isOpen }] of [...this.#segments.entries()].reverse()) {
      if (!isOpen || text.split(`;${SLASH}..`).length > 2) continue;
      yield this.#with(position, text + reading);
      if (this.hasEnd()) yield this.#with(position, text + reading + QUESTION_MARK);
    }
  }

  #with(position: number, text: string): PathSpelling {
    return new PathSpelling(this.#segments.with(position, { text, isOpen: true }), this.#unknown);
  }

  #write(freeText: (position: number) => string): string {
    return `/${this.#segments.map(({ text }, position) => text ?? freeText(position)).join('/')}`;
  }
}

/** Writes a text that differs from every literal, so no route matches the path because of it alone. */
function writeText({ parts, isEnd = false }: FreeText): string {
  const text = joinParts(parts);
  if (isEnd) return text + QUERY;
  if (parts.length === 0) return '...';
  // A parameter folds away.
  return parts.length === 1 ? `${text};x` : text;
}

/** Folded segments have plain question marks and number signs, which would end the path of a request. */
function joinParts(parts: readonly string[]): string {
  return parts.join(SLASH).replaceAll('?', '%3F').replaceAll('#', '%23');
}

/** Returns the segments of a path, of which a trailing slash is ignored. */
export function segmentsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/').slice(1);
}
