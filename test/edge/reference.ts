/**
 * Returns the access of a request without the router and the path guard. Slow on purpose: it interprets the path as
 * any server might. The path is protected if one interpretation is.
 */
export function accessOf(method: string, target: string): 'public' | 'protected' | 'none' {
  const path = target.split('?')[0] ?? '';
  const segments = path.slice(1).split('/');
  if (!hasRoute(method, segments)) return 'none';
  if (/%2f/i.test(path) && !ENCODED_SLASH.some((pattern) => matches(segments, pattern))) return 'none';
  const interpretations = [segments, ...interpretationsOf(path)];
  return interpretations.some(isProtected) ? 'protected' : 'public';
}

type Pattern = readonly string[];

const ANY = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

/** `*` matches one segment, `**` the rest. */
const PROTECTED: readonly Pattern[] = [
  ['admin', '**'],
  ['files', 'secret'],
  ['files', 'vault', '**'],
  ['files', '*', 'keys'],
  ['kept', 'secret', '**'],
  ['kept', '*', 'keys'],
  ['sealed', '*'],
];
/** The paths that may contain an encoded slash. */
const ENCODED_SLASH: readonly Pattern[] = [
  ['kept', '**'],
  ['sealed', '*'],
];
const PUBLIC: readonly (readonly [methods: readonly string[], pattern: Pattern])[] = [
  [ANY, ['public', '**']],
  [ANY, ['files', '**']],
  [['GET', 'HEAD'], ['read']],
  [['POST'], ['small']],
  [['POST'], ['login']],
  [['POST'], ['schema']],
  [ANY, ['kept', '**']],
];

function hasRoute(method: string, segments: readonly string[]): boolean {
  if (ANY.includes(method) && isProtected(segments)) return true;
  return PUBLIC.some(([methods, pattern]) => methods.includes(method) && matches(segments, pattern));
}

function isProtected(segments: readonly string[]): boolean {
  return PROTECTED.some((pattern) => matches(segments, pattern));
}

/** Ignores one empty segment at the end: routes match with and without a trailing slash. */
function matches(segments: readonly string[], pattern: Pattern): boolean {
  const path = segments.at(-1) === '' ? segments.slice(0, -1) : segments;
  if (pattern.at(-1) === '**') {
    const fixed = pattern.slice(0, -1);
    return path.length >= fixed.length && fixed.every((part, index) => part === path[index]);
  }
  return path.length === pattern.length && pattern.every((part, index) => part === '*' || part === path[index]);
}

/** Returns possible interpretations: decoded up to three times, truncated, trimmed, lowercased, resolved. */
function interpretationsOf(path: string): string[][] {
  const interpretations: string[][] = [];
  let text = path;
  for (let times = 0; times <= 3; times += 1) {
    for (const truncated of [text, text.split(/[?#\0]/)[0] ?? ''])
      interpretations.push(resolve(truncated.toLowerCase()));
    text = decode(text);
  }
  return interpretations;
}

function decode(text: string): string {
  return text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function resolve(path: string): string[] {
  const resolved: string[] = [];
  for (const segment of path.split(/[/\\]/)) {
    const bare = (segment.split(/;|%3b/)[0] ?? '').trim();
    if (bare === '..') resolved.pop();
    else if (bare !== '' && bare !== '.') resolved.push(bare.replace(/(?<=[^. ])[. ]+$/, ''));
  }
  return resolved;
}
