import type { Pattern } from './pattern.ts';

/** Characters that folding changes: a path without them is its own fold. */
export const FOLDABLE = /[A-Z;%]|\.(?:\/|$)/;

/** Returns the paths that some server could take a path for, each folded. */
export function foldedVariants(path: string): string[] {
  const folded = withCut(path).flatMap(foldsOf);
  if (!NON_ASCII.test(path)) return folded;
  return [...folded, ...withCut(inAscii(path)).flatMap((one) => foldsOf(withoutDotSegments(one)))];
}

/** Returns a segment of a pattern as a server takes it that folds paths. */
export function foldLiteral<S extends Pattern[number]>(segment: S): S {
  return segment.kind === 'literal' ? { ...segment, text: foldSegment(segment.text) } : segment;
}

/** Returns true if folding changes nothing of a segment. */
export function isAlreadyFolded(segment: Pattern[number]): boolean {
  if (segment.kind !== 'literal' || /^[a-z0-9_-]+$/.test(segment.text)) return true;
  return foldSegment(segment.text) === segment.text;
}

const NON_ASCII = /%[89a-f]/i;

/** A server that decodes before it cuts query and fragment off cuts all that follows. */
function withCut(path: string): string[] {
  const cut = path.search(/%3f|%23/i);
  return cut === -1 ? [path] : [path, path.slice(0, cut)];
}

function foldsOf(path: string): string[] {
  const kept = foldPath(path, foldSegment);
  if (!/\/[.%]/.test(path)) return [kept];
  // A segment of dots and blanks alone is what a parameter takes to some, nothing to others; and these may join the slashes.
  const emptied = foldPath(path, foldWhole);
  return [kept, emptied, emptied.replaceAll(/\/{2,}/g, '/')];
}

/** The path to a server that normalizes it before it cuts it into segments: a fullwidth solidus is a slash to that one. */
function inAscii(path: string): string {
  const segments = path.split('/').map((segment) => encodeURIComponent(read(segment)));
  return segments.join('/').replaceAll(/%2f|%5c/gi, '/');
}

/** RFC 3986 section 5.2.4, of segments that a server may trim. */
function withoutDotSegments(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    const bare = withoutParameters(segment);
    if (bare === '..') kept.pop();
    else if (bare !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}

function foldPath(path: string, fold: (segment: string) => string): string {
  return path.split('/').map(fold).join('/');
}

/** A segment that would become empty stays as it is. */
function foldSegment(segment: string): string {
  const bare = withoutParameters(segment);
  return bare === '' ? segment : encodeURI(withoutEnd(bare) || bare);
}

function foldWhole(segment: string): string {
  return encodeURI(withoutEnd(withoutParameters(segment)));
}

/** Decoded, to be escaped again in one way alone, since the tree's keys are. */
function withoutParameters(segment: string): string {
  const lower = read(segment).trim();
  const parameters = lower.indexOf(';');
  return parameters === -1 ? lower : lower.slice(0, parameters).trim();
}

/** An encoded slash stays inside of its segment; the path guard has refused what does not decode. */
function decode(segment: string): string {
  return segment.includes('%') ? decodeURIComponent(segment.replaceAll(/%2f/gi, '%252F')) : segment;
}

/** The text that a server makes of a segment. An escape that only shows then, such as `％2f`, is decoded as well. */
function read(segment: string): string {
  const text = plain(decode(segment));
  if (!text.includes('%') || !NON_ASCII.test(segment)) return text;
  return plain(text.replaceAll(ESCAPES, decodeAgain));
}

const ESCAPES = /(?:%[0-9a-f]{2})+/g;

function decodeAgain(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
}

const ASCII = /^[ -~]*$/;
/** Soft hyphens, zero-width characters, marks of direction, variation selectors, tags. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;

/** The text in lower case, without characters that nobody sees, each other one in its plain form (Unicode NFKC). */
function plain(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const visible = text.replaceAll(INVISIBLE, '').normalize('NFKC').replaceAll(INVISIBLE, '');
  // By way of upper case: the long s and the dotless i are letters of ASCII to many, and the dotted capital I is in Turkish.
  return visible.toUpperCase().replaceAll('\u0130', 'I').toLowerCase().normalize('NFKC');
}

function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '.' || text[end - 1]?.trim() === '')) end -= 1;
  return text.slice(0, end);
}
