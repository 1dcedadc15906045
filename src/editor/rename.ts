import { basename } from 'node:path';
import { applyEdits } from '../check/lint/fix-text.ts';
import type { TextEdit } from '../engine/problem/problem.ts';
import { filesOf, findOccurrences, KIND_LABELS, type NameKind, type NameOccurrence } from './names.ts';
import type { Project } from './project.ts';
import type { TextFile } from './text-file.ts';

/** A file and the edits that rename a name in it. */
interface FileEdits {
  readonly file: TextFile;
  readonly edits: readonly TextEdit[];
}

/** The rename is not possible. The message says why. */
export class RenameError extends Error {}

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const SCHEMA_NAME = /^[A-Za-z_][\w.-]*$/;

/** Throws a `RenameError` if a name of this kind cannot be renamed. */
export function requireRenameable({ kind }: Pick<NameOccurrence, 'kind'>): void {
  if (kind === 'role')
    throw new RenameError('a role is a value of the token; change it where the tokens are issued, then here');
}

/**
 * Returns the edits that rename a name in all files of its projects, the test files among them. Throws a `RenameError` if the new
 * name is not valid or already used, or if a manifest would have an error that it does not have now.
 */
export function rename(occurrence: NameOccurrence, newName: string, projects: readonly Project[]): FileEdits[] {
  const { kind, name } = occurrence;
  requireRenameable(occurrence);
  requireValidName(kind, newName);
  if (newName === name) return [];
  const files = filesOf(projects);
  requireComplete(name, files);
  const occurrences = findOccurrences(occurrence, files);
  if (!occurrences.some(({ isDefinition }) => isDefinition))
    throw new RenameError(`the manifest has no ${KIND_LABELS[kind]} "${name}"; there is nothing to rename`);
  if (findOccurrences({ kind, name: newName }, files).some(({ isDefinition }) => isDefinition))
    throw new RenameError(`"${newName}" is the name of another ${KIND_LABELS[kind]}; write a different one`);
  const renamed = [...Map.groupBy(occurrences, ({ file }) => file)].map(([file, places]) => ({
    file,
    edits: places.flatMap(({ replace }) => replace(newName) ?? []).toSorted((a, b) => a.start - b.start),
  }));
  requireLoadable(renamed, projects);
  return renamed;
}

function requireValidName(kind: NameKind, name: string): void {
  if (kind === 'schema' ? SCHEMA_NAME.test(name) : NAME.test(name)) return;
  throw new RenameError(
    kind === 'schema'
      ? `"${name}" is not a name of a schema; write letters, digits and . _ -`
      : `"${name}" is not a name; write lower-case words joined by hyphens`,
  );
}

/** After a syntax error, places of the name may be missing. */
function requireComplete(name: string, files: readonly TextFile[]): void {
  const broken = files.find(({ text, parsed }) => text.includes(name) && parsed.findings.length > 0);
  if (broken !== undefined)
    throw new RenameError(`${basename(broken.path)} has a syntax error and may contain "${name}"; correct it first`);
}

/** A name may be used in a place that the editor does not know, such as behind an alias. */
function requireLoadable(renamed: readonly FileEdits[], projects: readonly Project[]): void {
  const texts = new Map(renamed.map(({ file, edits }) => [file.path, applyEdits(file.text, edits)]));
  for (const project of projects) {
    const error = project.firstErrorWith(texts);
    if (error === undefined) continue;
    const place = `${error.file}:${error.range.line}:${error.range.column}`;
    throw new RenameError(`the manifest would not load with this name: ${place}: ${error.message}`);
  }
}
