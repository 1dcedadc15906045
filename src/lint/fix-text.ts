import type { Problem, TextEdit } from '../problem/problem.ts';

/** What one edit mends may uncover the next; no chain is as long as this. */
const ROUNDS = 10;

export interface FixedText {
  readonly text: string;
  /** How many edits were made. */
  readonly editCount: number;
}

/**
 * Makes the edits that problems of a text come with, until none is left. All else of the text stays as it was,
 * comments and layout too.
 */
export function fixText(text: string, problemsOf: (text: string) => readonly Problem[]): FixedText {
  let fixed: FixedText = { text, editCount: 0 };
  let problems = problemsOf(text);
  for (let round = 0; round < ROUNDS; round += 1) {
    const edits = withoutOverlaps(problems.flatMap(({ edit }) => edit ?? []));
    if (edits.length === 0) break;
    const next = applyEdits(fixed.text, edits);
    problems = problemsOf(next);
    // Whatever an edit takes for granted, what can be read stays readable.
    if (problems.some(({ rule }) => rule === 'syntax')) break;
    fixed = { text: next, editCount: fixed.editCount + edits.length };
  }
  return fixed;
}

/** In their order, and of those that touch each other the first. */
function withoutOverlaps(edits: readonly TextEdit[]): TextEdit[] {
  const kept: TextEdit[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end))
    if (edit.start >= (kept.at(-1)?.end ?? 0)) kept.push(edit);
  return kept;
}

function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let end = 0;
  const parts = edits.flatMap((edit) => {
    const before = text.slice(end, edit.start);
    end = edit.end;
    return [before, edit.text];
  });
  return parts.join('') + text.slice(end);
}
