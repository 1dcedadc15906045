import { diff } from 'node:util';
import type { Problem, TextEdit } from '../../engine/problem/problem.ts';

/** An edit may reveal another problem, so the edits run in rounds. No manifest has needed this many. */
const MAX_ROUNDS = 10;

interface FixedText {
  readonly text: string;
  readonly editCount: number;
}

/** Applies the edits of problems until no problem has one. Changes nothing else. */
export function fixText(text: string, problemsOf: (text: string) => readonly Problem[]): FixedText {
  let fixed: FixedText = { text, editCount: 0 };
  let problems = problemsOf(text);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const edits = withoutOverlaps(problems.flatMap(({ edit }) => edit ?? []));
    if (edits.length === 0) break;
    const next = applyEdits(fixed.text, edits);
    problems = problemsOf(next);
    // An edit must never turn valid YAML into invalid YAML.
    if (problems.some(({ rule }) => rule === 'syntax')) break;
    fixed = { text: next, editCount: fixed.editCount + edits.length };
  }
  return fixed;
}

/** Returns the edits in text order, and drops each edit that overlaps an earlier one. */
function withoutOverlaps(edits: readonly TextEdit[]): TextEdit[] {
  const selected: TextEdit[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end))
    if (edit.start >= (selected.at(-1)?.end ?? 0)) selected.push(edit);
  return selected;
}

/** Applies edits that do not overlap, in the order of the text. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let end = 0;
  const parts = edits.flatMap((edit) => {
    const before = text.slice(end, edit.start);
    end = edit.end;
    return [before, edit.text];
  });
  return parts.join('') + text.slice(end);
}

const CONTEXT_LINES = 3;

/** Maps the operations of `diff(before, after)` to the first character of a line. */
const MARKS = { '1': '-', '0': ' ', '-1': '+' } as const;

interface DiffLine {
  readonly mark: '-' | ' ' | '+';
  readonly text: string;
}

/** Returns the changes as a unified diff that `patch` and `git apply` accept; empty if the texts are equal. */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return '';
  const lines = diff(splitLines(before), splitLines(after)).map(([operation, text]) => ({
    mark: MARKS[operation],
    text,
  }));
  return `--- a/${path}\n+++ b/${path}\n${formatHunks(lines).join('')}`;
}

function splitLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  else lines.push(`${lines.pop()}\n\\ No newline at end of file`);
  return lines;
}

function formatHunks(lines: readonly DiffLine[]): string[] {
  const changed = lines.flatMap(({ mark }, index) => (mark === ' ' ? [] : [index]));
  const hunks: string[] = [];
  let start = Math.max(0, (changed[0] ?? 0) - CONTEXT_LINES);
  for (const [position, index] of changed.entries()) {
    const next = changed[position + 1];
    if (next !== undefined && next - index <= 2 * CONTEXT_LINES) continue;
    hunks.push(formatHunk(lines, start, index + CONTEXT_LINES + 1));
    start = (next ?? 0) - CONTEXT_LINES;
  }
  return hunks;
}

function formatHunk(lines: readonly DiffLine[], start: number, end: number): string {
  const hunk = lines.slice(start, end);
  const lineRange = (otherSide: '-' | '+') => {
    const skipped = lines.slice(0, start).filter(({ mark }) => mark !== otherSide).length;
    const length = hunk.filter(({ mark }) => mark !== otherSide).length;
    return `${length === 0 ? skipped : skipped + 1},${length}`;
  };
  const text = hunk.map((line) => `${line.mark}${line.text}\n`).join('');
  return `@@ -${lineRange('+')} +${lineRange('-')} @@\n${text}`;
}
