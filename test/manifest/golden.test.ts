import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { decodeText } from '../../src/engine/manifest/source.ts';
import { formatProblems } from '../../src/report/text.ts';
import { createPair } from '../support/certificate.ts';

const CASES = new URL('cases/', import.meta.url);
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';
const { certificate } = createPair();

/** Each case is `<rule>/<case>`, with a manifest `.yaml` and a golden file `.out`; other files are fixtures. */
const cases = globSync('*/*.yaml', { cwd: CASES })
  .map((file) => file.slice(0, -'.yaml'.length))
  .sort()
  .map((path) => ({ path, rule: dirname(path), name: basename(path) }));

const ENVIRONMENT = { RATE_LIMIT_SECRET: 'hQ7wkR2mVx9tLp4zGcN8', SHORT_SECRET: 'hQ7wkR2m' };

function loadCase(path: string) {
  const manifest = new URL(`${path}.yaml`, CASES);
  const readFile = (file: string) =>
    basename(file) === 'certificate.pem' ? certificate : decodeText(readFileSync(new URL(file, manifest)));
  return load(
    { path: basename(manifest.pathname), text: decodeText(readFileSync(manifest)) },
    { env: ENVIRONMENT, readFile },
  );
}

describe('a manifest with one error', () => {
  test.each(cases)('is rejected by the rule $rule: $name', ({ path, rule }) => {
    const { sources, plan, problems } = loadCase(path);
    const printed = formatProblems(problems, sources, false);
    const golden = new URL(`${path}.out`, CASES);
    if (UPDATE) writeFileSync(golden, printed);
    expect(printed).toBe(readFileSync(golden, 'utf8'));
    expect(problems.map((problem) => problem.rule)).toEqual([rule]);
    expect(plan).toBeUndefined();
  });

  test('has exactly one golden file', () => {
    const goldens = globSync('*/*.out', { cwd: CASES });
    expect(goldens.sort()).toEqual(cases.map(({ path }) => `${path}.out`).sort());
  });
});
