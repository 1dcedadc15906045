import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runCli } from './cli.ts';
import { temporaryFolder } from './temporary-folder.ts';

const FILE = /^```yaml\n# ([\w.-]+\.yaml)\n([\s\S]*?)^```$/gm;
const CONSOLE = /^```console\n\$ signing-gateway (.*)\n([\s\S]*?)^```$/gm;

/**
 * Expects the commands of a page to print the output that the page shows. They run in a folder with the files of the page, each
 * of which begins with its name as a comment. With UPDATE_GOLDEN=1 it rewrites the page instead.
 *
 * @param more files that the commands need and the page does not show
 * @returns the number of commands
 */
export async function expectConsoles(page: string, more: Record<string, string> = {}): Promise<number> {
  const file = new URL(`../../${page}`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  const folder = temporaryFolder('docs', more);
  // The line with the name stays, so that line numbers match the page.
  for (const [, name = '', body = ''] of text.matchAll(FILE)) writeFileSync(join(folder, name), `# ${name}\n${body}`);
  const outputs = new Map<string, string>();
  for (const [, command = '', expected] of text.matchAll(CONSOLE)) {
    const { out, err } = await runCli(splitWords(command), folder);
    outputs.set(command, out);
    if (process.env['UPDATE_GOLDEN'] !== '1')
      expect({ command, output: out }, err).toEqual({ command, output: expected });
  }
  if (process.env['UPDATE_GOLDEN'] === '1')
    writeFileSync(
      file,
      text.replaceAll(
        CONSOLE,
        (_all, command: string) => `\`\`\`console\n$ signing-gateway ${command}\n${outputs.get(command)}\`\`\``,
      ),
    );
  return outputs.size;
}

/** Splits a command line into words. Single quotes group words. */
function splitWords(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
