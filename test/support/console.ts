import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runCli } from './cli.ts';
import { temporaryFolder } from './temporary-folder.ts';

const FILE = /^```yaml\n# ([\w.-]+\.yaml)\n([\s\S]*?)^```$/gm;
const CONSOLE = /^```console\n\$ signing-gateway (.*)\n([\s\S]*?)^```$/gm;

/**
 * Holds the commands that a page shows to what they print, in a folder with the files that the page shows (each begins with
 * its name as a comment). With UPDATE_GOLDEN=1 the page is rewritten instead.
 *
 * @param more files that the page speaks of and does not show
 * @returns how many commands there are
 */
export async function expectConsoles(page: string, more: Record<string, string> = {}): Promise<number> {
  const file = new URL(`../../${page}`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  const folder = temporaryFolder('docs');
  // The name's line stays, so that lines are those of the page.
  for (const [, name = '', body = ''] of text.matchAll(FILE)) writeFileSync(join(folder, name), `# ${name}\n${body}`);
  for (const [name, body] of Object.entries(more)) writeFileSync(join(folder, name), body);
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

/** The words of a command line, of which some are in quotes. */
function words(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
