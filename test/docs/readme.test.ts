import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { runCli } from '../support/cli.ts';
import { worldOf } from '../support/gateway.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const file = new URL('../../README.md', import.meta.url);
const readme = readFileSync(file, 'utf8');
const examples = [...readme.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);

/** Compares the output of a command in the README with the real one. With UPDATE_GOLDEN=1 it updates the README instead. */
function expectOutput(command: string, expected: string): void {
  const text = readFileSync(file, 'utf8');
  const start = `\`\`\`console\n$ ${command}\n`;
  const [before = '', rest] = text.split(start);
  expect(rest, `README.md has no command "${command}"`).toBeDefined();
  const end = rest?.indexOf('```\n') ?? 0;
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, `${before}${start}${expected}${rest?.slice(end)}`);
  else expect(rest?.slice(0, end)).toBe(expected);
}

describe('README.md', () => {
  it('begins with a manifest that loads', () => {
    const { plan, problems } = load({ path: 'gateway.yaml', text: examples[0] ?? '' }, worldOf());
    expect(problems).toEqual([]);
    expect(plan?.routes.map(({ id }) => id)).toEqual(['verification', 'documents']);
    expect(examples[0]?.split('\n').length).toBeLessThanOrEqual(11);
  });

  it('has the headings that readers look for', () => {
    const headings = [...readme.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([
      'Quick start',
      'Configuration',
      'Routes',
      'Authentication',
      'Invariants',
      'Validation',
      'Rate limits',
      'Upstreams',
      'Reload',
      'Operations',
      'CI',
      'Troubleshooting',
      'Reference',
    ]);
  });

  it('shows the problems of an invalid manifest', async () => {
    const folder = temporaryFolder('readme', { 'broken.yaml': examples[1] ?? '' });
    const { code, out } = await runCli(['lint', 'broken.yaml'], folder);
    expect(code).toBe(1);
    expectOutput('npm run --silent gateway -- lint broken.yaml', out);
  });

  it('shows the help of the command line', async () => {
    const { out } = await runCli(['--help'], tmpdir());
    expectOutput('npm run --silent gateway -- --help', out);
  });
});
