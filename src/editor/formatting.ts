import type { TextEdit as EditorEdit } from 'vscode-languageserver';
import { formatSource } from '../check/fmt/format-source.ts';
import { toEditorEdit } from './code-actions.ts';
import type { TextFile } from './text-file.ts';

/** Formats a file as `fmt` does. Returns one edit of the part that changes; none for a text with syntax errors. */
export function formatFile(file: TextFile): EditorEdit[] {
  const result = formatSource(file);
  if (!('text' in result) || result.text === file.text) return [];
  const { text: before } = file;
  const { text: after } = result;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let same = 0;
  while (same < shorter - start && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  // A position of the protocol cannot be between the two characters of a line end.
  if (before[start - 1] === '\r') start -= 1;
  if (same > 0 && before.at(-same) === '\n' && before.at(-1 - same) === '\r') same -= 1;
  return [toEditorEdit(file, { start, end: before.length - same, text: after.slice(start, after.length - same) })];
}
