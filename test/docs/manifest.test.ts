import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readRequestTarget } from '../../src/gateway/request/request-target.ts';
import { load } from '../../src/load.ts';
import { AUTH, loadText, manifestOf, ROUTE } from '../manifest/support.ts';
import { expectKeys } from '../support/schema-keys.ts';

describe('docs/manifest.md', () => {
  it('lists every key of the schema', () => {
    expectKeys('docs/manifest.md', 'gateway.schema.json');
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
      const target = readRequestTarget(sent, undefined);
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
