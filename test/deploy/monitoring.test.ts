import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../src/admin/metrics/gateway-metrics.ts';
import { exportedName } from '../../src/admin/metrics/metric.ts';
import { startGatewayWithAdmin } from '../support/admin.ts';
import { hasPromtool } from '../support/promtool.ts';
import { scrape } from '../support/scrape.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RULES = join(root, 'deploy/prometheus/signing-gateway.rules.yaml');
const DASHBOARD = join(root, 'deploy/grafana/signing-gateway.json');

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<'summary' | 'description', string>>;
}

const dashboard: {
  panels: Panel[];
  annotations: { list: { expr: string }[] };
  templating: { list: { definition?: string }[] };
} = JSON.parse(readFileSync(DASHBOARD, 'utf8'));
const { groups }: { groups: { rules: Rule[] }[] } = parse(readFileSync(RULES, 'utf8'));
const rules = groups.flatMap((group) => group.rules);
const queries = [...dashboard.panels.flatMap(({ targets }) => targets ?? []), ...dashboard.annotations.list];
const variableQueries = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
const expressions = [...rules, ...queries].map(({ expr }) => expr);

/** The labels of each metric, by its name in Prometheus. */
const metrics = new Map<string, ReadonlySet<string>>();

beforeAll(async () => {
  const site = await startGatewayWithAdmin(`version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`);
  const { samples } = await scrape(site.admin.url);
  await site.close();
  for (const { name, labels } of samples) metrics.set(exportedName(name), new Set(Object.keys(labels)));
  for (const { name, type, labels } of METRICS)
    for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
      metrics.set(exportedName(name + suffix), new Set([...labels, ...(suffix === '_bucket' ? ['le'] : [])]));
});

/** Returns each metric of a query with the labels that select it. */
function selectorsIn(query: string): { name: string; labels: string[] }[] {
  return [...query.matchAll(/\b((?:signing_gateway|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', matchers = '']) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)\s*=~?/g)].map(([, label = '']) => label),
    }),
  );
}

/** The labels that Prometheus adds to every sample of a scrape. */
const SCRAPE_LABELS = ['job', 'instance'];

describe('the alerts and the dashboard', () => {
  it('query existing metrics by existing labels', () => {
    const selectors = [...expressions, ...variableQueries].flatMap(selectorsIn);
    expect(selectors.length).toBeGreaterThan(50);
    for (const { name, labels } of selectors) {
      expect([...metrics.keys()]).toContain(name);
      const labelNames = [...(metrics.get(name) ?? []), ...SCRAPE_LABELS];
      expect([name, labels.filter((label) => !labelNames.includes(label))]).toEqual([name, []]);
    }
  });

  it('group by labels that the metrics of the query have', () => {
    for (const query of expressions) {
      const labelNames = new Set(selectorsIn(query).flatMap(({ name }) => [...(metrics.get(name) ?? [])]));
      const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */));
      expect([query, grouped.filter((label) => !labelNames.has(label) && !SCRAPE_LABELS.includes(label))]).toEqual([
        query,
        [],
      ]);
    }
  });

  it('use every metric of the gateway', () => {
    const used = new Set(expressions.flatMap(selectorsIn).map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')));
    const names = METRICS.map(({ name }) => exportedName(name));
    expect(names.filter((name) => !used.has(name))).toEqual([]);
  });

  it('describe each alert and have unique panel titles', () => {
    for (const { alert, annotations } of rules) {
      expect(alert).toMatch(/^SigningGateway[A-Z]\w+$/);
      expect([annotations.summary, annotations.description]).not.toContain(undefined);
    }
    const titles = dashboard.panels.map(({ title }) => title);
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  });

  it.skipIf(!hasPromtool)('pass the check of promtool', () => {
    // A query of the dashboard is an expression after its variables are substituted.
    const substituted = queries.map(({ expr }) =>
      expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(\w+)/g, '$1'),
    );
    const recordings = substituted.map((expr, index) => ({ record: `panel:${index}`, expr }));
    const panels = JSON.stringify({ groups: [{ name: 'panels', rules: recordings }] });
    const folder = temporaryFolder('rules', { 'panels.json': panels });
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', RULES, join(folder, 'panels.json')], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`SUCCESS: ${queries.length} rules found`);
  });

  it.skipIf(!hasPromtool)('fire at the expected time', () => {
    const test = join(root, 'test/deploy/prometheus.rules.test.yaml');
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', test], { encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});
