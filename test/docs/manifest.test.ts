import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AUTH, loadText, manifestOf, ROUTE } from '../manifest/support.ts';
import { expectSection } from '../support/section.ts';

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: unknown[];
  readonly required?: string[];
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | false;
}

const root: Schema & { $defs: Record<string, Schema> } = JSON.parse(
  readFileSync(new URL('../../schema/gateway.schema.json', import.meta.url), 'utf8'),
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
    const row = `| \`${here}\` | ${missing} | ${key.description} | ${code(key.examples?.[0])} |`;
    return [row, ...rowsOf(key, here), ...rowsBelow(key, here)];
  });
}

function rowsBelow(key: Schema, path: string): string[] {
  if (key.items !== undefined) return rowsOf(resolve(key.items), `${path}[]`);
  return key.additionalProperties ? rowsOf(resolve(key.additionalProperties), `${path}.<name>`) : [];
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``.replaceAll('|', '\\|');
}

describe('docs/manifest.md', () => {
  it('lists every key of the schema', () => {
    const head = ['| key | default | what | for example |', '|---|---|---|---|'];
    expectSection('docs/manifest.md', 'keys', `${[...head, ...rowsOf(root, '')].join('\n')}\n`);
  });

  it('shows logins and origins that load', () => {
    const page = readFileSync(new URL('../../docs/manifest.md', import.meta.url), 'utf8');
    const parts = [...page.matchAll(/^```yaml\n(cors:[\s\S]*?)^```$/gm)].map(([, text = '']) => manifestOf(text));
    const logins = [...page.matchAll(/^\| `(\{.*?\})` \|/gm)].map(([, rule]) =>
      manifestOf(
        AUTH,
        ROUTE.replace(' }', () => `, login: ${rule} }`),
      ),
    );
    expect([parts.length, logins.length]).toEqual([1, 5]);
    for (const text of [...parts, ...logins]) expect(loadText(text).problems).toEqual([]);
  });
});
