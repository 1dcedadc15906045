import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LINT_FORMATS, type LintFormat } from '../../../src/cli/lint/lint-formats.ts';
import { REPORTS } from './support.ts';

const CASES = new URL('cases/', import.meta.url);
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';
const FORMATS = Object.keys(LINT_FORMATS) as LintFormat[];

const cases = Object.keys(REPORTS).flatMap((name) => FORMATS.map((format) => ({ name, format })));

describe('a report', () => {
  it.each(cases)('matches its golden file: $name as $format', ({ name, format }) => {
    const report = REPORTS[name];
    if (report === undefined) throw new Error(name);
    const output = LINT_FORMATS[format](report, false);
    const golden = new URL(`${name}.${format}.out`, CASES);
    if (UPDATE) writeFileSync(golden, output);
    expect(output).toBe(readFileSync(golden, 'utf8'));
    expect(output).toMatch(/^$|\n$/);
    expect(output).not.toContain('\u001b');
  });

  it('has no unused golden file', () => {
    expect(readdirSync(CASES).sort()).toEqual(cases.map(({ name, format }) => `${name}.${format}.out`).sort());
  });

  it.each(FORMATS)('has colour only in formats for a person: %s', (format) => {
    const hasColour = Object.values(REPORTS).some((report) => LINT_FORMATS[format](report, true).includes('\u001b['));
    expect(hasColour).toBe(['pretty', 'stylish'].includes(format));
  });
});
