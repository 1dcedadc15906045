import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { runCli } from '../support/cli.ts';
import { worldOf } from '../support/gateway.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = new URL('../../', import.meta.url);
const file = new URL('README.md', root);
const readme = readFileSync(file, 'utf8');
const examples = [...readme.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);

/** Compares the output of a command on a page with the real one. With UPDATE_GOLDEN=1 it updates the page instead. */
function expectOutput(page: string, command: string, expected: string): void {
  const text = readFileSync(new URL(page, root), 'utf8');
  const start = `\`\`\`console\n$ ${command}\n`;
  const [before = '', rest] = text.split(start);
  expect(rest, `${page} has no command "${command}"`).toBeDefined();
  const end = rest?.indexOf('```\n') ?? 0;
  if (process.env['UPDATE_GOLDEN'] === '1')
    writeFileSync(new URL(page, root), `${before}${start}${expected}${rest?.slice(end)}`);
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
      'Mistakes are explained at their place',
      'Five things to try',
      'When to use something else',
      'Next',
    ]);
    expect(Buffer.byteLength(readme)).toBeLessThan(9_000);
  });

  it('shows outputs that other pages show too, where their tests hold them', () => {
    const [, section = ''] = /^## Five things to try\n([\s\S]*?)^## /m.exec(readme) ?? [];
    const outputs = [...section.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
    const pages = globSync('docs/*.md', { cwd: root }).map((page) => readFileSync(new URL(page, root), 'utf8'));
    expect(outputs).toHaveLength(5);
    expect(outputs.filter((output) => !pages.some((page) => page.includes(output)))).toEqual([]);
  });

  it('shows the problems of an invalid manifest', async () => {
    const folder = temporaryFolder('readme', { 'broken.yaml': examples[1] ?? '' });
    const { code, out } = await runCli(['lint', 'broken.yaml'], folder);
    expect(code).toBe(1);
    expectOutput('README.md', 'npm run --silent gateway -- lint broken.yaml', out);
  });
});

describe('docs/command-line.md', () => {
  it('shows the help of the command line', async () => {
    const { out } = await runCli(['--help'], tmpdir());
    expectOutput('docs/command-line.md', 'npm run --silent gateway -- --help', out);
  });
});
