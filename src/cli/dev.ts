import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { createSandbox, type Sandbox } from '../sandbox/sandbox.ts';
import { DEFAULT_MANIFEST } from './manifest-file.ts';
import { serveFile } from './run.ts';
import { UsageError, type Verb } from './terminal.ts';

const DATA = '.sandbox/sandbox.db';

export const dev: Verb = {
  summary: 'serve a manifest in front of the sandbox, a local stand-in for the upstream services',
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
        terminal.err(welcome(url, sandbox, values.config)),
      );
    } finally {
      await sandbox.close();
    }
  },
};

function welcome(url: string, sandbox: Sandbox, manifest: string): string {
  const [admin] = sandbox.accounts;
  const credentials = JSON.stringify({ email: admin?.email, password: admin?.password });
  const login = `curl -s ${url}/api/v1/login -H 'Content-Type: application/json' -d '${credentials}'`;
  const accounts = sandbox.accounts.map(({ email, role, password }) => `  ${email.padEnd(22)}${password}  ${role}`);
  return `
The signing platform is served at ${url}, by ${manifest}: edit it and save.
Behind it is the sandbox: identity at ${sandbox.identityUrl}, the platform at ${sandbox.platformUrl},
mails at ${sandbox.identityUrl}/outbox.

Accounts of the sandbox:
${accounts.join('\n')}

Try it:
  TOKEN=$(${login} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s ${url}/api/contacts -H "Authorization: Bearer $TOKEN"
  curl -s ${url}/api/contacts

`;
}
