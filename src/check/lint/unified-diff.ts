import { diff } from 'node:util';

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
