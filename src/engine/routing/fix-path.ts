import { readPattern } from './pattern.ts';

/** No route has a longer path. The search for slashes takes time quadratic in the length. */
const MAX_CHARACTERS = 2_000;

/** Fixes the spelling of an invalid route path: slashes, parameters, escapes. Returns `undefined` if anything else is wrong. */
export function fixPath(path: string): string | undefined {
  if (path.length > MAX_CHARACTERS) return undefined;
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
