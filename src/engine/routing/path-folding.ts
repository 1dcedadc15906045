import { foldVisible } from '../text-folding.ts';

/** Matches the characters that folding changes: a path without them folds to itself. */
export const FOLDABLE = /[A-Z;%]|\.(?:\/|$)/;

/** A segment of a pattern. Only a literal has a text. */
interface PatternSegment {
  readonly kind: 'literal' | 'parameter' | 'rest' | 'any';
  readonly text?: string;
}

/** Every path that some server could read a path as, each folded. */
interface PathReadings {
  /** As read by servers that do not normalize Unicode before they split segments. */
  readonly written: readonly string[];
  /** As read by servers that do. Empty for a path without escapes of Unicode. */
  readonly normalized: readonly string[];
}

/** Returns every path that some server could read a path as, each folded. */
export function foldedVariants(path: string): string[] {
  const { written, normalized } = readPath(path);
  return [...written, ...normalized];
}

export function readPath(path: string): PathReadings {
  const written = withoutQueries(path).flatMap(foldsOf);
  if (!NON_ASCII.test(path)) return { written, normalized: [] };
  const normalized = withoutQueries(normalizePath(path)).flatMap((one) =>
    slashReadings(one).flatMap((reading) => foldsOf(withoutDotSegments(reading))),
  );
  return { written, normalized };
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

/** Some servers decode the path before they split off query, fragment, or both: the first escaped `?` or `#` ends the path there. */
function withoutQueries(path: string): string[] {
  const cuts = new Set([path.search(/%3f/i), path.search(/%23/)]);
  return [path, ...[...cuts].filter((cut) => cut !== -1).map((cut) => path.slice(0, cut))];
}

/** Matches a segment that some servers read as empty, or one that is empty: only Unicode normalization writes those. */
const MAY_BE_EMPTY = /\/[.%/]/;

function foldsOf(path: string): string[] {
  const folded = foldPath(path, foldSegment);
  if (!MAY_BE_EMPTY.test(path)) return [folded];
  // Some servers read a segment of only dots and blanks as a parameter's value. Others read it as empty, and may merge the slashes.
  // They do so before, after or without the removal of `;` parameters.
  const emptied = [foldToEmpty, foldDotsToEmpty].map((fold) => foldPath(path, fold));
  return [folded, ...emptied.flatMap((one) => [one, one.replaceAll(/\/{2,}/g, '/')])];
}

/** The number of forms of a complete path that does not normalize to another one. */
export function countForms(path: string): number {
  return MAY_BE_EMPTY.test(path) ? 5 : 1;
}

/** Returns the path as read by a server that normalizes Unicode before it splits segments, and reads a fullwidth solidus as a slash. */
function normalizePath(path: string): string {
  const segments = path.split('/').map((segment) => encodeURIComponent(readSegment(segment)));
  return segments.join('/').replaceAll(/%2f|%5c/gi, '/');
}

/** Returns the path with all slashes, and as read by a server that merges them before it removes dot segments: `..` then removes another segment. */
function slashReadings(path: string): string[] {
  if (!MAY_BE_EMPTY.test(path)) return [path];
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

function foldPath(path: string, fold: (segment: string) => string): string {
  return path.split('/').map(fold).join('/');
}

/** Folds a segment, unless it would become empty. */
function foldSegment(segment: string): string {
  const bare = withoutParameters(segment);
  return bare === '' ? segment : encodeURI(withoutEnd(bare) || bare);
}

function foldToEmpty(segment: string): string {
  return encodeURI(withoutEnd(withoutParameters(segment)));
}

function foldDotsToEmpty(segment: string): string {
  return withoutEnd(readSegment(segment)) === '' ? '' : foldSegment(segment);
}

/** Decodes a segment and removes its `;` parameters. Callers escape the result again in the form of the tree's keys. */
function withoutParameters(segment: string): string {
  const lower = readSegment(segment).trim();
  const parameters = lower.indexOf(';');
  return parameters === -1 ? lower : lower.slice(0, parameters).trim();
}

/** Decodes a segment except for encoded slashes. The path guard has refused paths that do not decode. */
function decode(segment: string): string {
  return segment.includes('%') ? decodeURIComponent(segment.replaceAll(/%2f/gi, '%252F')) : segment;
}

/** Returns the text that a server reads from a segment. Escapes that appear only after normalization, such as `％2f`, are decoded too. */
export function readSegment(segment: string): string {
  const text = foldVisible(decode(segment));
  if (!text.includes('%') || !NON_ASCII.test(segment)) return text;
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
