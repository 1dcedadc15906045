const CONTEXT = 3;

/** A run of lines that only one of the texts has, or that both have. */
interface Line {
  readonly kind: ' ' | '-' | '+';
  readonly text: string;
}

/** The change of a text as a unified diff, as `patch` and `git apply` take it; empty when there is none. */
export function patchOf(path: string, before: string, after: string): string {
  if (before === after) return '';
  const lines = compare(linesOf(before), linesOf(after));
  return `--- a/${path}\n+++ b/${path}\n${hunksOf(lines).join('')}`;
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  else lines.push(`${lines.pop()}\n\\ No newline at end of file`);
  return lines;
}

function hunksOf(lines: readonly Line[]): string[] {
  const changed = lines.flatMap(({ kind }, index) => (kind === ' ' ? [] : [index]));
  const hunks: string[] = [];
  let from = Math.max(0, (changed[0] ?? 0) - CONTEXT);
  for (const [at, index] of changed.entries()) {
    const next = changed[at + 1];
    if (next !== undefined && next - index <= 2 * CONTEXT) continue;
    hunks.push(hunkOf(lines, from, Math.min(lines.length, index + CONTEXT + 1)));
    from = (next ?? 0) - CONTEXT;
  }
  return hunks;
}

function hunkOf(lines: readonly Line[], from: number, to: number): string {
  const shown = lines.slice(from, to);
  const side = (other: Line['kind']) => {
    const start = lines.slice(0, from).filter(({ kind }) => kind !== other).length;
    const length = shown.filter(({ kind }) => kind !== other).length;
    return `${length === 0 ? start : start + 1},${length}`;
  };
  return `@@ -${side('+')} +${side('-')} @@\n${shown.map(({ kind, text }) => `${kind}${text}\n`).join('')}`;
}

/** The fewest lines that go and come (Myers, "An O(ND) difference algorithm", 1986). */
function compare(before: readonly string[], after: readonly string[]): Line[] {
  const trace: Map<number, number>[] = [];
  let furthest = new Map([[1, 0]]);
  for (let steps = 0; ; steps += 1) {
    trace.push(furthest);
    const next = new Map(furthest);
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      let x = startOf(furthest, diagonal, steps);
      while (x < before.length && before[x] === after[x - diagonal]) x += 1;
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return linesBack(trace, before, after);
    }
    furthest = next;
  }
}

/** Where a path on a diagonal begins: one line further, by coming or by going. */
function startOf(furthest: ReadonlyMap<number, number>, diagonal: number, steps: number): number {
  return isComing(furthest, diagonal, steps)
    ? (furthest.get(diagonal + 1) ?? 0)
    : (furthest.get(diagonal - 1) ?? 0) + 1;
}

function isComing(furthest: ReadonlyMap<number, number>, diagonal: number, steps: number): boolean {
  if (diagonal === -steps) return true;
  return diagonal !== steps && (furthest.get(diagonal - 1) ?? 0) < (furthest.get(diagonal + 1) ?? 0);
}

function linesBack(
  trace: readonly ReadonlyMap<number, number>[],
  before: readonly string[],
  after: readonly string[],
): Line[] {
  const lines: Line[] = [];
  let x = before.length;
  let y = after.length;
  for (let steps = trace.length - 1; steps >= 0; steps -= 1) {
    const furthest = trace[steps] as ReadonlyMap<number, number>;
    const diagonal = x - y;
    const start = startOf(furthest, diagonal, steps);
    for (; x > start; x -= 1) lines.push({ kind: ' ', text: before[x - 1] ?? '' });
    y = x - diagonal;
    if (steps === 0) break;
    const isNew = isComing(furthest, diagonal, steps);
    lines.push(isNew ? { kind: '+', text: after[y - 1] ?? '' } : { kind: '-', text: before[x - 1] ?? '' });
    if (isNew) y -= 1;
    else x -= 1;
  }
  return lines.reverse();
}
