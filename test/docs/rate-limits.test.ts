import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../src/admin/metrics/gateway-metrics.ts';
import { load } from '../../src/engine/load.ts';
import { createMemoryEnvironment } from '../../src/engine/manifest/source.ts';
import { LocalCounters } from '../../src/engine/rate-limits/local-counters.ts';
import { STORE_FAILURES } from '../../src/engine/rate-limits/rate-limit.ts';
import { completeManifest } from '../manifest/support.ts';
import { runCli } from '../support/cli.ts';
import { startGateway } from '../support/gateway.ts';
import { expectSection } from '../support/section.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream } from '../support/upstream.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/rate-limits.md');
const blocks = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
const examples = blocks.filter((text) => !text.startsWith('- name:'));
const testCases = blocks.filter((text) => text.startsWith('- name:'));
const ENVIRONMENT = {
  REDIS_URL: 'redis://127.0.0.1:6379',
  REDIS_PASSWORD: 'a password',
  RATE_LIMIT_SECRET: 'x'.repeat(32),
};

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

  it('shows a test case that passes', async () => {
    expect(testCases).toHaveLength(1);
    const folder = temporaryFolder('rate-limits-page', {
      'gateway.yaml': completeManifest(examples[0] ?? ''),
      'gateway.test.yaml': `version: 1\nmanifest: gateway.yaml\ncases:\n${testCases.join('')}`,
    });
    const { code, out } = await runCli(['test', 'gateway.test.yaml'], folder);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('1 passed') });
  });

  it('shows the response to a refused login', async () => {
    const upstream = await startUpstream((_request, response) => void response.writeHead(401).end());
    const manifest = completeManifest(examples[0] ?? '').replace('http://127.0.0.1:7002', upstream.url);
    const gateway = await startGateway(`listen: 127.0.0.1:0\n${manifest}`, {}, {}, undefined, () => 0);
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ email: 'a@example.com', password: 'wrong' });
    let response: Response | undefined;
    for (let time = 0; time < 6; time += 1)
      response = await fetch(`${gateway.url}/api/v1/login`, { method: 'POST', headers, body });
    await gateway.close();
    await upstream.close();
    const [, shown = ''] = /^```http\n([\s\S]*?)^```$/m.exec(page) ?? [];
    const [status, ...fields] = shown.trim().split('\n');
    expect(`HTTP/1.1 ${response?.status} ${response?.statusText}`).toBe(status);
    for (const [name = '', value] of fields.map((field) => field.split(': ')))
      expect([name, response?.headers.get(name)]).toEqual([name, value]);
    expect(fields).toHaveLength(2);
  });

  it('lists the reasons why a store made no decision', () => {
    const rows = Object.entries(STORE_FAILURES).map(([reason, text]) => `| \`${reason}\` | ${text} |\n`);
    expectSection('docs/rate-limits.md', 'store-failures', `| reason | meaning |\n|---|---|\n${rows.join('')}`);
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
