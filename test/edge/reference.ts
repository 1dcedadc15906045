/**
 * Who may reach what, said a second time: slowly, without the router and without the path guard. Every path is
 * read in all the ways in which some server might read it; one of them is protected, then the path is.
 */
export function accessOf(method: string, target: string): 'public' | 'protected' | 'none' {
  const path = target.split('?')[0] ?? '';
  const written = path.slice(1).split('/');
  if (!find(method, written)) return 'none';
  if (/%2f/i.test(path) && !KEPT.some((pattern) => fits(written, pattern))) return 'none';
  const all = [written, ...readingsOf(path)];
  return all.some((segments) => isProtected(segments)) ? 'protected' : 'public';
}

type Pattern = readonly string[];

const ANY = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

/** `*` is one segment, `**` any rest. */
const PROTECTED: readonly Pattern[] = [
  ['admin', '**'],
  ['files', 'secret'],
  ['files', 'vault', '**'],
  ['files', '*', 'keys'],
  ['kept', 'secret', '**'],
  ['kept', '*', 'keys'],
  ['sealed', '*'],
];
/** Where an encoded slash may stand. */
const KEPT: readonly Pattern[] = [
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

function find(method: string, segments: readonly string[]): boolean {
  if (ANY.includes(method) && isProtected(segments)) return true;
  return PUBLIC.some(([methods, pattern]) => methods.includes(method) && fits(segments, pattern));
}

function isProtected(segments: readonly string[]): boolean {
  return PROTECTED.some((pattern) => fits(segments, pattern));
}

/** One empty segment at the end is a trailing slash, which routes do not tell apart. */
function fits(segments: readonly string[], pattern: Pattern): boolean {
  const given = segments.at(-1) === '' ? segments.slice(0, -1) : segments;
  if (pattern.at(-1) === '**') {
    const fixed = pattern.slice(0, -1);
    return given.length >= fixed.length && fixed.every((part, index) => part === given[index]);
  }
  return given.length === pattern.length && pattern.every((part, index) => part === '*' || part === given[index]);
}

/** What servers of all kinds could take a path for: decoded up to three times, cut, trimmed, folded, resolved. */
function readingsOf(path: string): string[][] {
  const readings: string[][] = [];
  let text = path;
  for (let times = 0; times <= 3; times += 1) {
    for (const cut of [text, text.split(/[?#\0]/)[0] ?? '']) readings.push(resolve(cut.toLowerCase()));
    text = decode(text);
  }
  return readings;
}

function decode(text: string): string {
  return text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function resolve(path: string): string[] {
  const resolved: string[] = [];
  for (const written of path.split(/[/\\]/)) {
    const bare = (written.split(/;|%3b/)[0] ?? '').trim();
    if (bare === '..') resolved.pop();
    else if (bare !== '' && bare !== '.') resolved.push(bare.replace(/(?<=[^. ])[. ]+$/, ''));
  }
  return resolved;
}
