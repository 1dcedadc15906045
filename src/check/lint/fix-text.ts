import type { Problem, TextEdit } from '../../engine/problem/problem.ts';

/** An edit may reveal another problem, so the edits run in rounds. No manifest has needed this many. */
const MAX_ROUNDS = 10;

interface FixedText {
  readonly text: string;
  /** The number of applied edits. */
  readonly editCount: number;
}

/**
 * Applies the edits of problems until no problem has one. The rest of the text, with its comments and layout,
 * does not change.
 */
export function fixText(text: string, problemsOf: (text: string) => readonly Problem[]): FixedText {
  let fixed: FixedText = { text, editCount: 0 };
  let problems = problemsOf(text);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const edits = withoutOverlaps(problems.flatMap(({ edit }) => edit ?? []));
    if (edits.length === 0) break;
    const next = applyEdits(fixed.text, edits);
    problems = problemsOf(next);
    // An edit must never turn valid YAML into invalid YAML.
    if (problems.some(({ rule }) => rule === 'syntax')) break;
    fixed = { text: next, editCount: fixed.editCount + edits.length };
  }
  return fixed;
}

/** Returns the edits in text order, and drops each edit that overlaps an earlier one. */
function withoutOverlaps(edits: readonly TextEdit[]): TextEdit[] {
  const selected: TextEdit[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end))
    if (edit.start >= (selected.at(-1)?.end ?? 0)) selected.push(edit);
  return selected;
}

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
