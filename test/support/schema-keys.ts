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

/**
 * Holds the section `keys` of a page to a schema: one row for each key, in the schema's order, nested ones below
 * their parents.
 *
 * @param file in `schema/`
 * @param anyName stands for the keys that are the writer's own
 */
export function expectKeys(page: string, file: string, anyName = '<name>'): void {
  const root: Schema & { $defs: Record<string, Schema> } = JSON.parse(
    readFileSync(new URL(`../../schema/${file}`, import.meta.url), 'utf8'),
  );
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : { ...root.$defs[schema.$ref.replace('#/$defs/', '')], ...schema };

  const rowsOf = ({ properties = {}, required = [] }: Schema, path: string): string[] =>
    Object.entries(properties).flatMap(([name, written]) => {
      const key = resolve(written);
      const here = path === '' ? name : `${path}.${name}`;
      const missing = required.includes(name) ? 'required' : key.default === undefined ? '' : code(key.default);
      const row = `| \`${here}\` | ${missing} | ${key.description} | ${code(key.examples?.[0])} |`;
      return [row, ...rowsOf(key, here), ...rowsBelow(key, here)];
    });
  const rowsBelow = ({ anyOf = [], items, additionalProperties }: Schema, path: string): string[] => [
    ...anyOf.flatMap((branch) => rowsOf(resolve(branch), path)),
    ...(items === undefined ? [] : rowsOf(resolve(items), `${path}[]`)),
    ...(additionalProperties ? rowsOf(resolve(additionalProperties), `${path}.${anyName}`) : []),
  ];

  const head = ['| key | default | what | for example |', '|---|---|---|---|'];
  expectSection(page, 'keys', `${[...head, ...rowsOf(root, '')].join('\n')}\n`);
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``.replaceAll('|', '\\|');
}
