import type { TextEdit } from '../../engine/problem/problem.ts';

/** Applies edits that do not overlap, in the order of the text. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let end = 0;
  const parts = edits.flatMap((edit) => {
    const before = text.slice(end, edit.start);
    end = edit.end;
    return [before, edit.text];
  });
  return parts.join('') + text.slice(end);
}
