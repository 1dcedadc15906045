import { readFileSync } from 'node:fs';
import { expectSection } from './section.ts';

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

interface RootSchema extends Schema {
  readonly properties: Record<string, Schema>;
  readonly $defs: Record<string, Schema>;
}

const HEAD = ['| key | default | description | example |', '|---|---|---|---|'];

/** Reads a file of the folder `schema`. */
export function readSchema(file: string): RootSchema {
  return JSON.parse(readFileSync(new URL(`../../schema/${file}`, import.meta.url), 'utf8'));
}

/**
 * Compares the section `keys` of a page with a schema: one row for each key, in the order of the schema, nested keys below
 * their parents.
 *
 * @param topLevel the top-level keys of the page; all by default
 * @param anyName the placeholder for keys that users choose
 */
export function expectKeys(
  page: string,
  file: string,
  { topLevel, anyName = '<name>' }: { topLevel?: readonly string[]; anyName?: string } = {},
): void {
  const root = readSchema(file);
  const rows = rowsOf(root, anyName).filter(({ key }) => topLevel === undefined || topLevel.includes(topLevelOf(key)));
  expectSection(page, 'keys', `${[...HEAD, ...rows.map(({ row }) => row)].join('\n')}\n`);
}

function topLevelOf(key: string): string {
  return /^\w+/.exec(key)?.[0] ?? '';
}

function rowsOf(root: RootSchema, anyName: string): { key: string; row: string }[] {
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : { ...root.$defs[schema.$ref.replace('#/$defs/', '')], ...schema };
  const rowsBelow = (schema: Schema, path: string): { key: string; row: string }[] => {
    const { properties = {}, required = [], anyOf = [], items, additionalProperties } = schema;
    return [
      ...Object.entries(properties).flatMap(([name, property]) => {
        const resolved = resolve(property);
        const key = path === '' ? name : `${path}.${name}`;
        return [{ key, row: formatRow(key, resolved, required.includes(name)) }, ...rowsBelow(resolved, key)];
      }),
      ...anyOf.flatMap((branch) => rowsBelow(resolve(branch), path)),
      ...(items === undefined ? [] : rowsBelow(resolve(items), `${path}[]`)),
      ...(additionalProperties ? rowsBelow(resolve(additionalProperties), `${path}.${anyName}`) : []),
    ];
  };
  return rowsBelow(root, '');
}

function formatRow(key: string, schema: Schema, isRequired: boolean): string {
  const fallback = isRequired ? 'required' : schema.default === undefined ? '' : code(schema.default);
  return `| \`${key}\` | ${fallback} | ${schema.description} | ${code(schema.examples?.[0])} |`;
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``.replaceAll('|', '\\|');
}
