import { posix, resolve } from 'node:path';
import { createMemoryEnvironment } from '../manifest/memory-environment.ts';
import { type Environment, FILE_NOT_LISTED } from '../manifest/source.ts';
import type { FileContent } from './file-thread.ts';
import type { UnsavedManifest } from './manifest-thread.ts';
import type { FileReader } from './prepare-reload.ts';

/** Returns an environment in which the manifest has the unsaved text, and no other file exists than those of the active manifest. */
export function restrictFiles(
  environment: Environment & Required<Pick<Environment, 'listFolder'>>,
  path: string,
  { text, files }: UnsavedManifest,
): Environment {
  const { listFolder } = createMemoryEnvironment({}, Object.fromEntries(files.map((file) => [file, ''])));
  const isListed = listCheck(files);
  return {
    ...environment,
    ...(listFolder !== undefined && { listFolder }),
    readFile: (file) => {
      if (file === resolve(path)) return text;
      if (isListed(file)) return environment.readFile(file);
      throw Object.assign(new Error(`${file} is not a file of the active manifest`), { code: FILE_NOT_LISTED });
    },
  };
}

/** Returns a reader of these files only. */
export function restrictReader(reader: FileReader, files: readonly string[]): FileReader {
  const isListed = listCheck(files);
  return {
    readFiles: async (paths) => {
      const contents = new Map<string, FileContent>(await reader.readFiles(paths.filter(isListed)));
      for (const path of paths) if (!isListed(path)) contents.set(path, { code: FILE_NOT_LISTED });
      return contents;
    },
  };
}

function listCheck(files: readonly string[]): (file: string) => boolean {
  const listed = new Set(files.map((file) => posix.normalize(file)));
  return (file) => listed.has(posix.normalize(file));
}
