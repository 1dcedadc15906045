import { posix } from 'node:path';
import type { Environment } from './source.ts';

/**
 * Creates an environment without a file system, for programs that keep manifests elsewhere and for tests.
 *
 * @param env the environment variables
 * @param files the text of each file by its path relative to the manifest
 */
export function createMemoryEnvironment(
  env: Environment['env'] = {},
  files: Readonly<Record<string, string>> = {},
): Environment {
  const texts = new Map(Object.entries(files).map(([path, text]) => [posix.normalize(path), text]));
  return {
    env,
    readFile: (path) => {
      const text = texts.get(posix.normalize(path));
      if (text === undefined) throw missingError(path);
      return text;
    },
    listFolder: (path) => {
      const folder = posix.join('.', path, '/');
      const paths = folder === './' ? [...texts.keys()] : [...texts.keys()].filter((name) => name.startsWith(folder));
      const names = paths.map((name) => name.slice(folder === './' ? 0 : folder.length).split('/', 1)[0] ?? '');
      if (names.length === 0) throw missingError(path);
      return [...new Set(names)];
    },
  };
}

function missingError(path: string): Error {
  return Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
}
