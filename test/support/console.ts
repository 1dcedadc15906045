import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { runCli } from './cli.ts';

const FILE = /^```yaml\n# ([\w.-]+\.yaml)\n([\s\S]*?)^```$/gm;
const CONSOLE = /^```console\n\$ signing-gateway (.*)\n([\s\S]*?)^```$/gm;

/**
 * Compares the commands on a page with their output, in a folder with the files on the page (the first line of each is a comment
 * with its name). With UPDATE_GOLDEN=1 it updates the page instead.
 *
 * @param files additional files, by name
 * @returns the number of commands
 */
export async function expectConsoles(page: string, files: Record<string, string> = {}): Promise<number> {
  const file = new URL(`../../${page}`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  const folder = mkdtempSync(join(tmpdir(), 'docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // The line with the name stays, so that line numbers match the page.
  for (const [, name = '', body = ''] of text.matchAll(FILE)) writeFileSync(join(folder, name), `# ${name}\n${body}`);
  for (const [name, body] of Object.entries(files)) writeFileSync(join(folder, name), body);
  const printed = new Map<string, string>();
  for (const [, command = '', shown] of text.matchAll(CONSOLE)) {
    const { out, err } = await runCli(words(command), folder);
    printed.set(command, out);
    if (process.env['UPDATE_GOLDEN'] !== '1') expect({ command, shown }, err).toEqual({ command, shown: out });
  }
  if (process.env['UPDATE_GOLDEN'] === '1')
    writeFileSync(
      file,
      text.replaceAll(
        CONSOLE,
        (_all, command: string) => `\`\`\`console\n$ signing-gateway ${command}\n${printed.get(command)}\`\`\``,
      ),
    );
  return printed.size;
}

/** Splits a command line at blanks outside of quotes. */
function words(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
