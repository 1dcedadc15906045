import { getOrCreate } from '../get-or-create.ts';
import { foldVisible, visibleText } from '../text-folding.ts';

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
/** The most paths to fold for one request, and their segments in total: one request may not hold the others. */
const MAX_PATHS = 32;
const MAX_SEGMENTS = 1_024;

/** How some servers read the segments of a path. Positions start at 0. */
export interface SegmentReader {
  /** True for servers that compare letter case. */
  readonly keepsCase?: boolean;
  readonly fold: (segment: string, position: number) => string;
  /** True if the path of a segment as sent can belong to another route than that of the folded segment. */
  readonly isOther: (segment: string, folded: string, position: number) => boolean;
}

const FOLDED: SegmentReader = { fold: (segment) => foldSegment(segment), isOther: () => false };

/**
 * Returns every path that some server could read a path as. Servers fold different things, so each segment that folding changes is
 * read in two ways, independently of the others: folded and as sent, or as a text and as nothing.
 *
 * @returns `undefined` if there are too many
 */
export function readPath(path: string, { fold, isOther, keepsCase }: SegmentReader = FOLDED): PathReadings | undefined {
  readTexts.clear();
  const written = withoutQueries(path);
  const hasUnicode = NON_ASCII.test(path);
  const isLong = written.length > MAX_CHOICES + 1 || path.split('/').length > MAX_SEGMENTS;
  if (isLong || (hasUnicode && isExcessive(path))) return undefined;
  const normalized = hasUnicode
    ? new Set(normalizedPaths(path, keepsCase).flatMap(withoutQueries).flatMap(slashReadings).map(withoutDotSegments))
    : [];
  const paths = [...written, ...normalized].map((one) => one.split('/'));
  if (paths.length > MAX_PATHS || paths.flat().length > MAX_SEGMENTS) return undefined;
  const choices = paths.map((one) =>
    one.map((segment, index) => {
      const folded = fold(segment, index - 1);
      if (segment !== '' && foldToEmpty(segment) === '') return [folded, ''];
      const hasOther = folded !== segment && (folded.includes('/') || isOther(segment, folded, index - 1));
      return hasOther ? [folded, segment] : [folded];
    }),
  );
  const counts = choices.map((each) => each.filter(({ length }) => length > 1).length);
  if (Math.max(...counts) > MAX_CHOICES) return undefined;
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

/** The most hidden dot segments, and slashes behind a `;`: each one doubles the readings of a path. */
const MAX_HIDDEN = 2;
const MAX_UNICODE = 32;
const MAX_TEXT = 16_384;
/** In place of a segment that equals no literal. */
const UNKNOWN = '%EF%BF%BD';
/** The normalized characters that servers read as slashes: without and with backslashes, and with those of legacy code pages (best fit). */
const SLASHES = [
  /%2f/gi,
  /%2f|%5c/gi,
  /%2f|%e2%81%84|%e2%88%95/gi,
  /%2f|%5c|%e2%81%84|%e2%88%9[56]|%c2%a5|%e2%82%a9/gi,
] as const;

/** An escape that appears only after normalization, such as `％2f`. */
const HIDDEN_ESCAPE = /%[\da-f]{2}/;

/** True for a path of Unicode that would take milliseconds to read, because it is long or has hidden slashes and dot segments. */
function isExcessive(path: string): boolean {
  const segments = path.split('/');
  const hasMany = (texts: readonly string[]) => texts.filter((text) => NON_ASCII.test(text)).length > MAX_UNICODE;
  if (hasMany(segments)) return true;
  if (path.split(/\/|%2f/i).some((part) => HIDDEN_ESCAPE.test(readSegment(part)))) return true;
  const texts = segments.map((segment) => escapedText(segment).replaceAll(SLASHES[3], '/'));
  const all = texts.join('/');
  const parts = all.split('/');
  if (all.length > MAX_TEXT || hasMany(parts) || parts.length > segments.length + MAX_UNICODE) return true;
  return parts.filter(isDotSegment).length + texts.filter((text) => /%3B.*\//.test(text)).length > MAX_HIDDEN;
}

/** True for a dot segment of a normalized path. In the path as sent, the path guard has refused those that are not hidden. */
function isDotSegment(segment: string): boolean {
  return /^\.\.?$/.test(withoutParameters(segment));
}

/** Returns a normalized segment in the form of the tree's keys, but with escapes in place of its separators. */
function escapedText(segment: string, keepsCase?: boolean): string {
  return encodeURI(readSegment(segment, keepsCase)).replaceAll(/[;/?#]/g, encodeURIComponent);
}

/** Returns the path as read by servers that normalize Unicode before they split segments. */
function normalizedPaths(path: string, keepsCase?: boolean): string[] {
  const texts = path.split('/').map((segment) => escapedText(segment, keepsCase));
  const all = texts.join('/');
  const slashes = SLASHES.filter((slash, index) => index === 0 || all.search(slash) !== -1);
  return slashes.flatMap((slash) => combine(texts.map((text) => normalizedTexts(text, slash))));
}

/**
 * Returns a segment with its hidden slashes, and without parameters, for servers that remove them first. Servers drop or replace different
 * characters, so a hidden dot segment may also be a text to them.
 */
function normalizedTexts(text: string, slash: RegExp): string[] {
  const [bare = ''] = text.split('%3B');
  const texts = text.slice(bare.length).search(slash) === -1 ? [text] : [text, bare];
  return texts.flatMap((one) => {
    const parts = one.replaceAll(slash, '/').split('/');
    return combine(parts.map((part) => (isDotSegment(part) ? [part, UNKNOWN] : [part])));
  });
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
  return foldToEmpty(segment) === '' && !isDotSegment(segment);
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
export function foldSegment(segment: string, keepsCase?: boolean): string {
  const bare = withoutParameters(segment, keepsCase);
  return bare === '' ? segment : encodeURI(withoutEnd(bare) || bare);
}

function foldToEmpty(segment: string): string {
  return encodeURI(withoutEnd(withoutParameters(segment)));
}

/** Decodes a segment and removes its `;` parameters. Callers escape the result again in the form of the tree's keys. */
function withoutParameters(segment: string, keepsCase?: boolean): string {
  const text = readSegment(segment, keepsCase).trim();
  const parameters = text.indexOf(';');
  return parameters === -1 ? text : text.slice(0, parameters).trim();
}

/** The texts of the current path: its readings have the same segments many times. */
const readTexts = new Map<string, string>();

/** Returns the text that a server reads from a segment, except for encoded slashes. The path guard has refused paths that do not decode. */
export function readSegment(segment: string, keepsCase?: boolean): string {
  const read = keepsCase === true ? visibleText : foldVisible;
  if (!segment.includes('%')) return read(segment);
  return getOrCreate(readTexts, `${keepsCase === true} ${segment}`, () => {
    const parts = segment.split(/%2f/i).map((part) => read(decodeURIComponent(part)));
    return parts.join('%2f');
  });
}

function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '.' || text[end - 1]?.trim() === '')) end -= 1;
  return text.slice(0, end);
}
