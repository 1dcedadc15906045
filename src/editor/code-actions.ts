import {
  type CodeAction,
  CodeActionKind,
  type TextEdit as EditorEdit,
  type Range as EditorRange,
} from 'vscode-languageserver';
import { formatSource } from '../check/fmt/format-text.ts';
import { fixText } from '../check/lint/fix-text.ts';
import type { Problem, TextEdit } from '../engine/problem/problem.ts';
import type { Project } from './project.ts';
import { rangeIn, type TextFile, toDiagnostic, toEditorEdit, toEditorRange } from './text-file.ts';

/** The kind of the action that applies all fixes of a file, as editors run it on saving. */
export const FIX_ALL = `${CodeActionKind.SourceFixAll}.signing-gateway`;

const MAX_TITLE = 80;

export function quickFixes(file: TextFile, range: EditorRange, problems: readonly Problem[]): CodeAction[] {
  return problems.flatMap((problem) => {
    const { edit, message } = problem;
    if (edit === undefined || problem.file !== file.path || !overlaps(toEditorRange(problem.range), range)) return [];
    return [
      {
        title: `${titleOf(file.text, edit, problem)} (${message.slice(0, MAX_TITLE)})`,
        kind: CodeActionKind.QuickFix,
        diagnostics: [toDiagnostic(problem)],
        isPreferred: true,
        edit: { changes: { [file.uri]: [toEditorEdit(file, edit)] } },
      },
    ];
  });
}

/** Returns the action that applies all fixes of a file; none if there is nothing to fix. */
export function fixAllAction(file: TextFile, project: Project): CodeAction[] {
  if (project.problems.every(({ edit, file: path }) => edit === undefined || path !== file.path)) return [];
  const { text: newText, editCount } = fixText(file.text, (next) => project.problemsWith(file, next));
  if (editCount === 0) return [];
  const range = rangeIn(file, { start: 0, end: file.text.length });
  const title = `Fix all problems that have a safe fix (${editCount})`;
  return [{ title, kind: FIX_ALL, edit: { changes: { [file.uri]: [{ range, newText }] } } }];
}

/** Formats a file as `fmt` does. Returns one edit of the complete text; none for a text with syntax errors. */
export function formatFile(file: TextFile): EditorEdit[] {
  const result = formatSource(file);
  if (!('text' in result) || result.text === file.text) return [];
  return [toEditorEdit(file, { start: 0, end: file.text.length, text: result.text })];
}

function titleOf(text: string, { start, end, text: newText }: TextEdit, { isSecret }: Problem): string {
  const oldText = isSecret ? 'the value' : text.slice(start, end).trim();
  return newText === '' ? `Remove ${oldText}` : `Replace ${oldText} with ${newText}`;
}

function overlaps(one: EditorRange, other: EditorRange): boolean {
  return isBefore(one.start, other.end) && isBefore(other.start, one.end);
}

function isBefore(one: EditorRange['start'], other: EditorRange['start']): boolean {
  return one.line < other.line || (one.line === other.line && one.character <= other.character);
}
