import { createHash } from 'node:crypto';
import type { Problem, Range } from './problem.ts';

/**
 * What a problem is known by from one run to the next: `hash:n`, one for each problem, none of them twice. It stays the
 * same when lines move or are indented anew, since it is made of the file, the rule, the message and the words beside
 * the culprit; `n` counts those that are alike in all of that, in reading order.
 *
 * @param textOf the text of a file that problems are in
 */
export function fingerprintsOf(problems: readonly Problem[], textOf: (file: string) => string): string[] {
  const lines = new Map<string, readonly string[]>();
  const seen = new Map<string, number>();
  return problems.map(({ file, rule, message, range }) => {
    const known =
      lines.get(file) ??
      textOf(file)
        .replace(/^\uFEFF/, '')
        .split('\n');
    lines.set(file, known);
    const parts = JSON.stringify([file, rule, message, surroundingText(range, known)]);
    const hash = createHash('sha256').update(parts).digest('hex').slice(0, 16);
    const nth = (seen.get(hash) ?? 0) + 1;
    seen.set(hash, nth);
    return `${hash}:${nth}`;
  });
}

/** Without the culprit itself, which may be a secret: what is published must not help to guess it. */
function surroundingText({ line, column, endLine, endColumn }: Range, lines: readonly string[]): string {
  const before = (lines[line - 1] ?? '').slice(0, column - 1);
  const after = line === endLine ? (lines[line - 1] ?? '').slice(endColumn - 1) : '';
  return `${before} ${after}`.trim().replaceAll(/\s+/g, ' ');
}
