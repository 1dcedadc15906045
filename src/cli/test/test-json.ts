import type { Problem } from '../../engine/problem/problem.ts';
import type { TestReport } from './test-text.ts';

/** Formats JSON: the cases, the coverage and, with `--mutate`, the changes of the manifest. */
export function formatTestJson({ path, testFile, results, coverage, mutation }: TestReport): string {
  const report = {
    file: path,
    passed: results.filter(({ mismatches }) => mismatches.length === 0).length,
    failed: results.filter(({ mismatches }) => mismatches.length > 0).length,
    cases: results.map(({ name, index, mismatches }) => ({
      name,
      line: testFile.document.locate({ path: ['cases', index], at: 'value' }).line,
      mismatches: mismatches.map(({ path, expected = null, actual = null }) => ({
        path: path.join('.'),
        expected,
        actual,
      })),
    })),
    coverage,
    mutation: mutation && {
      score: mutation.score,
      noticed: mutation.noticed,
      untested: mutation.untested,
      unnoticed: mutation.unnoticed.map(({ problem, caseText }) => ({ ...placeOf(problem), case: caseText })),
      invisible: mutation.invisible.map(({ problem, reason }) => ({ ...placeOf(problem), reason })),
    },
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}

function placeOf({ rule, message, file, range }: Problem) {
  return { mutator: rule, message, file, line: range.line, column: range.column };
}
