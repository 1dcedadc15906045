import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RULES } from '../../src/check/lint/rule-table.ts';
import { CASES, formatProblem, lintCase } from './support.ts';

const UPDATE = process.env['UPDATE_GOLDEN'] === '1';
/** Errors have cases in test/manifest, and online rules need a network. */
const testedRules = RULES.filter(({ severity, category }) => severity !== 'error' && category !== 'online');

describe.each(testedRules.map((rule) => [rule.id, rule] as const))('the rule %s', (id, rule) => {
  test('reports the bad manifest, and no other rule does', () => {
    const { problems, printed } = lintCase(rule, 'bad.yaml');
    const golden = new URL(`${id}/bad.out`, CASES);
    if (UPDATE) writeFileSync(golden, printed);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.filter((problem) => problem.rule !== id).map(formatProblem)).toEqual([]);
    expect(printed).toBe(readFileSync(golden, 'utf8'));
  });

  test('reports nothing in the good manifest', () => {
    expect(lintCase(rule, 'good.yaml').problems.map(formatProblem)).toEqual([]);
  });
});

test('every rule has a folder of cases, and every folder has a rule', () => {
  expect(readdirSync(CASES).sort()).toEqual(testedRules.map(({ id }) => id).sort());
});
