import { posix, resolve } from 'node:path';
import type { Dependencies } from '../../engine/manifest/dependencies.ts';
import {
  createMemoryEnvironment,
  decodeText,
  type Environment,
  FILE_NOT_LISTED,
} from '../../engine/manifest/source.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { displayPathBeside } from '../../engine/problem/problem.ts';
import type { LocatedProblems, UnsavedManifest } from './manifest-thread.ts';

/** @param dependencies the files of the active manifest */
export function createUnsavedManifest(text: UnsavedManifest['text'], { files, globs }: Dependencies): UnsavedManifest {
  return { text, files: [...files.keys()], includes: [...globs.values()].flatMap((paths) => paths.split('\n')) };
}

/** Returns an environment in which the manifest has the unsaved text, and no other file exists than these. */
export function restrictFiles(
  environment: Environment & Required<Pick<Environment, 'listFolder'>>,
  path: string,
  { text }: UnsavedManifest,
  files: readonly string[],
): Environment {
  const { listFolder } = createMemoryEnvironment({}, Object.fromEntries(files.map((file) => [file, ''])));
  const listed = new Set(files.map((file) => posix.normalize(file)));
  return {
    ...environment,
    ...(listFolder !== undefined && { listFolder }),
    readFile: (file) => {
      if (file === resolve(path)) return typeof text === 'string' ? text : decodeText(Buffer.from(text));
      if (listed.has(posix.normalize(file))) return environment.readFile(file);
      throw Object.assign(new Error(`${file} is not a file of the active manifest`), { code: FILE_NOT_LISTED });
    },
  };
}

/** Hides the content of the files that the active plan does not use as text of a manifest: private keys, for example. */
export function hideContents(
  { problems, sources }: LocatedProblems,
  path: string,
  { includes }: UnsavedManifest,
  { schemas, reload }: Plan,
): LocatedProblems {
  const texts = [
    ...includes,
    ...Object.keys(schemas?.files ?? {}),
    ...(reload.selfTest === undefined ? [] : [reload.selfTest]),
  ];
  const shown = new Set([path, ...texts.map((file) => displayPathBeside(path, file))]);
  return {
    problems: problems.map((problem) => (shown.has(problem.file) ? problem : { ...problem, message: HIDDEN })),
    sources: sources.filter((source) => shown.has(source.path)),
  };
}

const HIDDEN =
  'the active manifest does not use this file in this way; use another one, or start the gateway with --candidate';
