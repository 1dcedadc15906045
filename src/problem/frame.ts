import type { Range } from './problem.ts';

const LINES_BEFORE = 2;
const WIDTH = 120;

/**
 * The lines around a place with a caret under the culprit.
 *
 *     3 │ routes:
 *     4 │   - id: login
 *     5 │     methd: POST
 *       │     ^^^^^
 */
export function codeFrame(text: string, range: Range): string {
  const lines = text.split(/\r?\n/);
  const first = Math.max(1, range.line - LINES_BEFORE);
  const gutter = String(range.line).length;
  const out: string[] = [];
  for (let line = first; line <= range.line; line += 1) {
    const shown = (lines[line - 1] ?? '')
      .slice(0, WIDTH)
      .replaceAll('\t', ' ')
      .replace(/^\uFEFF/, '');
    out.push(`${String(line).padStart(gutter)} │ ${shown}`.trimEnd());
  }
  out.push(`${' '.repeat(gutter)} │ ${caret(lines[range.line - 1] ?? '', range)}`);
  return out.join('\n');
}

function caret(line: string, range: Range): string {
  const start = Math.min(range.column - 1, WIDTH);
  const lastColumn = range.endLine === range.line ? range.endColumn - 1 : line.trimEnd().length;
  const end = Math.min(Math.max(lastColumn, start + 1), WIDTH + 1);
  return ' '.repeat(start) + '^'.repeat(end - start);
}
