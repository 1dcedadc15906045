import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatDiffText } from '../../src/cli/diff/diff-formats.ts';
import { COMPARISONS } from '../../src/prove/diff/comparisons.ts';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import { CASES, caseNames, sideOfCase } from './cases.ts';

const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

describe('diff', () => {
  test.each(caseNames)('reports %s as in the golden file', (name) => {
    const [old, next] = [sideOfCase(name, 'old'), sideOfCase(name, 'new')];
    const differences = diff(old, next);
    const printed = formatDiffText({ old: 'old.yaml', next: 'new.yaml', differences }, false);
    const golden = new URL(`${name}/text.out`, CASES);
    if (UPDATE) writeFileSync(golden, printed);
    expect(printed).toBe(readFileSync(golden, 'utf8'));
    expect(differences.map(({ rule }) => rule)).toContain(name);
    expect([diff(old, old), diff(next, next)]).toEqual([[], []]);
  });

  test('has a case for every comparison', () => {
    expect(caseNames.toSorted()).toEqual(COMPARISONS.flatMap(({ rules }) => Object.keys(rules)).sort());
  });
});
