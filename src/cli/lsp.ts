import { defineVerb, UsageError } from './terminal.ts';
import { version } from './version.ts';

export const verb = defineVerb({
  usage: 'signing-gateway lsp [--stdio]',
  options: {
    stdio: { type: 'boolean', summary: 'use standard input and output; the default, which some editors state' },
  },
  choices: [],
  examples: [
    'signing-gateway lsp --stdio',
    "vim.lsp.config('signing_gateway', { cmd = vim.split('signing-gateway lsp', ' ') })",
  ],
  async run({ env, outIsTerminal, openStreams }) {
    if (outIsTerminal)
      throw new UsageError('an editor starts this command and reads its output; see docs/editors.md for the setup');
    const { serveLanguage } = await import('../editor/connection.ts');
    serveLanguage({ ...openStreams(), env, version });
    // The connection ends the process.
    return new Promise(() => undefined);
  },
});
