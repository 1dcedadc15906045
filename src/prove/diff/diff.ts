import { SEVERITY_RANKS } from '../../engine/problem/finding.ts';
import { COMPARISONS } from './comparisons/index.ts';
import { counterpartOf } from './counterpart.ts';
import type { Comparison, DiffContext, Difference, DiffFinding } from './difference.ts';
import { pairRoutes } from './route-pairing.ts';
import type { DiffSide } from './side.ts';
import { completeWitness } from './witnesses/complete-witness.ts';

/** Returns the differences between two manifests, sorted by severity, then by position in the file. */
export function diff(old: DiffSide, next: DiffSide): Difference[] {
  const sides: DiffContext = { old, next, pairs: pairRoutes(old, next) };
  const all = COMPARISONS.flatMap((comparison) =>
    [...comparison.find(sides)].map((finding) => toDifference(comparison, finding, sides)),
  );
  const distinct = new Map(all.map((difference) => [keyOf(difference), difference]));
  return [...distinct.values()].sort(compareDifferences);
}

function toDifference({ id, severity }: Comparison, finding: DiffFinding, sides: DiffContext): Difference {
  const { old, next } = sides;
  const { message, path } = finding;
  const witness = completeWitness(sides, finding);
  const { document } = finding.side === 'old' ? old : next;
  const location = { path, at: 'value' } as const;
  return {
    rule: id,
    severity,
    message,
    file: document.fileOf(location),
    range: document.locate(location),
    counterpart: counterpartOf(finding, sides),
    ...(witness && { witness }),
  };
}

/** Identifies a difference. Several requests may show the same one, and one of them is enough. */
function keyOf({ rule, file, range, message }: Difference): string {
  return JSON.stringify([rule, file, range.line, range.column, message]);
}

function compareDifferences(a: Difference, b: Difference): number {
  return (
    SEVERITY_RANKS[b.severity] - SEVERITY_RANKS[a.severity] ||
    a.range.line - b.range.line ||
    a.range.column - b.range.column ||
    compareText(a.rule, b.rule) ||
    compareText(a.message, b.message) ||
    compareText(a.file, b.file)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
