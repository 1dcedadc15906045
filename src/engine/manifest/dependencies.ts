import { createHash } from 'node:crypto';
import { expandGlob } from './file-glob.ts';
import { type Environment, MAX_ALL_CHARACTERS } from './source.ts';

/** The SHA-256 in hex of each file that a manifest names, by the path in the manifest; empty for an unreadable file. */
type FileHashes = ReadonlyMap<string, string>;

/** The files that a manifest depends on, besides its own text. */
export interface Dependencies {
  readonly files: FileHashes;
  /** The patterns that the manifest includes: the paths that each one matches, one per line. */
  readonly globs: ReadonlyMap<string, string>;
}

/** An environment that records the files and patterns that are read through it. */
export interface TrackedEnvironment extends Environment {
  /** Returns the paths of the files that match a pattern. */
  readonly expandGlob: (pattern: string) => readonly string[];
}

/** Wraps an environment and records the dependencies that are read through it. */
export function trackDependencies(environment: Environment): {
  readonly dependencies: Dependencies;
  readonly environment: TrackedEnvironment;
} {
  const files = new Map<string, string>();
  const globs = new Map<string, string>();
  let characters = 0;
  return {
    dependencies: { files, globs },
    environment: {
      ...environment,
      readFile(path) {
        files.set(path, '');
        if (characters > MAX_ALL_CHARACTERS) throw fileSizeError();
        const text = environment.readFile(path);
        characters += text.length;
        files.set(path, sha256(text));
        return text;
      },
      expandGlob(pattern) {
        const paths = expandGlob(pattern, environment);
        globs.set(pattern, paths.join('\n'));
        return paths;
      },
    },
  };
}

export function fileSizeError(): Error {
  const message = `the files of the manifest have more than ${MAX_ALL_CHARACTERS} characters`;
  return Object.assign(new Error(message), { code: 'EFBIG' });
}

/** Returns the files whose content changed, and the patterns whose matches changed. */
export function changedDependencies({ files, globs }: Dependencies, environment: Environment): string[] {
  const changedFiles = [...files].filter(([path, hash]) => hashOf(path, environment.readFile) !== hash);
  const changedGlobs = [...globs].filter(([pattern, paths]) => expandGlob(pattern, environment).join('\n') !== paths);
  return [...changedFiles, ...changedGlobs].map(([name]) => name);
}

function hashOf(path: string, readFile: Environment['readFile']): string {
  try {
    return sha256(readFile(path));
  } catch {
    return '';
  }
}

export function sha256(text: string): string {
  // Each invalid byte of a file counts. As UTF-8, all of them would be the same replacement character.
  const bytes = text.isWellFormed() ? text : Buffer.from(text, 'utf16le');
  return createHash('sha256').update(bytes).digest('hex');
}
