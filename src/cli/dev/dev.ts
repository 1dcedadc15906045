import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { durationMs } from '../../manifest/units.ts';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { chooseManifest, MANIFEST_OPTIONS, parseManifestArguments } from '../manifest-file.ts';
import { serveFile } from '../run/run.ts';
import { CommandError, type Options, UsageError, type Verb } from '../terminal.ts';
import { welcome } from './welcome.ts';

const DATABASE = '.sandbox/sandbox.db';
const DEFAULT_JOB_TIME = '3s';

const OPTIONS = {
  reset: { type: 'boolean', summary: 'delete the sandbox data and start with fresh data' },
  'job-time': {
    type: 'string',
    valueName: 'DURATION',
    summary: `how long a job of the sandbox takes at least (default ${DEFAULT_JOB_TIME})`,
  },
} as const satisfies Options;

export const dev: Verb = {
  usage: 'signing-gateway dev [FILE] [--reset] [--job-time DURATION]',
  options: { ...MANIFEST_OPTIONS, ...OPTIONS },
  examples: ['signing-gateway dev', 'signing-gateway dev --reset', 'signing-gateway dev --job-time 500ms'],
  async run(terminal) {
    const { files, flags, tokens } = parseManifestArguments(terminal.args, OPTIONS);
    const file = chooseManifest(files);
    const jobTimes = tokens.flatMap((token) =>
      token.kind === 'option' && token.rawName === '--job-time' ? [token] : [],
    );
    const jobTimeMs = readJobTime(jobTimes.at(-1)?.value);
    if (flags.has('reset')) for (const suffix of ['', '-wal', '-shm']) rmSync(DATABASE + suffix, { force: true });
    createFolder(dirname(DATABASE));
    const sandbox = await createSandbox({ file: DATABASE, jobTimeMs });
    try {
      // The manifest reads the addresses of the sandbox from these variables. The variables of the caller take precedence.
      const env = { ...sandbox.environment, ...terminal.env };
      return await serveFile(file, { ...terminal, env }, (url, adminUrl) => {
        sandbox.setGatewayUrl(url);
        return welcome({ url, adminUrl, manifest: file }, sandbox);
      });
    } finally {
      await sandbox.close();
    }
  },
};

function readJobTime(text = DEFAULT_JOB_TIME): number {
  if (!/^\d{1,6}(?:ms|s|m)$/.test(text))
    throw new UsageError(`"${text}" is not a valid job time; write for example 500ms or 3s`);
  return durationMs(text);
}

function createFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new CommandError(
      `cannot create ${path} for the sandbox data: ${(error as Error).message}; run the command in a folder you can write to`,
    );
  }
}
