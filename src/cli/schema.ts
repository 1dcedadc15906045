import { readFileSync } from 'node:fs';
import { defineVerb, UsageError } from './terminal.ts';

/** The folder of the schemas. It has the same relative path from `src/cli` and from `dist/cli`. */
export const SCHEMA_FOLDER = new URL('../../schema/', import.meta.url);

export const verb = defineVerb({
  usage: 'signing-gateway schema [--tests | --report]',
  options: {
    tests: { type: 'boolean', summary: 'print the schema of test files instead' },
    report: { type: 'boolean', summary: 'print the schema of the output of "lint -f json" instead' },
  },
  choices: [],
  examples: ['signing-gateway schema > gateway.schema.json', 'signing-gateway schema --report'],
  async run({ out }, { values }) {
    if (values.tests && values.report) throw new UsageError('--tests and --report exclude each other; remove one');
    const name = values.tests ? 'gateway-test' : values.report ? 'lint-report' : 'gateway';
    out(readFileSync(new URL(`${name}.schema.json`, SCHEMA_FOLDER), 'utf8'));
    return 0;
  },
});
