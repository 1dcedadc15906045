import type { Range } from '../problem/finding.ts';

/** Converts offsets in a text to lines and columns. As in editors, a byte order mark does not count as a column. */
interface LineIndex {
  rangeOf(start: number, end: number): Range;
}

export function createLineIndex(text: string): LineIndex {
  const starts = [text.startsWith('\uFEFF') ? 1 : 0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  // The parser may report an offset after the end of the text.
  const positionOf = (offset: number) => {
    const bounded = Math.min(offset, text.length);
    const index = lastIndexAtMost(starts, bounded);
    return { line: index + 1, column: Math.max(1, bounded - (starts[index] ?? 0) + 1) };
  };
  return {
    rangeOf(start, end) {
      const from = positionOf(start);
      const to = positionOf(Math.max(start, end));
      return { ...from, endLine: to.line, endColumn: to.column };
    },
  };
}

/** Returns the index of the last of the ascending numbers that is at most `most`, or 0. */
function lastIndexAtMost(numbers: readonly number[], most: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? 0) <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}
