import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { toProblems } from '../../src/engine/problem/problem.ts';
import { findUnknownReferences, readTestFile } from '../../src/prove/testing/read-test-file.ts';
import { formatProblems } from '../../src/report/text.ts';
import { planned } from './support.ts';

const CASES = new URL('cases/', import.meta.url);
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

const names = readdirSync(CASES).flatMap((name) => (name.endsWith('.yaml') ? [name.slice(0, -'.yaml'.length)] : []));

function problemsOf(path: string, text: string) {
  const { testFile, problems } = readTestFile({ path, text });
  return testFile === undefined
    ? problems
    : toProblems(findUnknownReferences(testFile.testFile, planned()), testFile.document);
}

describe('a test file with an error', () => {
  test.each(names)('prints the problem of %s', (name) => {
    const text = readFileSync(new URL(`${name}.yaml`, CASES), 'utf8');
    const problems = problemsOf(`${name}.yaml`, text);
    const printed = formatProblems(problems, text, false);
    const golden = new URL(`${name}.out`, CASES);
    if (UPDATE) writeFileSync(golden, printed);
    expect(printed).toBe(readFileSync(golden, 'utf8'));
    expect(problems.length).toBeGreaterThan(0);
  });
});

test('a role is an error if the manifest has no "auth"', () => {
  const text = `version: 1
tokens: { one: { role: user } }
cases:
  - name: all
    request: { method: GET, url: /, role: user }
    expect: {}
`;
  const open = planned(`version: 1
upstreams: { up: { url: http://127.0.0.1:9 } }
routes: [{ id: all, method: GET, path: /**, upstream: up, access: public }]
`);
  const { testFile } = readTestFile({ path: 'gateway.test.yaml', text });
  if (testFile === undefined) throw new Error('the test file itself must be valid');
  const problems = toProblems(findUnknownReferences(testFile.testFile, open), testFile.document);
  expect(problems.map(({ range, rule }) => `${range.line}:${range.column} ${rule}`)).toEqual([
    '2:18 auth-missing',
    '5:37 auth-missing',
  ]);
});
