import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectConsoles } from '../support/console.ts';
import { expectSection } from '../support/section.ts';

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: unknown[];
  readonly required?: string[];
  readonly properties?: Record<string, Schema>;
  readonly anyOf?: Schema[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | false;
}

const root: Schema & { $defs: Record<string, Schema> } = JSON.parse(
  readFileSync(new URL('../../schema/gateway-test.schema.json', import.meta.url), 'utf8'),
);

function resolve(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : { ...root.$defs[schema.$ref.replace('#/$defs/', '')], ...schema };
}

/** One row for each key, in the schema's order, nested ones below their parents. */
function rowsOf(schema: Schema, path: string): string[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([name, written]) => {
    const key = resolve(written);
    const here = path === '' ? name : `${path}.${name}`;
    const missing = required.includes(name) ? 'required' : key.default === undefined ? '' : code(key.default);
    return [`| \`${here}\` | ${missing} | ${key.description} | ${code(key.examples?.[0])} |`, ...below(key, here)];
  });
}

function below(key: Schema, path: string): string[] {
  const branches = (key.anyOf ?? []).flatMap((branch) => rowsOf(resolve(branch), path));
  if (key.items !== undefined) return rowsOf(resolve(key.items), `${path}[]`);
  if (key.additionalProperties) return rowsOf(resolve(key.additionalProperties), `${path}.<text>`);
  return [...rowsOf(key, path), ...branches];
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``.replaceAll('|', '\\|');
}

describe('docs/testing.md', () => {
  it('shows what is printed', async () => {
    expect(await expectConsoles('docs/testing.md')).toBe(1);
  }, 60_000);

  it('lists every key of the schema', () => {
    const head = ['| key | default | what | for example |', '|---|---|---|---|'];
    expectSection('docs/testing.md', 'keys', `${[...head, ...rowsOf(root, '')].join('\n')}\n`);
  });
});
