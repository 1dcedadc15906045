const CONTEXT = 3;

/** A run of lines that only one of the texts has, or that both have. */
interface DiffLine {
  readonly kind: ' ' | '-' | '+';
  readonly text: string;
}

/** The change of a text as a unified diff, as `patch` and `git apply` take it; empty when there is none. */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return '';
  const lines = compareLines(splitLines(before), splitLines(after));
  return `--- a/${path}\n+++ b/${path}\n${formatHunks(lines).join('')}`;
}

function splitLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  else lines.push(`${lines.pop()}\n\\ No newline at end of file`);
  return lines;
}

function formatHunks(lines: readonly DiffLine[]): string[] {
  const changed = lines.flatMap(({ kind }, index) => (kind === ' ' ? [] : [index]));
  const hunks: string[] = [];
  let from = Math.max(0, (changed[0] ?? 0) - CONTEXT);
  for (const [at, index] of changed.entries()) {
    const next = changed[at + 1];
    if (next !== undefined && next - index <= 2 * CONTEXT) continue;
    hunks.push(formatHunk(lines, from, Math.min(lines.length, index + CONTEXT + 1)));
    from = (next ?? 0) - CONTEXT;
  }
  return hunks;
}

function formatHunk(lines: readonly DiffLine[], from: number, to: number): string {
  const shown = lines.slice(from, to);
  const side = (other: DiffLine['kind']) => {
    const start = lines.slice(0, from).filter(({ kind }) => kind !== other).length;
    const length = shown.filter(({ kind }) => kind !== other).length;
    return `${length === 0 ? start : start + 1},${length}`;
  };
  return `@@ -${side('+')} +${side('-')} @@\n${shown.map(({ kind, text }) => `${kind}${text}\n`).join('')}`;
}

/** The fewest lines that go and come (Myers, "An O(ND) difference algorithm", 1986). */
function compareLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const trace: Map<number, number>[] = [];
  let furthest = new Map([[1, 0]]);
  for (let steps = 0; ; steps += 1) {
    trace.push(furthest);
    const next = new Map(furthest);
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      let x = pathStart(furthest, diagonal, steps);
      while (x < before.length && before[x] === after[x - diagonal]) x += 1;
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return backtrack(trace, before, after);
    }
    furthest = next;
  }
}

/** Where a path on a diagonal begins: one line further, by coming or by going. */
function pathStart(furthest: ReadonlyMap<number, number>, diagonal: number, steps: number): number {
  return isInsertion(furthest, diagonal, steps)
    ? (furthest.get(diagonal + 1) ?? 0)
    : (furthest.get(diagonal - 1) ?? 0) + 1;
}

function isInsertion(furthest: ReadonlyMap<number, number>, diagonal: number, steps: number): boolean {
  if (diagonal === -steps) return true;
  return diagonal !== steps && (furthest.get(diagonal - 1) ?? 0) < (furthest.get(diagonal + 1) ?? 0);
}

function backtrack(
  trace: readonly ReadonlyMap<number, number>[],
  before: readonly string[],
  after: readonly string[],
): DiffLine[] {
  const lines: DiffLine[] = [];
  let x = before.length;
  let y = after.length;
  for (let steps = trace.length - 1; steps >= 0; steps -= 1) {
    const furthest = trace[steps] as ReadonlyMap<number, number>;
    const diagonal = x - y;
    const start = pathStart(furthest, diagonal, steps);
    for (; x > start; x -= 1) lines.push({ kind: ' ', text: before[x - 1] ?? '' });
    y = x - diagonal;
    if (steps === 0) break;
    const isNew = isInsertion(furthest, diagonal, steps);
    lines.push(isNew ? { kind: '+', text: after[y - 1] ?? '' } : { kind: '-', text: before[x - 1] ?? '' });
    if (isNew) y -= 1;
    else x -= 1;
  }
  return lines.reverse();
}
