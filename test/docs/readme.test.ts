import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { welcome } from '../../src/cli/dev/welcome.ts';
import { load } from '../../src/load.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { runCli } from '../support/cli.ts';
import { worldOf } from '../support/gateway.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text = '']) => ({
  language,
  text,
}));
const yaml = blocks.filter(({ language }) => language === 'yaml').map(({ text }) => text);

/** What the README shows below a command. */
function shownBelow(command: string): string {
  const block = blocks.find(({ text }) => text.startsWith(`$ ${command}\n`));
  return block?.text.slice(`$ ${command}\n`.length) ?? '';
}

describe('README.md', () => {
  it('begins with a manifest that loads', () => {
    const { plan, problems } = load({ path: 'gateway.yaml', text: yaml[0] ?? '' }, worldOf());
    expect(problems).toEqual([]);
    expect(plan?.routes.map(({ id }) => id)).toEqual(['verification', 'documents']);
    expect(yaml[0]?.split('\n').length).toBeLessThanOrEqual(11);
  });

  it('shows what the start prints', async () => {
    const { accounts, close } = await createSandbox({ file: ':memory:', identityPort: 0, platformPort: 0 });
    await close();
    const sandbox = { accounts, identityUrl: 'http://127.0.0.1:7001', platformUrl: 'http://127.0.0.1:7002' };
    const served = { url: 'http://127.0.0.1:8080', adminUrl: 'http://127.0.0.1:9901', manifest: 'gateway.yaml' };
    expect(shownBelow('npm ci && npm start')).toBe(welcome(served, sandbox));
  });

  it('shows the message of a broken manifest as it is printed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'readme-'));
    writeFileSync(join(folder, 'broken.yaml'), yaml[1] ?? '');
    const { code, out } = await runCli(['lint', 'broken.yaml'], folder);
    expect(code).toBe(1);
    expect(shownBelow('npm run --silent gateway -- lint broken.yaml')).toBe(out);
  });

  it('shows the help as it is printed', async () => {
    const { out } = await runCli(['--help'], tmpdir());
    expect(shownBelow('npm run --silent gateway -- --help')).toBe(out);
  });
});
