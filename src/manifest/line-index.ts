import type { Range } from '../problem/problem.ts';

/** Tells lines and columns of offsets into a text; a byte order mark is no column, as editors count. */
export interface LineIndex {
  rangeOf(start: number, end: number): Range;
}

export function createLineIndex(text: string): LineIndex {
  const starts = [text.startsWith('\uFEFF') ? 1 : 0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  // An offset behind the end of the text, which the parser may give, is the end.
  const placeOf = (offset: number) => {
    const within = Math.min(offset, text.length);
    const index = lastIndexAtMost(starts, within);
    return { line: index + 1, column: Math.max(1, within - (starts[index] ?? 0) + 1) };
  };
  return {
    rangeOf(start, end) {
      const from = placeOf(start);
      const to = placeOf(Math.max(start, end));
      return { ...from, endLine: to.line, endColumn: to.column };
    },
  };
}

/** The index of the last of the ascending numbers that is at most this; the first one's if none is. */
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
