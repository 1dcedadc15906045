import { getOrCreate } from '../engine/get-or-create.ts';
import type { Range } from '../engine/problem/finding.ts';
import { dots, type Problem, printable, redactCredentials } from '../engine/problem/problem.ts';

const LINES_BEFORE = 2;
const WIDTH = 120;

/**
 * Renders the lines of a text up to a range, with carets under the range. Long lines are cut so that the range stays visible.
 *
 *     3 │ routes:
 *     4 │   - id: login
 *     5 │     methd: POST
 *       │     ^^^^^
 */
export function codeFrame(lines: readonly string[], range: Range): string {
  const first = Math.max(1, range.line - LINES_BEFORE);
  const gutter = String(range.line).length;
  const from = range.column > WIDTH ? range.column - 1 - WIDTH / 2 : 0;
  const out: string[] = [];
  for (let line = first; line <= range.line; line += 1) {
    const source = (lines[line - 1] ?? '').slice(line === range.line ? from : 0);
    const output = printable(source.slice(0, WIDTH).replaceAll('\t', ' '));
    out.push(`${String(line).padStart(gutter)} │ ${output}`.trimEnd());
  }
  out.push(`${' '.repeat(gutter)} │ ${caret(lines[range.line - 1] ?? '', range, from)}`);
  return out.join('\n');
}

/** Creates a function that renders code frames of problems, with secrets redacted, from one text or those of the files. */
export function createCodeFramer(
  problems: readonly Problem[],
  texts: string | readonly { readonly path: string; readonly text: string }[],
): (problem: Problem) => string {
  const linesByFile = new Map<string, readonly string[]>();
  return ({ file, range }) => {
    const text = typeof texts === 'string' ? texts : (texts.find(({ path }) => path === file)?.text ?? '');
    const inFile = () => problems.filter((other) => other.file === file);
    const lines = getOrCreate(linesByFile, file, () => linesOf(redactSource(text, inFile())));
    return codeFrame(lines, range);
  };
}

export function linesOf(text: string): readonly string[] {
  return text.replace(/^\uFEFF/, '').split(/\r?\n/);
}

function caret(line: string, range: Range, from: number): string {
  const start = range.column - 1 - from;
  const lastColumn = range.endLine === range.line ? range.endColumn - 1 : line.trimEnd().length;
  const end = Math.min(Math.max(lastColumn - from, start + 1), Math.max(WIDTH, start + 1));
  return ' '.repeat(start) + '^'.repeat(end - start);
}

/** Redacts the source text of problems: the ranges that hold a secret, and credentials in URLs. */
export function redactSource(text: string, problems: readonly Pick<Problem, 'range' | 'isSecret'>[]): string {
  const secrets = problems.filter(({ isSecret }) => isSecret);
  if (secrets.length === 0) return redactCredentials(text);
  const lines = redactCredentials(text).split('\n');
  for (const { range } of secrets)
    for (let number = range.line; number <= range.endLine; number += 1) {
      const line = lines[number - 1] ?? '';
      // A byte order mark does not count as a column.
      const shift = line.startsWith('\uFEFF') ? 0 : 1;
      const start = number === range.line ? range.column - shift : line.search(/\S|$/);
      const end = Math.max(start, number === range.endLine ? range.endColumn - shift : line.trimEnd().length);
      lines[number - 1] = line.slice(0, start) + dots(line.slice(start, end)) + line.slice(end);
    }
  return lines.join('\n');
}
