import { createHash } from 'node:crypto';
import type { Range } from '../engine/problem/finding.ts';
import type { Problem } from '../engine/problem/problem.ts';

/**
 * Returns a unique fingerprint for each problem, `hash:n`, which identifies it across runs. The hash covers the file, the rule,
 * the message and the text around the range, so it survives moved and reindented lines. `n` numbers problems with equal hashes
 * in reading order.
 *
 * @param textOf returns the text of a file
 */
export function fingerprintsOf(problems: readonly Problem[], textOf: (file: string) => string): string[] {
  const lines = new Map<string, readonly string[]>();
  const counts = new Map<string, number>();
  return problems.map(({ file, rule, message, range }) => {
    const fileLines =
      lines.get(file) ??
      textOf(file)
        .replace(/^\uFEFF/, '')
        .split('\n');
    lines.set(file, fileLines);
    const parts = JSON.stringify([file, rule, message, surroundingText(range, fileLines)]);
    const hash = createHash('sha256').update(parts).digest('hex').slice(0, 16);
    const number = (counts.get(hash) ?? 0) + 1;
    counts.set(hash, number);
    return `${hash}:${number}`;
  });
}

/** Omits the text in the range, which may be a secret: a published hash must not help to guess it. */
function surroundingText({ line, column, endLine, endColumn }: Range, lines: readonly string[]): string {
  const before = (lines[line - 1] ?? '').slice(0, column - 1);
  const after = line === endLine ? (lines[line - 1] ?? '').slice(endColumn - 1) : '';
  return `${before} ${after}`.trim().replaceAll(/\s+/g, ' ');
}
