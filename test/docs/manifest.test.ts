import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readTarget } from '../../src/gateway/path.ts';
import { load } from '../../src/load.ts';
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

  const page = readFileSync(new URL('../../docs/manifest.md', import.meta.url), 'utf8');
  /** The plan of a route in block style, with more keys as they are shown. */
  const planOf = (path: string, more: string, env = {}) => {
    const route = ['- id: r', '  method: GET', `  path: '${path}'`, '  upstream: contacts', '  access: public'];
    const shown = more
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`);
    const { plan, problems } = loadText(manifestOf('', `${[...route, ...shown].join('\n')}\n`), env);
    expect(problems).toEqual([]);
    return plan;
  };

  it('shows the paths at the upstream as they are', () => {
    const cells = /^\| `(.*)` \| `(\{ replace: .* \})` \| `(.*)` \| `(.*)` \|$/gm;
    const rows = [...page.matchAll(cells)].map(([, path = '', rule, sent = '', asked]) => {
      const target = readTarget(sent, undefined);
      const route = planOf(path, `upstreamPath: ${rule}`)?.router.match('GET', target.path);
      return { asked, got: `${route?.upstreamPath?.(target.path)}${target.query}` };
    });
    expect(rows.length).toBe(4);
    for (const { asked, got } of rows) expect(got).toBe(asked);
  });

  it('shows header rules that load', () => {
    const [, block = ''] = /^```yaml\n(requestHeaders:[\s\S]*?)^```$/m.exec(page) ?? [];
    const route = planOf('/x', block, { PLATFORM_KEY: 'k' })?.routes[0];
    expect(route?.requestHeaders?.set).toEqual(['X-Platform', 'signing', 'X-Key', 'k']);
    expect(route?.responseHeaders?.drops('server')).toBe(true);
  });

  it('shows files that are taken in', () => {
    const [, block = ''] = /^```yaml\n(include:[\s\S]*?)^```$/m.exec(page) ?? [];
    const route = 'routes:\n  - { id: a, method: GET, path: /a, upstream: two, access: public }\n';
    const world = {
      env: {},
      readFile: (path: string) =>
        path === 'routes/a.yaml' ? route : 'upstreams: { two: { url: http://127.0.0.1:9 } }',
      listFolder: (path: string) => (path === 'routes' ? ['a.yaml', '.a.yaml.swp'] : []),
    };
    const { plan, problems } = load({ path: 'gateway.yaml', text: manifestOf(block) }, world);
    expect(problems).toEqual([]);
    expect(plan?.routes.map(({ id }) => id)).toEqual(['contacts', 'a']);
  });

  it('shows logins and origins that load', () => {
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
