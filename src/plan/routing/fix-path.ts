import { PatternError, parsePattern } from './pattern.ts';

/** No path of a route is as long; looking for slashes takes time by the square of the length. */
const MAX_CHARACTERS = 2_000;

/** A faulty path as it was meant, where only its spelling is wrong; `undefined` where more than that is. */
export function fixPath(path: string): string | undefined {
  if (path.length > MAX_CHARACTERS) return undefined;
  const mended = path
    .replace(/(?<=.)\/+$/, '')
    .replaceAll(/(?<=\/):([A-Za-z_]\w*)(?=\/|$)/g, '{$1}')
    .replaceAll(/%[0-9A-Fa-f]{2}/g, fixEscape);
  if (mended === path) return undefined;
  try {
    parsePattern(mended);
    return mended;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return undefined;
  }
}

function fixEscape(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
  return /[A-Za-z0-9_~-]/.test(character) ? character : triplet.toUpperCase();
}
