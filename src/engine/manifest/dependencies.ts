import { createHash } from 'node:crypto';
import { attempt } from '../attempt.ts';
import { type Environment, fileError, MAX_ALL_CHARACTERS } from './source.ts';

/** The SHA-256 in hex of each file that a manifest names, by the path in the manifest; empty for an unreadable file. */
type FileHashes = ReadonlyMap<string, string>;

/** The files that a manifest depends on, besides its own text. */
export interface Dependencies {
  readonly files: FileHashes;
  /** The patterns that the manifest includes: the paths that each one matches, one per line. */
  readonly globs: ReadonlyMap<string, string>;
  /** The files of `${file:PATH}`, with the hashes of their secrets. */
  readonly secretFiles: FileHashes;
}

/** An environment that records the files and patterns that are read through it. */
export interface TrackedEnvironment extends Environment {
  readonly expandGlob: (pattern: string) => readonly string[];
}

export function trackDependencies(environment: Environment): {
  readonly dependencies: Dependencies;
  readonly environment: TrackedEnvironment;
} {
  const files = new Map<string, string>();
  const globs = new Map<string, string>();
  const secretFiles = new Map<string, string>();
  const { readSecret } = environment;
  let characters = 0;
  return {
    dependencies: { files, globs, secretFiles },
    environment: {
      ...environment,
      readFile: recorded(files, (path) => {
        if (characters > MAX_ALL_CHARACTERS)
          throw fileError('EFBIG', `the files of the manifest have more than ${MAX_ALL_CHARACTERS} characters`);
        const text = environment.readFile(path);
        characters += text.length;
        return text;
      }),
      readSecret: readSecret && recorded(secretFiles, readSecret),
      expandGlob(pattern) {
        const paths = expandGlob(pattern, environment);
        globs.set(pattern, paths.join('\n'));
        return paths;
      },
    },
  };
}

/** Returns the function that reads a text and notes its hash. */
function recorded(hashes: Map<string, string>, read: (path: string) => string): (path: string) => string {
  return (path) => {
    hashes.set(path, '');
    const text = read(path);
    hashes.set(path, sha256(text));
    return text;
  };
}

export function sha256(text: string): string {
  // Each invalid byte of a file counts. As UTF-8, all of them would be the same replacement character.
  const bytes = text.isWellFormed() ? text : Buffer.from(text, 'utf16le');
  return createHash('sha256').update(bytes).digest('hex');
}

// Not `path.matchesGlob`: it also expands braces, without a limit (`{1..100000}*` takes minutes), and treats brackets in file
// names as character classes. A manifest promises `*` and `?` only.

/** A pattern with more matches returns none, because only some of its files would be an incomplete manifest. */
export const MAX_GLOB_MATCHES = 10_000;

/**
 * Returns the files that match a pattern, as paths relative to the manifest, sorted by code units. In each part of the path `*`
 * matches any characters and `?` matches one, but not the dot at the start of a hidden name. A pattern without wildcards is
 * returned as it is, even if the file does not exist.
 */
export function expandGlob(pattern: string, environment: Environment): string[] {
  const parts = pattern.split('/').filter((part) => part !== '.' && part !== '');
  let paths: string[] = [''];
  for (const part of parts) {
    paths = hasWildcard(part)
      ? paths.flatMap((folder) => matchingPaths(folder, part, environment))
      : paths.map((folder) => joinPath(folder, part));
    if (paths.length > MAX_GLOB_MATCHES) return [];
  }
  // A literal name after a wildcard need not exist in every folder.
  const mayBeMissing = parts.slice(0, -1).some(hasWildcard) && !hasWildcard(parts.at(-1) ?? '');
  return (mayBeMissing ? paths.filter((path) => pathExists(path, environment)) : paths).sort();
}

/** Returns the folders in which a new or removed entry may change the matches of a pattern. */
export function globFolders(pattern: string, environment: Environment): string[] {
  const parts = pattern.split('/').filter((part) => part !== '.' && part !== '');
  return parts.flatMap((part, index) =>
    hasWildcard(part) ? (index === 0 ? [''] : expandGlob(parts.slice(0, index).join('/'), environment)) : [],
  );
}

function hasWildcard(part: string): boolean {
  return /[*?]/.test(part);
}

function matchingPaths(folder: string, part: string, environment: Environment): string[] {
  const regExp = new RegExp(`^${part.replaceAll(/[*?]+|[^*?]+/g, toRegExpSource)}$`);
  return folderEntries(folder, environment)
    .filter((name) => !name.startsWith('.') && regExp.test(name))
    .map((name) => joinPath(folder, name));
}

function pathExists(path: string, environment: Environment): boolean {
  const slash = path.lastIndexOf('/');
  return folderEntries(path.slice(0, Math.max(0, slash)), environment).includes(path.slice(slash + 1));
}

function folderEntries(folder: string, environment: Environment): readonly string[] {
  // A missing folder has no matches, which `include` reports.
  return attempt(() => environment.listFolder?.(folder)) ?? [];
}

function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** Converts a run of wildcards, or a run of other characters. */
function toRegExpSource(run: string): string {
  if (!hasWildcard(run)) return run.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return `.{${run.replaceAll('*', '').length}${run.includes('*') ? ',' : ''}}`;
}
