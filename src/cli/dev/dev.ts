import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { MANIFEST_OPTIONS, parseSingleManifestArguments } from '../manifest-file.ts';
import { serveFile } from '../run/run.ts';
import { CommandError, type Options, type Verb } from '../terminal.ts';
import { welcome } from './welcome.ts';

const DATABASE = '.sandbox/sandbox.db';

const OPTIONS = {
  reset: { type: 'boolean', summary: 'delete the sandbox data and start with fresh data' },
} as const satisfies Options;

export const dev: Verb = {
  usage: 'signing-gateway dev [FILE] [--reset]',
  options: { ...MANIFEST_OPTIONS, ...OPTIONS },
  examples: ['signing-gateway dev', 'signing-gateway dev --reset'],
  async run(terminal) {
    const { file, flags } = parseSingleManifestArguments(terminal.args, OPTIONS);
    if (flags.has('reset')) for (const suffix of ['', '-wal', '-shm']) rmSync(DATABASE + suffix, { force: true });
    createFolder(dirname(DATABASE));
    // Imported lazily: it needs a newer version of Node than the completion script, which loads every verb.
    const { createSandbox } = await import('../../sandbox/sandbox.ts');
    const sandbox = await createSandbox({ file: DATABASE });
    try {
      // The manifest reads the addresses of the sandbox from these variables. The variables of the caller take precedence.
      const env = { ...sandbox.environment, ...terminal.env };
      return await serveFile(file, { ...terminal, env }, (url, adminUrl) =>
        welcome({ url, adminUrl, manifest: file }, sandbox),
      );
    } finally {
      await sandbox.close();
    }
  },
};

function createFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new CommandError(
      `cannot create ${path} for the sandbox data: ${(error as Error).message}; run the command in a folder you can write to`,
    );
  }
}
