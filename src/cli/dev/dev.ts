import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { MANIFEST_OPTIONS, parseSingleManifestArguments } from '../manifest-file.ts';
import { serveFile } from '../run/run.ts';
import { CommandError, type Options, type Verb } from '../terminal.ts';
import { welcome } from './welcome.ts';

const DATA = '.sandbox/sandbox.db';

const OPTIONS = {
  reset: { type: 'boolean', summary: 'begin with fresh sandbox data' },
} as const satisfies Options;

export const dev: Verb = {
  usage: 'signing-gateway dev [FILE] [--reset]',
  options: { ...MANIFEST_OPTIONS, ...OPTIONS },
  examples: ['signing-gateway dev', 'signing-gateway dev --reset    begins with fresh sandbox data'],
  async run(terminal) {
    const { file, given } = parseSingleManifestArguments(terminal.args, OPTIONS);
    if (given.has('reset')) for (const data of [DATA, `${DATA}-wal`, `${DATA}-shm`]) rmSync(data, { force: true });
    makeFolder(dirname(DATA));
    const sandbox = await createSandbox({ file: DATA });
    try {
      // The sandbox is found through the manifest alone; what the caller has set wins.
      const env = { ...sandbox.environment, ...terminal.env };
      return await serveFile(file, { ...terminal, env }, (url, adminUrl) =>
        welcome({ url, adminUrl, manifest: file }, sandbox),
      );
    } finally {
      await sandbox.close();
    }
  },
};

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new CommandError(
      `the sandbox keeps its data in ${path}, which cannot be made here: ${(error as Error).message}`,
    );
  }
}
