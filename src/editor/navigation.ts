import type { Location } from 'vscode-languageserver';
import { roleOf } from './file-links.ts';
import { findNames, type NameOccurrence } from './names.ts';
import type { Project } from './project.ts';
import { rangeIn, type TextFile } from './text-file.ts';

/** Returns the name at an offset; `undefined` if there is none. */
export function nameAtOffset(file: TextFile, offset: number): NameOccurrence | undefined {
  const role = roleOf(file);
  if (role === undefined) return undefined;
  return findNames(file, role).find(({ start, end }) => start <= offset && offset <= end);
}

/** Returns all places of a name in the files of its projects: the definitions first, then in the order of the files. */
export function findOccurrences(
  { kind, name }: Pick<NameOccurrence, 'kind' | 'name'>,
  files: readonly TextFile[],
): NameOccurrence[] {
  return files
    .flatMap((file) => namesOf(file))
    .filter((other) => other.kind === kind && other.name === name)
    .toSorted((a, b) => Number(b.isDefinition) - Number(a.isDefinition));
}

/** Returns the files of all projects, each once. */
export function filesOf(projects: readonly Project[]): TextFile[] {
  const files = projects.flatMap((project) => project.allFiles());
  return [...new Map(files.map((file) => [file.path, file])).values()];
}

/** Returns the definitions in the files of all projects. */
export function findDefinitions(projects: readonly Project[]): NameOccurrence[] {
  const files = projects.flatMap((project) => project.sources());
  return files.flatMap((file) => namesOf(file)).filter(({ isDefinition }) => isDefinition);
}

export function toLocation({ file, start, end }: NameOccurrence): Location {
  return { uri: file.uri, range: rangeIn(file, { start, end }) };
}

function namesOf(file: TextFile): NameOccurrence[] {
  return findNames(file, roleOf(file) ?? 'part');
}
