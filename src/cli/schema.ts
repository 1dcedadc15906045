import { readFileSync } from 'node:fs';
import { parseArguments } from './parse-arguments.ts';
import { type Options, UsageError, type Verb } from './terminal.ts';

/** The folder of the schemas. It has the same relative path from `src/cli` and from `dist/cli`. */
export const SCHEMA_FOLDER = new URL('../../schema/', import.meta.url);

const OPTIONS = {
  tests: { type: 'boolean', summary: 'print the schema of test files instead' },
  report: { type: 'boolean', summary: 'print the schema of the output of "lint -f json" instead' },
} as const satisfies Options;

export const verb: Verb = {
  usage: 'signing-gateway schema [--tests | --report]',
  options: OPTIONS,
  choices: [],
  examples: ['signing-gateway schema > gateway.schema.json', 'signing-gateway schema --report'],
  async run({ args, out }) {
    const { values } = parseArguments(args, OPTIONS, false);
    if (values.tests && values.report) throw new UsageError('--tests and --report exclude each other; remove one');
    const name = values.tests ? 'gateway-test' : values.report ? 'lint-report' : 'gateway';
    out(readFileSync(new URL(`${name}.schema.json`, SCHEMA_FOLDER), 'utf8'));
    return 0;
  },
};
