import { foldVisible } from '../text-folding.ts';

/** Matches the characters that folding changes: a path without them folds to itself. */
export const FOLDABLE = /[A-Z;%]|\.(?:\/|$)/;

/** A segment of a pattern. Only a literal has a text. */
interface PatternSegment {
  readonly kind: 'literal' | 'parameter' | 'rest' | 'any';
  readonly text?: string;
}

/** Every path that some server could read a path as. */
interface PathReadings {
  /** As read by servers that do not normalize Unicode before they split segments. The first one has all segments, each folded. */
  readonly written: readonly string[];
  /** As read by servers that do. Empty for a path without escapes of Unicode. */
  readonly normalized: readonly string[];
}

/** The most segments of a path that can be read in two ways, and the most ends that a path can have. */
const MAX_CHOICES = 5;

/**
 * Returns every path that some server could read a path as. Servers fold different things, so each segment that folding changes is
 * read in two ways, independently of the others: folded and as sent, or as a text and as nothing.
 *
 * @param isOther true if the path of a segment as sent, at a position from 0, can belong to another route than that of the folded segment
 * @returns `undefined` if there are too many
 */
export function readPath(
  path: string,
  isOther: (segment: string, folded: string, position: number) => boolean = () => false,
): PathReadings | undefined {
  const written = withoutQueries(path);
  if (path.split('/').filter(isHiddenDotSegment).length > MAX_HIDDEN) return undefined;
  const normalized = NON_ASCII.test(path)
    ? normalizedPaths(path).flatMap(withoutQueries).flatMap(slashReadings).map(withoutDotSegments)
    : [];
  const choices = [...written, ...normalized].map((one) =>
    one.split('/').map((segment, index) => {
      const folded = foldSegment(segment);
      if (segment !== '' && foldToEmpty(segment) === '') return [folded, ''];
      const hasOther = folded !== segment && (folded.includes('/') || isOther(segment, folded, index - 1));
      return hasOther ? [folded, segment] : [folded];
    }),
  );
  const counts = choices.map((each) => each.filter(({ length }) => length > 1).length);
  if (Math.max(written.length - 1, ...counts) > MAX_CHOICES) return undefined;
  const readings = choices.map(combine);
  return { written: readings.slice(0, written.length).flat(), normalized: readings.slice(written.length).flat() };
}

/** Returns the paths of all combinations of texts, with all slashes, and as servers read them that merge slashes. */
function combine(choices: readonly (readonly string[])[]): string[] {
  const paths = choices.reduce((starts, texts) => starts.flatMap((start) => texts.map((text) => `${start}/${text}`)));
  return paths.flatMap((path) => (path.includes('//') ? [path, path.replaceAll(/\/{2,}/g, '/')] : [path]));
}

/** Folds a segment of a pattern, as a server that folds paths reads it. */
export function foldLiteral<S extends PatternSegment>(segment: S): S {
  return segment.kind === 'literal' ? { ...segment, text: foldSegment(segment.text ?? '') } : segment;
}

/** Returns another spelling of a segment, which folds to the same text and is no literal of any pattern. */
export function respell<S extends PatternSegment>(segment: S): S {
  return segment.kind === 'literal' ? { ...segment, text: `${segment.text};x` } : segment;
}

/** True if folding does not change a segment. */
export function isAlreadyFolded(segment: PatternSegment): boolean {
  if (segment.kind !== 'literal' || /^[a-z0-9_-]+$/.test(segment.text ?? '')) return true;
  return foldSegment(segment.text ?? '') === segment.text;
}

const NON_ASCII = /%[89a-f]/i;

/** Some servers decode the path before they split off query, fragment, or both: an escaped `?` or `#` ends the path there. */
function withoutQueries(path: string): string[] {
  const paths = [path];
  let start = 0;
  for (const segment of path.split('/')) {
    for (const end of new Set([segment.search(/%3f/i), segment.search(/%23/)]))
      if (end !== -1) paths.push(path.slice(0, start + end));
    start += segment.length + 1;
  }
  return paths;
}

/** The most hidden dot segments of a path: each one doubles its readings. */
const MAX_HIDDEN = 2;
/** In place of a segment that equals no literal. */
const UNKNOWN = '%EF%BF%BD';

/** True for a dot segment of fullwidth dots, or with characters that cannot be seen. The path guard has refused all others. */
function isHiddenDotSegment(segment: string): boolean {
  return NON_ASCII.test(segment) && /^\.\.?$/.test(withoutParameters(segment));
}

/**
 * Returns the path as read by servers that normalize Unicode before they split segments, and read a fullwidth solidus as a slash. They drop
 * or replace different characters, so each hidden dot segment may also be a text to them.
 */
function normalizedPaths(path: string): string[] {
  return combine(
    path.split('/').map((segment) => {
      const read = encodeURIComponent(readSegment(segment)).replaceAll(/%2f|%5c/gi, '/');
      return isHiddenDotSegment(segment) ? [read, UNKNOWN] : [read];
    }),
  );
}

/** Returns the path with all slashes, and as read by a server that merges them before it removes dot segments: `..` then removes another segment. */
function slashReadings(path: string): string[] {
  const merged = `/${path
    .split('/')
    .filter((segment) => !isReadAsEmpty(segment))
    .join('/')}`;
  return merged === path ? [path] : [path, merged];
}

function isReadAsEmpty(segment: string): boolean {
  return foldToEmpty(segment) === '' && !/^\.\.?$/.test(withoutParameters(segment));
}

/** Removes dot segments (RFC 3986 section 5.2.4), including those that appear only after a server has trimmed a segment. */
function withoutDotSegments(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    const bare = withoutParameters(segment);
    if (bare === '..') segments.pop();
    else if (bare !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

/** Folds a segment, unless it would become empty. */
function foldSegment(segment: string): string {
  const bare = withoutParameters(segment);
  return bare === '' ? segment : encodeURI(withoutEnd(bare) || bare);
}

function foldToEmpty(segment: string): string {
  return encodeURI(withoutEnd(withoutParameters(segment)));
}

/** Decodes a segment and removes its `;` parameters. Callers escape the result again in the form of the tree's keys. */
function withoutParameters(segment: string): string {
  const lower = readSegment(segment).trim();
  const parameters = lower.indexOf(';');
  return parameters === -1 ? lower : lower.slice(0, parameters).trim();
}

/**
 * Returns the text that a server reads from a segment, except for encoded slashes. Escapes that appear only after normalization, such
 * as `％2f`, are decoded too. The path guard has refused paths that do not decode.
 */
export function readSegment(segment: string): string {
  return segment.includes('%') ? segment.split(/%2f/i).map(readPart).join('%2f') : foldVisible(segment);
}

function readPart(part: string): string {
  const text = foldVisible(decodeURIComponent(part));
  if (!text.includes('%') || !NON_ASCII.test(part)) return text;
  return foldVisible(text.replaceAll(ESCAPES, decodeAgain));
}

const ESCAPES = /(?:%[0-9a-f]{2})+/g;

function decodeAgain(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
}

function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '.' || text[end - 1]?.trim() === '')) end -= 1;
  return text.slice(0, end);
}
