import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RULES } from '../../src/lint/rule-table.ts';
import { CASES, lintCase, said } from './support.ts';

const UPDATE = process.env['UPDATE_GOLDEN'] === '1';
/** What others than the manifest decide has no manifest to show it. */
const shown = RULES.filter(({ severity, category }) => severity !== 'error' && category !== 'online');

describe.each(shown.map((rule) => [rule.id, rule] as const))('%s', (id, rule) => {
  test('finds what is bad, and nothing else does', () => {
    const { problems, printed } = lintCase(rule, 'bad.yaml');
    const golden = new URL(`${id}/bad.out`, CASES);
    if (UPDATE) writeFileSync(golden, printed);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.filter((problem) => problem.rule !== id).map(said)).toEqual([]);
    expect(printed).toBe(readFileSync(golden, 'utf8'));
  });

  test('finds nothing in what is good', () => {
    expect(lintCase(rule, 'good.yaml').problems.map(said)).toEqual([]);
  });
});

test('every folder of cases is that of a rule', () => {
  expect(readdirSync(CASES).sort()).toEqual(shown.map(({ id }) => id).sort());
});
