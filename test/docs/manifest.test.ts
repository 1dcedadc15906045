import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readRequestTarget } from '../../src/engine/gateway/request/request-head.ts';
import { ADDRESS_HEADERS, IDENTITY_HEADERS } from '../../src/engine/header-names.ts';
import { load } from '../../src/engine/load.ts';
import { AUTH, completeManifest, loadText, manifestOf, ROUTE } from '../manifest/support.ts';
import { expectKeys, readSchema } from '../support/schema-keys.ts';
import { expectSection } from '../support/section.ts';

const FOLDER = 'docs/manifest';
const SCHEMA = 'gateway.schema.json';

/** The top-level keys of each page. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  'include.md': ['include'],
  'server.md': ['listen', 'server'],
  'admin.md': ['admin'],
  'reload.md': ['reload'],
  'upstreams.md': ['upstreams'],
  'auth.md': ['auth'],
  'cors.md': ['cors'],
  'log.md': ['log', 'tracing'],
  'rate-limits.md': ['stores', 'rateLimits'],
  'schemas.md': ['schemas'],
  'lint.md': ['lint'],
  'invariants.md': ['invariants'],
  'routes.md': ['defaults', 'routes'],
};

const ENVIRONMENT = { ADMIN_TOKEN: '7mWq2vXc9RtLkP4zGhN8', PLATFORM_KEY: 'k' };
/** The rules that report a missing file; the examples name files that do not exist. */
const FILE_RULES = ['tls', 'self-test'];

const PAGE_NAMES = readdirSync(new URL(`../../${FOLDER}`, import.meta.url));
const readPage = (name: string) => readFileSync(new URL(`../../${FOLDER}/${name}`, import.meta.url), 'utf8');

/** The plan of a route in block style with additional keys. */
function planOf(path: string, keys: string, environment = {}) {
  const route = ['- id: r', '  method: GET', `  path: '${path}'`, '  upstream: contacts', '  access: public'];
  const lines = keys.trimEnd().split('\n');
  const text = [...route, ...lines.map((line) => `  ${line}`)].join('\n');
  const { plan, problems } = loadText(manifestOf('', `${text}\n`), environment);
  expect(problems).toEqual([]);
  return plan;
}

describe('docs/manifest', () => {
  it.each(Object.entries(PAGES))('%s lists every key of its part of the schema', (name, topLevel) => {
    expectKeys(`${FOLDER}/${name}`, SCHEMA, { topLevel });
  });

  it('lists every top-level key with a link to its page', () => {
    const { properties, required = [] } = readSchema(SCHEMA);
    const rows = Object.entries(properties).map(([key, { description = '' }]) => {
      const [page] = Object.entries(PAGES).find(([, keys]) => keys.includes(key)) ?? [];
      const name = page === undefined ? `\`${key}\`` : `[\`${key}\`](${page})`;
      return `| ${name} | ${required.includes(key) ? 'required' : 'optional'} | ${description} |`;
    });
    const table = ['| key | | description |', '|---|---|---|', ...rows].join('\n');
    expectSection(`${FOLDER}/README.md`, 'pages', `${table}\n`);
    expect(Object.values(PAGES).flat().sort()).toEqual(
      Object.keys(properties)
        .filter((key) => key !== 'version')
        .sort(),
    );
  });

  // The example of include.md needs files; a test below provides them.
  it.each(PAGE_NAMES.filter((name) => name !== 'include.md'))('%s begins with an example that loads', (name) => {
    const [, example = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(readPage(name)) ?? [];
    const text = name === 'README.md' ? example : completeManifest(example);
    const { problems } = loadText(text, ENVIRONMENT);
    expect(problems.filter(({ rule }) => !FILE_RULES.includes(rule))).toEqual([]);
  });
});

describe('docs/manifest/routes.md', () => {
  const page = readPage('routes.md');

  it('shows responses of the gateway itself', () => {
    const [, section = ''] = page.split('## Responses of the gateway itself\n');
    const [, example = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(section) ?? [];
    const { plan, problems } = loadText(`version: 1\n${example}`);
    expect(problems).toEqual([]);
    const responseTo = (method: string, path: string) => plan?.router.match(method, path)?.ownResponse;
    const moved = responseTo('GET', '/v1/contacts/7');
    expect([moved?.status, moved?.locationOf?.('/v1/contacts/7', '?a=1')]).toEqual([308, '/v2/contacts/7?a=1']);
    expect(responseTo('PUT', '/v1/orders')?.status).toBe(410);
  });

  it('shows the path that the upstream gets', () => {
    const cells = /^\| `(.*)` \| `(\{ replace: .* \})` \| `(.*)` \| `(.*)` \|$/gm;
    const rows = [...page.matchAll(cells)].map(([, path = '', rule, requestTarget = '', expected]) => {
      const target = readRequestTarget(requestTarget, undefined);
      const route = planOf(path, `upstreamPath: ${rule}`)?.router.match('GET', target.path);
      return { expected, actual: `${route?.upstreamPath?.(target.path)}${target.query}` };
    });
    expect(rows.length).toBe(4);
    for (const { expected, actual } of rows) expect(actual).toBe(expected);
  });

  it('lists every address and identity header that the gateway drops', () => {
    const listOf = (names: Iterable<string>) => [...names].map((name) => `\`${name}\``).join(', ');
    const rows = [`| address | ${listOf(ADDRESS_HEADERS)} |`, `| identity | ${listOf(IDENTITY_HEADERS)} |`];
    expectSection(`${FOLDER}/routes.md`, 'headers', ['| kind | headers |', '|---|---|', ...rows, ''].join('\n'));
  });

  it('shows header rules that load', () => {
    const [, block = ''] = /^```yaml\n(requestHeaders:[\s\S]*?)^```$/m.exec(page) ?? [];
    const route = planOf('/x', block, ENVIRONMENT)?.routes[0];
    expect(route?.requestHeaders?.set).toEqual(['X-Platform', 'signing', 'X-Key', 'k']);
    expect(route?.responseHeaders?.drops('server')).toBe(true);
  });
});

describe('docs/manifest/README.md', () => {
  it('shows secret files with which a manifest loads', () => {
    const [, block = ''] = /^```yaml\n(admin:[\s\S]*?)^```$/m.exec(readPage('README.md')) ?? [];
    const { plan, problems } = loadText(completeManifest(block));
    expect(problems).toEqual([]);
    expect(plan?.routes[0]?.requestHeaders?.set).toEqual(['X-Key', 'Key ${file:/run/secrets/platform-key}']);
  });
});

describe('docs/manifest/include.md', () => {
  it('shows an include that loads', () => {
    const [, block = ''] = /^```yaml\n(include:[\s\S]*?)^```$/m.exec(readPage('include.md')) ?? [];
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
});

describe('docs/manifest/logins.md', () => {
  it('shows login rules that load', () => {
    const rules = [...readPage('logins.md').matchAll(/^\| `(\{.*?\})` \|/gm)].map(([, rule]) => rule);
    expect(rules.length).toBe(5);
    for (const rule of rules) {
      const route = ROUTE.replace(' }', () => `, login: ${rule} }`);
      expect(loadText(manifestOf(AUTH, route)).problems).toEqual([]);
    }
  });
});
