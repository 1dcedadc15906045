import { foldSegment, readSegment } from './path-folding.ts';

/** One segment of a route's path: a literal, a parameter, or (last only) any rest. */
export type Segment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'parameter'; readonly name: string }
  | { readonly kind: 'rest' };

export type Pattern = readonly Segment[];

/** A segment that the path guard accepts, without `;` and lower-case escapes, which would be a second spelling. */
const LITERAL = /^(?:[A-Za-z0-9._~!$&'()*+,=:@-]|%[0-9A-F]{2})+$/;
const PARAMETER = /^\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const NEEDLESS_ESCAPE = /%(?:[0-7][0-9A-F])/g;

const NON_ASCII = /%[89A-F]/;

/** Parses a route's path. Throws a `PatternError` whose message says what to write instead. */
export function parsePattern(path: string): Pattern {
  if (path === '/') return [];
  if (/[?#]/.test(path))
    throw new PatternError('a path has no query and no fragment; remove everything after the path');
  if (path.endsWith('/'))
    throw new PatternError(`a trailing slash is never needed; write ${path.replace(/\/+$/, '') || '/'}`);
  const texts = path.slice(1).split('/');
  const segments = texts.map((text, index) => parseSegment(text, index === texts.length - 1));
  const names = segments.flatMap((segment) => (segment.kind === 'parameter' ? [segment.name] : []));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new PatternError(`the parameter {${twice}} appears twice; rename one`);
  return segments;
}

export class PatternError extends Error {}

/** Parses a route's path as `parsePattern` does; `undefined` if it is invalid, after a report of what to write instead. */
export function readPattern(path: string, report?: (message: string) => void): Pattern | undefined {
  try {
    return parsePattern(path);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    report?.(error.message);
    return undefined;
  }
}

/** Returns the pattern that matches only this path of a request. */
export function literalPattern(path: string): Pattern {
  const texts = path.split('/').filter((text) => text !== '');
  return texts.map((text) => ({ kind: 'literal', text }));
}

/** Returns a text that is equal for patterns that match the same paths: parameter names do not count. */
export function patternKey(pattern: Pattern): string {
  return (
    pattern
      .map((segment) =>
        segment.kind === 'literal' ? `/${segment.text}` : segment.kind === 'parameter' ? '/{}' : '/**',
      )
      .join('') || '/'
  );
}

/** Most segments are plain and need no further checks. */
const PLAIN = /^[A-Za-z0-9_-]+$/;

function parseSegment(text: string, isLast: boolean): Segment {
  if (PLAIN.test(text)) return { kind: 'literal', text };
  if (text === '') throw new PatternError('a path has no empty segments; write a single slash');
  if (text === '**') {
    if (isLast) return { kind: 'rest' };
    throw new PatternError('"**" matches any rest of a path, so it must come last');
  }
  const name = PARAMETER.exec(text)?.[1];
  if (name !== undefined) return { kind: 'parameter', name };
  if (/[{}]/.test(text))
    throw new PatternError(
      `a parameter is a complete segment with a name of letters, digits and _; write {name} in place of "${text}"`,
    );
  // As in Express and as in Flask.
  const foreign = /^:(.*)$|^<(\w+)>$/s.exec(text);
  if (foreign !== null) throw new PatternError(`write a parameter as {${foreign[1] ?? foreign[2]}}, not "${text}"`);
  if (text.includes('*'))
    throw new PatternError(
      `"${text}": a "*" has no meaning here; write {name} for one segment, a final ** for any rest`,
    );
  if (text === '.' || text === '..')
    throw new PatternError(`a path has no "${text}" segments; write the path without them`);
  if (!LITERAL.test(text) && isAlwaysRefused(text))
    throw new PatternError(`"${text}" is refused in every request's path, also with escapes; remove it`);
  if (!LITERAL.test(text)) {
    const unwritable = text.includes(';') ? 'write {name} for its segment' : undefined;
    const remedy = unwritable ?? encodeSegment(text) ?? 'percent-encode them in upper case, as in %C3%A9';
    throw new PatternError(`"${text}" has characters that a path cannot contain; ${remedy}`);
  }
  checkEscapes(text);
  return { kind: 'literal', text };
}

/** Returns a literal segment with its other characters percent-encoded, as the end of a message. */
function encodeSegment(text: string): string | undefined {
  const encoded = text
    .toWellFormed()
    .replaceAll(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~!$&'()*+,=:@-]+/g, (part) =>
      /^%[0-9A-Fa-f]{2}$/.test(part) ? part.toUpperCase() : encodeURIComponent(part),
    );
  try {
    parseSegment(encoded, false);
    return `write ${encoded}`;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return undefined;
  }
}

/** Refuses escapes that the path guard refuses in requests: no request could match them. */
function checkEscapes(text: string): void {
  for (const [triplet] of text.matchAll(NEEDLESS_ESCAPE)) {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    if (/[A-Za-z0-9._~-]/.test(character))
      throw new PatternError(`"${triplet}" is a needless escape; write ${character}`);
    if (character === '/')
      throw new PatternError(
        `"${triplet}" is not allowed in a route's path; write {name} for its segment, and encodedSlash: keep`,
      );
    if (/[\\\0-\x1f\x7f]/.test(character))
      throw new PatternError(`"${triplet}" is refused in every request's path; remove it`);
  }
  // The first test finds an escaped escape.
  if (/%25[0-9A-Fa-f]{2}/.test(text) || isAlwaysRefused(decode(text)))
    throw new PatternError(`"${text}" is refused in every request's path; remove its escapes`);
  if (NON_ASCII.test(text)) checkNormalized(text);
  checkFolded(text);
}

/** Refuses text that servers read in more ways than with its capitals and without: a stricter route could hide behind one of them. */
function checkFolded(text: string): void {
  const written = foldSegment(text, true);
  if (written !== text)
    throw new PatternError(
      `some servers read "${text}" as "${written}"; write ${LITERAL.test(written) ? `${written}, or ` : ''}{name} for its segment`,
    );
  if (foldSegment(text) !== lowerCase(text))
    throw new PatternError(
      `"${text}" has capitals outside of ASCII, which servers read in several ways; write {name} for its segment`,
    );
}

/** Returns text with lower-case letters of ASCII. Escapes keep their capitals. */
function lowerCase(text: string): string {
  return text.replaceAll(/%..|[A-Z]/g, (part) => (part.length === 1 ? part.toLowerCase() : part));
}

/** Refuses text with a second reading: servers that normalize Unicode read U+FF0F as a slash, and U+2025 as a dot segment. */
function checkNormalized(text: string): void {
  const normalized = readSegment(text);
  if (/\/|%[\da-f]{2}/.test(normalized) || isAlwaysRefused(normalized))
    throw new PatternError(
      `servers that normalize Unicode read "${text}" as a slash, as dots or as nothing; write {name} for its segment`,
    );
}

/** True for backslashes, control characters, and segments that are a dot or empty to a server that decodes first. */
function isAlwaysRefused(decoded: string): boolean {
  return (
    /[\\\0-\x1f\x7f-\x9f]/.test(decoded) || /^\s*\.{1,2}\s*(?:[;?#]|$)/.test(decoded) || /^\s*(?:;|$)/.test(decoded)
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new PatternError(`"${text}" does not decode to UTF-8; correct its escapes`);
  }
}

/** Returns the pattern of the paths that both match; `undefined` if they have no path in common. */
export function intersect(one: Pattern, other: Pattern): Pattern | undefined {
  const segments: Segment[] = [];
  for (let index = 0; ; index += 1) {
    const a = one[index];
    const b = other[index];
    if (a === undefined && b === undefined) return segments;
    if (a?.kind === 'rest') return [...segments, ...other.slice(index)];
    if (b?.kind === 'rest') return [...segments, ...one.slice(index)];
    if (a === undefined || b === undefined) return undefined;
    if (a.kind === 'literal' && b.kind === 'literal' && a.text !== b.text) return undefined;
    segments.push(a.kind === 'literal' ? a : b);
  }
}

/** No route has a longer path. The search for slashes takes time quadratic in the length. */
const MAX_FIXED_CHARACTERS = 2_000;

/** Fixes the spelling of an invalid route path: slashes, parameters, escapes. Returns `undefined` if anything else is wrong. */
export function fixPath(path: string): string | undefined {
  if (path.length > MAX_FIXED_CHARACTERS) return undefined;
  const fixed = path
    .replace(/(?<=.)\/+$/, '')
    .replaceAll(/(?<=\/):([A-Za-z_]\w*)(?=\/|$)/g, '{$1}')
    .replaceAll(/%[0-9A-Fa-f]{2}/g, fixEscape);
  return fixed === path || readPattern(fixed) === undefined ? undefined : fixed;
}

function fixEscape(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
  return /[A-Za-z0-9_~-]/.test(character) ? character : triplet.toUpperCase();
}
