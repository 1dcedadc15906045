import { describe, expect, test } from 'vitest';
import { errorAt, errorAtKey, type Finding } from '../../src/engine/problem/finding.ts';
import { hasErrors, toProblems } from '../../src/engine/problem/problem.ts';

/** The path `[line, column]` stands there. */
const locator = {
  file: 'gateway.yaml',
  locate: (where: Finding['location']) => {
    const [line = 1, column = 1] = 'path' in where ? where.path.map(Number) : [];
    return { line, column, endLine: line, endColumn: column + 1 };
  },
};

const said = (findings: Finding[]) =>
  toProblems(findings, locator).map(({ range, rule, message }) => `${range.line}:${range.column} ${rule} ${message}`);

describe('reading order', () => {
  test('by line, column, rule, message', () => {
    const written = ['2:1 a x', '10:1 a x', '2:10 a x', '2:2 a x', '2:2 b a', '2:2 a b', '2:2 a a'];
    const findings = written.map((text) => {
      const [place = '', rule = '', message = ''] = text.split(' ');
      return errorAt(place.split(':').map(Number), rule, message);
    });
    expect(said(findings)).toEqual(['2:1 a x', '2:2 a a', '2:2 a b', '2:2 a x', '2:2 b a', '2:10 a x', '10:1 a x']);
    expect(said(findings.toReversed())).toEqual(said(findings));
  });

  test('what is said twice of one place is said once', () => {
    expect(said([errorAt([1, 1], 'a', 'x'), errorAtKey([1, 1], 'a', 'x'), errorAt([1, 2], 'a', 'x')])).toEqual([
      '1:1 a x',
      '1:2 a x',
    ]);
  });

  test('the list that was given stays as it was', () => {
    const findings = [errorAt([2, 1], 'a', 'x'), errorAt([1, 1], 'a', 'x')];
    toProblems(findings, locator);
    expect(findings.map(({ location }) => location)).toEqual([
      { path: [2, 1], at: 'value' },
      { path: [1, 1], at: 'value' },
    ]);
  });
});

test('the other place has its range', () => {
  const [problem] = toProblems(
    [{ ...errorAt([5, 1], 'a', 'x'), related: { path: [3, 2], message: 'the first one' } }],
    locator,
  );
  expect(problem?.related).toEqual({
    message: 'the first one',
    range: { line: 3, column: 2, endLine: 3, endColumn: 3 },
  });
});

describe('a message', () => {
  test('has nothing that steers a terminal, and is one line', () => {
    expect(said([errorAt([1, 1], 'a', 'x\x1b[2J\n\u2028\x7f\ud800é')])).toEqual([
      '1:1 a x\uFFFD[2J\uFFFD\uFFFD\uFFFD\uFFFDé',
    ]);
  });

  test('that is long keeps its beginning and its end', () => {
    const [problem] = toProblems([errorAt([1, 1], 'a', `begin${'x'.repeat(10_000)}end`)], locator);
    expect(problem?.message).toMatch(/^beginx+ … x+end$/);
    expect(problem?.message.length).toBeLessThan(700);
  });
});

test('only errors are errors', () => {
  expect(hasErrors([])).toBe(false);
  expect(hasErrors([{ severity: 'warning' }, { severity: 'info' }])).toBe(false);
  expect(hasErrors([{ severity: 'warning' }, { severity: 'error' }])).toBe(true);
});
