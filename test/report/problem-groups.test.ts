import { expect, test } from 'vitest';
import type { Severity } from '../../src/engine/problem/finding.ts';
import type { Problem } from '../../src/engine/problem/problem.ts';
import { groupProblems } from '../../src/report/problem-groups.ts';

function problemAt(line: number, message: string, severity: Severity = 'warning'): Problem {
  const range = { line, column: 1, endLine: line, endColumn: 2 };
  return { rule: severity === 'error' ? 'schema' : 'secret-default', severity, file: 'gateway.yaml', message, range };
}

test('an error behind many warnings is printed, and the text about the others names only warnings', () => {
  const warnings = [1, 2, 3].map((line) => problemAt(line, `warning ${line}`));
  const error = problemAt(4, 'an error', 'error');
  const { groups, omitted } = groupProblems([...warnings, error], 2);
  expect(groups.map(({ first }) => first.message)).toEqual(['warning 1', 'an error']);
  expect(omitted).toMatch(/^and 2 more: 2 \[secret-default\];/);
});

test('four equal problems of a file are one group with the positions of the others', () => {
  const { groups, omitted } = groupProblems(
    [5, 6, 7, 8].map((line) => problemAt(line, 'equal')),
    50,
  );
  expect(groups).toEqual([{ first: problemAt(5, 'equal'), others: 'also at 6:1, 7:1, 8:1' }]);
  expect(omitted).toBe('');
});
