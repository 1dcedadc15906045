import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Options, Verb } from './terminal.ts';

/** Where the schemas are, beside the sources and beside what is built of them. */
export const SCHEMAS = new URL('../../schema/', import.meta.url);

const OPTIONS = {
  report: { type: 'boolean', summary: 'the schema of what lint -f json prints' },
} as const satisfies Options;

export const schema: Verb = {
  usage: 'signing-gateway schema [--report]',
  options: OPTIONS,
  words: [],
  examples: ['signing-gateway schema > gateway.schema.json', 'signing-gateway schema --report'],
  async run({ args, out }) {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    out(readFileSync(new URL(values.report ? 'lint-report.schema.json' : 'gateway.schema.json', SCHEMAS), 'utf8'));
    return 0;
  },
};
