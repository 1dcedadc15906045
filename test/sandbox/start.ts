import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { type CliProcess, startCli } from '../support/cli.ts';
import { MANIFEST } from '../support/platform.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const START = fileURLToPath(new URL('../../examples/platform/start.ts', import.meta.url));

export const PLATFORM_MANIFEST = readFileSync(MANIFEST, 'utf8');

const started: CliProcess[] = [];
afterEach(async () => {
  for (const { child, result } of started.splice(0)) {
    child.kill('SIGKILL');
    await result;
  }
});

/** Creates a folder with a manifest, in which `npm start` keeps its data. */
export function platformFolder(manifest = PLATFORM_MANIFEST): string {
  return temporaryFolder('start', { 'gateway.yaml': manifest });
}

/** Runs the command of `npm start`. It ends with the test. */
export function start(folder: string, args: readonly string[] = [], env: Record<string, string> = {}): CliProcess {
  const cli = startCli(
    args,
    folder,
    { LISTEN: '127.0.0.1:0', ADMIN: '127.0.0.1:0', npm_command: 'start', ...env },
    START,
  );
  started.push(cli);
  return cli;
}
