import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Options, UsageError, type Verb } from './terminal.ts';

/** Where the schemas are, beside the sources and beside what is built of them. */
export const SCHEMA_FOLDER = new URL('../../schema/', import.meta.url);

const OPTIONS = {
  tests: { type: 'boolean', summary: 'the schema of test files' },
  report: { type: 'boolean', summary: 'the schema of what lint -f json prints' },
} as const satisfies Options;

export const schema: Verb = {
  usage: 'signing-gateway schema [--tests | --report]',
  options: OPTIONS,
  choices: [],
  examples: ['signing-gateway schema > gateway.schema.json', 'signing-gateway schema --report'],
  async run({ args, out }) {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    if (values.tests && values.report) throw new UsageError('write one of --tests and --report');
    const name = values.tests ? 'gateway-test' : values.report ? 'lint-report' : 'gateway';
    out(readFileSync(new URL(`${name}.schema.json`, SCHEMA_FOLDER), 'utf8'));
    return 0;
  },
};
