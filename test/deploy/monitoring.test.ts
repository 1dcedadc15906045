import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../src/admin/metrics/gateway-metrics.ts';
import { startOperating } from '../support/admin.ts';
import { hasPromtool } from '../support/promtool.ts';
import { scrape } from '../support/scrape.ts';

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
const shown = [...dashboard.panels.flatMap(({ targets }) => targets ?? []), ...dashboard.annotations.list];
const asked = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
const expressions = [...rules, ...shown].map(({ expr }) => expr);

/** The labels of each metric, by the name that Prometheus stores it under. */
const metrics = new Map<string, ReadonlySet<string>>();

beforeAll(async () => {
  const site = await startOperating(`version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`);
  const { samples } = await scrape(site.admin.url);
  await site.close();
  for (const { name, labels } of samples) metrics.set(`signing_gateway_${name}`, new Set(Object.keys(labels)));
  for (const { name, type, labels } of METRICS)
    for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
      metrics.set(`signing_gateway_${name}${suffix}`, new Set([...labels, ...(suffix === '_bucket' ? ['le'] : [])]));
});

/** Each metric that a query names, with the labels that it is chosen by. */
function chosen(query: string): { name: string; labels: string[] }[] {
  return [...query.matchAll(/\b(signing_gateway_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)\s*=~?/g)].map(([, label = '']) => label),
  }));
}

/** What Prometheus adds to every sample of a scrape. */
const OF_THE_SCRAPE = ['job', 'instance'];

describe('alerts and dashboard', () => {
  it('ask for metrics that there are, by labels that they have', () => {
    const found = [...expressions, ...asked].flatMap(chosen);
    expect(found.length).toBeGreaterThan(50);
    for (const { name, labels } of found) {
      expect([...metrics.keys()]).toContain(name);
      const known = [...(metrics.get(name) ?? []), ...OF_THE_SCRAPE];
      expect([name, labels.filter((label) => !known.includes(label))]).toEqual([name, []]);
    }
  });

  it('group by labels that the metrics of the query have', () => {
    for (const query of expressions) {
      const known = new Set(chosen(query).flatMap(({ name }) => [...(metrics.get(name) ?? [])]));
      const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */));
      expect([query, grouped.filter((label) => !known.has(label) && !OF_THE_SCRAPE.includes(label))]).toEqual([
        query,
        [],
      ]);
    }
  });

  it('leave no metric of the gateway out of sight', () => {
    const seen = new Set(expressions.flatMap(chosen).map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')));
    const own = METRICS.map(({ name }) => `signing_gateway_${name}`);
    expect(own.filter((name) => !seen.has(name))).toEqual([]);
  });

  it('say what each of them is for', () => {
    for (const { alert, annotations } of rules) {
      expect(alert).toMatch(/^SigningGateway[A-Z]\w+$/);
      expect([annotations.summary, annotations.description]).not.toContain(undefined);
    }
    const titles = dashboard.panels.map(({ title }) => title);
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  });

  it.skipIf(!hasPromtool)('are what promtool takes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rules-'));
    // A query of the dashboard is an expression once its variables are put in.
    const plain = shown.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(\w+)/g, '$1'));
    const recorded = plain.map((expr, index) => ({ record: `panel:${index}`, expr }));
    writeFileSync(join(folder, 'panels.json'), JSON.stringify({ groups: [{ name: 'panels', rules: recorded }] }));
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', RULES, join(folder, 'panels.json')], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`SUCCESS: ${shown.length} rules found`);
  });

  it.skipIf(!hasPromtool)('fire when they should, and not before', () => {
    const test = join(root, 'test/deploy/prometheus.rules.test.yaml');
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', test], { encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});
