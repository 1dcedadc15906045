import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../src/admin/metrics/gateway-metrics.ts';
import { LocalCounters } from '../../src/gateway/rate-limits/local-counters.ts';
import { load } from '../../src/load.ts';
import { createMemoryEnvironment } from '../../src/manifest/memory-environment.ts';
import { completeManifest } from '../manifest/support.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/rate-limits.md');
const examples = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
const ENVIRONMENT = { REDIS_URL: 'redis://127.0.0.1:6379', RATE_LIMIT_SECRET: 'x'.repeat(32) };

function loadExample(example: string) {
  return load({ path: 'gateway.yaml', text: completeManifest(example) }, createMemoryEnvironment(ENVIRONMENT, {}));
}

/** Parses a time of the table: minutes and seconds. */
function msOf(time: string): number {
  const [minutes, seconds] = time.split(':').map(Number);
  return ((minutes ?? 0) * 60 + (seconds ?? 0)) * 1_000;
}

describe('docs/rate-limits.md', () => {
  it.each(examples)('shows a manifest that loads: %s', (example) => {
    expect(loadExample(example).problems).toEqual([]);
  });

  it('names alerts and metrics that exist', () => {
    const alerts = read('deploy/prometheus/signing-gateway.rules.yaml');
    const names = [...page.matchAll(/`(SigningGateway\w+)`/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) expect(alerts).toContain(`alert: ${name}\n`);
    const metrics = [...page.matchAll(/`(rate_limit_\w+_total|rate_limit_counters)/g)].map(([, name]) => name);
    expect(metrics.length).toBeGreaterThan(4);
    for (const metric of metrics) expect(METRICS.map(({ name }) => name)).toContain(metric);
  });

  it('shows how requests are counted', () => {
    const [, table = ''] = /<!-- count -->\n([\s\S]*?)<!-- \/count -->/.exec(page) ?? [];
    const rows = [...table.matchAll(/^\| (\d+:\d\d) \| (.*?) \| (.*?) \|$/gm)];
    expect(rows.length).toBeGreaterThan(7);
    let now = 0;
    const counters = new LocalCounters(() => now);
    const [limit] = loadExample('rateLimits: { account: { key: client, allow: 5 per 15m } }\n').plan?.rateLimits ?? [];
    if (limit === undefined) throw new Error('the manifest has no limit');
    let last = 0;
    for (const [, time = '', requests = '', response = ''] of rows) {
      now = msOf(time);
      const [first = 0, end = first] = [...requests.matchAll(/\d+/g)].map(Number);
      expect(first).toBe(last + 1);
      last = end;
      for (let request = first; request <= end; request += 1) {
        const { waitMs } = counters.count(limit, 'client');
        const expected = response.startsWith('allowed') ? 'allowed' : response;
        expect(waitMs === 0 ? 'allowed' : `429, \`Retry-After: ${Math.ceil(waitMs / 1_000)}\``).toBe(expected);
      }
    }
  });
});
