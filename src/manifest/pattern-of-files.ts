import type { World } from './source.ts';

/** A pattern that stands for more files or folders stands for none: part of them would be a manifest with holes. */
export const MAX_FOUND = 10_000;

/**
 * The files that a pattern stands for, by their paths relative to the manifest, in the order of their code units. In each
 * part of it `*` stands for any characters and `?` for one, but not for the dot that a hidden name begins with. A pattern
 * without either stands for itself, whether there is such a file or not.
 */
export function filesOf(pattern: string, world: World): string[] {
  const parts = pattern.split('/').filter((part) => part !== '.' && part !== '');
  let found: string[] = [''];
  for (const part of parts) {
    found = isWild(part)
      ? found.flatMap((folder) => matchesIn(folder, part, world))
      : found.map((folder) => joined(folder, part));
    if (found.length > MAX_FOUND) return [];
  }
  // Behind a wild part, what is named plainly may not be there.
  const isCertain = !parts.slice(0, -1).some(isWild) || isWild(parts.at(-1) ?? '');
  return (isCertain ? found : found.filter((path) => isThere(path, world))).sort();
}

/** The folders in which something that comes or goes may change what a pattern stands for. */
export function foldersOf(pattern: string, world: World): string[] {
  const parts = pattern.split('/').filter((part) => part !== '.' && part !== '');
  return parts.flatMap((part, index) =>
    isWild(part) ? (index === 0 ? [''] : filesOf(parts.slice(0, index).join('/'), world)) : [],
  );
}

export function isWild(part: string): boolean {
  return /[*?]/.test(part);
}

function matchesIn(folder: string, part: string, world: World): string[] {
  const form = new RegExp(`^${part.replaceAll(/[*?]+|[^*?]+/g, formOf)}$`);
  return namesIn(folder, world)
    .filter((name) => !name.startsWith('.') && form.test(name))
    .map((name) => joined(folder, name));
}

function isThere(path: string, world: World): boolean {
  const slash = path.lastIndexOf('/');
  return namesIn(path.slice(0, Math.max(0, slash)), world).includes(path.slice(slash + 1));
}

function namesIn(folder: string, world: World): readonly string[] {
  try {
    return world.listFolder?.(folder) ?? [];
  } catch {
    // A folder that is not there holds nothing: nothing being found is told of.
    return [];
  }
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** Of a piece of a part: wild, or to the letter. */
function formOf(piece: string): string {
  if (!isWild(piece)) return RegExp.escape(piece);
  return `.{${piece.replaceAll('*', '').length}${piece.includes('*') ? ',' : ''}}`;
}
