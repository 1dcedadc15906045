import { parseArguments } from './parse-arguments.ts';
import { type Options, UsageError, type Verb } from './terminal.ts';
import { version } from './version.ts';

const OPTIONS = {
  stdio: { type: 'boolean', summary: 'use standard input and output; the default, which some editors state' },
} as const satisfies Options;

export const verb: Verb = {
  usage: 'signing-gateway lsp [--stdio]',
  options: OPTIONS,
  choices: [],
  examples: [
    'signing-gateway lsp --stdio',
    "vim.lsp.config('signing_gateway', { cmd = vim.split('signing-gateway lsp', ' ') })",
  ],
  async run({ args, env, outIsTerminal, openStreams }) {
    parseArguments(args, OPTIONS, false);
    if (outIsTerminal)
      throw new UsageError('an editor starts this command and reads its output; see docs/editors.md for the setup');
    const { serveLanguage } = await import('../editor/connection.ts');
    serveLanguage({ ...openStreams(), env, version });
    // The connection ends the process.
    return new Promise(() => undefined);
  },
};
