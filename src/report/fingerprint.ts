import { createHash } from 'node:crypto';
import type { Source } from '../engine/manifest/source.ts';
import type { Range } from '../engine/problem/finding.ts';
import type { ReportRow } from './report.ts';

/**
 * Returns the rows with a unique fingerprint for each, `hash:n`, which identifies it across runs. The hash covers the file, the rule,
 * the message and the text around the range, so it survives moved and reindented lines. `n` numbers rows with equal hashes in reading
 * order.
 *
 * @param sources the texts of the files
 */
export function withFingerprints<Row extends ReportRow>(rows: readonly Row[], sources: readonly Source[]) {
  const lines = new Map(sources.map(({ path, text }) => [path, text.replace(/^\uFEFF/, '').split('\n')]));
  const counts = new Map<string, number>();
  return rows.map((row) => {
    const { file, rule, message, range } = row;
    const parts = JSON.stringify([file, rule, message, surroundingText(range, lines.get(file) ?? [])]);
    const hash = createHash('sha256').update(parts).digest('hex').slice(0, 16);
    const number = (counts.get(hash) ?? 0) + 1;
    counts.set(hash, number);
    return { ...row, fingerprint: `${hash}:${number}` };
  });
}

/** Omits the text in the range, which may be a secret: a published hash must not help to guess it. */
function surroundingText({ line, column, endLine, endColumn }: Range, lines: readonly string[]): string {
  const before = (lines[line - 1] ?? '').slice(0, column - 1);
  const after = line === endLine ? (lines[line - 1] ?? '').slice(endColumn - 1) : '';
  return `${before} ${after}`.trim().replaceAll(/\s+/g, ' ');
}
