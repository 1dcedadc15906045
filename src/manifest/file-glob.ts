import type { Environment } from './source.ts';

// Not `path.matchesGlob`: it also expands braces, without a limit (`{1..100000}*` takes minutes), and treats brackets in file
// names as character classes. A manifest promises `*` and `?` only.

/** A pattern that stands for more files or folders stands for none: part of them would be a manifest with holes. */
export const MAX_GLOB_MATCHES = 10_000;

/**
 * The files that a pattern stands for, by their paths relative to the manifest, in the order of their code units. In each
 * part of it `*` stands for any characters and `?` for one, but not for the dot that a hidden name begins with. A pattern
 * without either stands for itself, whether there is such a file or not.
 */
export function expandGlob(pattern: string, world: Environment): string[] {
  const parts = pattern.split('/').filter((part) => part !== '.' && part !== '');
  let found: string[] = [''];
  for (const part of parts) {
    found = hasWildcard(part)
      ? found.flatMap((folder) => matchingPaths(folder, part, world))
      : found.map((folder) => joinPath(folder, part));
    if (found.length > MAX_GLOB_MATCHES) return [];
  }
  // Behind a wild part, what is named plainly may not be there.
  const isCertain = !parts.slice(0, -1).some(hasWildcard) || hasWildcard(parts.at(-1) ?? '');
  return (isCertain ? found : found.filter((path) => pathExists(path, world))).sort();
}

/** The folders in which something that comes or goes may change what a pattern stands for. */
export function globFolders(pattern: string, world: Environment): string[] {
  const parts = pattern.split('/').filter((part) => part !== '.' && part !== '');
  return parts.flatMap((part, index) =>
    hasWildcard(part) ? (index === 0 ? [''] : expandGlob(parts.slice(0, index).join('/'), world)) : [],
  );
}

export function hasWildcard(part: string): boolean {
  return /[*?]/.test(part);
}

function matchingPaths(folder: string, part: string, world: Environment): string[] {
  const form = new RegExp(`^${part.replaceAll(/[*?]+|[^*?]+/g, toRegExpSource)}$`);
  return folderEntries(folder, world)
    .filter((name) => !name.startsWith('.') && form.test(name))
    .map((name) => joinPath(folder, name));
}

function pathExists(path: string, world: Environment): boolean {
  const slash = path.lastIndexOf('/');
  return folderEntries(path.slice(0, Math.max(0, slash)), world).includes(path.slice(slash + 1));
}

function folderEntries(folder: string, world: Environment): readonly string[] {
  try {
    return world.listFolder?.(folder) ?? [];
  } catch {
    // A folder that is not there holds nothing: nothing being found is told of.
    return [];
  }
}

function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** Of a piece of a part: wild, or to the letter. */
function toRegExpSource(piece: string): string {
  if (!hasWildcard(piece)) return RegExp.escape(piece);
  return `.{${piece.replaceAll('*', '').length}${piece.includes('*') ? ',' : ''}}`;
}
