import { createHash } from 'node:crypto';
import type { Problem } from './problem.ts';

/**
 * What a problem is known by from one run to the next: `hash:n`, one for each problem, none of them twice. It stays the
 * same when lines move or are indented anew, since it is made of the file, the rule, the message and the words of the
 * line; `n` counts those that are alike in all of that, in reading order.
 *
 * @param textOf the text of a file that problems are in
 */
export function fingerprintsOf(problems: readonly Problem[], textOf: (file: string) => string): string[] {
  const lines = new Map<string, readonly string[]>();
  const seen = new Map<string, number>();
  return problems.map(({ file, rule, message, range }) => {
    const known = lines.get(file) ?? textOf(file).split('\n');
    lines.set(file, known);
    const words = (known[range.line - 1] ?? '').trim().replaceAll(/\s+/g, ' ');
    const hash = createHash('sha256')
      .update(JSON.stringify([file, rule, message, words]))
      .digest('hex')
      .slice(0, 16);
    const nth = (seen.get(hash) ?? 0) + 1;
    seen.set(hash, nth);
    return `${hash}:${nth}`;
  });
}
