import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { createSandbox } from '../sandbox/sandbox.ts';
import { DEFAULT_MANIFEST } from './manifest-file.ts';
import { serveFile } from './run.ts';
import { UsageError, type Verb } from './terminal.ts';
import { welcome } from './welcome.ts';

const DATA = '.sandbox/sandbox.db';

export const dev: Verb = {
  usage: 'signing-gateway dev [-c FILE] [--reset]',
  examples: ['signing-gateway dev', 'signing-gateway dev --reset    begins with fresh sandbox data'],
  async run(terminal) {
    const { values, positionals } = parseArgs({
      args: [...terminal.args],
      allowPositionals: true,
      options: {
        config: { type: 'string', short: 'c', default: DEFAULT_MANIFEST },
        reset: { type: 'boolean', default: false },
      },
    });
    if (positionals.length > 0) throw new UsageError(`dev takes its manifest by -c: dev -c ${positionals[0]}`);
    if (values.reset) for (const file of [DATA, `${DATA}-wal`, `${DATA}-shm`]) rmSync(file, { force: true });
    mkdirSync(dirname(DATA), { recursive: true });
    const sandbox = await createSandbox({ file: DATA });
    try {
      // The sandbox is found through the manifest alone; what the caller has set wins.
      const env = { ...sandbox.environment, ...terminal.env };
      return await serveFile(values.config, { ...terminal, env }, (url) =>
        terminal.err(welcome(url, values.config, sandbox)),
      );
    } finally {
      await sandbox.close();
    }
  },
};
