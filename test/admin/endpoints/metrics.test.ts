import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METRICS } from '../../../src/admin/metrics/gateway-metrics.ts';
import { HEALTH_STATES } from '../../../src/engine/gateway/upstream/health-check.ts';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../../support/admin.ts';
import { createPair } from '../../support/certificate.ts';
import { AUDIENCE, ISSUER, type Issuer, startIssuer } from '../../support/issuer.ts';
import { hasPromtool } from '../../support/promtool.ts';
import { sendRequest as sendRawRequest } from '../../support/raw.ts';
import { scrape } from '../../support/scrape.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

const PAIR = createPair({ days: 20 });

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams:
  up: { url: '\${UP}' }
  gone: { url: 'https://127.0.0.1:9', breaker: { failures: 2, pause: 1h }, tls: { certificate: c.crt, key: c.key } }
auth:
  tokens:
    jwt: { jwks: '\${JWKS}', algorithms: [ES256], issuer: '${ISSUER}', audience: ${AUDIENCE} }
  role: { claim: /company_role, allow: [admin, user], message: admins and users only }
stores: { counters: { redis: 'redis://127.0.0.1:9', secret: '\${SECRET}' } }
rateLimits: { client: { key: client, allow: 1000 per 1s, store: counters } }
routes:
  - { id: open, method: any, path: /open, upstream: up, access: public, rateLimits: [client] }
  - { id: files, method: any, path: /files/**, upstream: up, access: protected }
  - { id: gone, method: any, path: /gone, upstream: gone, access: public }
  - { id: reported, method: GET, path: /reported, upstream: up, access: public, validation: report, query: { properties: { page: { type: integer } } } }
`;

let upstream: Upstream;
let issuer: Issuer;
let site: GatewayWithAdmin;

beforeAll(async () => {
  upstream = await startUpstream();
  issuer = await startIssuer();
  const env = { UP: upstream.url, JWKS: issuer.jwksUrl, SECRET: 'x'.repeat(16) };
  site = await startGatewayWithAdmin(MANIFEST, env, { 'c.crt': PAIR.certificate, 'c.key': PAIR.key });
});
afterAll(async () => {
  await site.close();
  await upstream.close();
  await issuer.close();
});

/** The rules of `promtool check metrics` that concern names. */
function namingProblems(name: string, type: string, help: string): string[] {
  const words = name.split('_');
  const isDistribution = type === 'histogram' || type === 'summary';
  const rules: Record<string, boolean> = {
    'no help': help === '',
    'a counter needs the suffix _total': type === 'counter' && !name.endsWith('_total'),
    'only a counter has the suffix _total': type !== 'counter' && name.endsWith('_total'),
    'the suffix is that of a histogram': !isDistribution && /_(?:bucket|count|sum)$/.test(name),
    'the name contains its type': words.slice(1).includes(type),
    'the name is in camel case': /[a-z][A-Z]/.test(name) || name.includes(':'),
    'the unit is not a base unit': words.some((word) => UNITS.test(word)),
  };
  return Object.keys(rules).filter((rule) => rules[rule]);
}

/** Scaled and abbreviated units. */
const UNITS =
  /^(?:(?:nano|micro|milli|kilo|mega|giga|tera)(?:seconds?|bytes?|grams?|meters?)|minutes?|hours?|days?|weeks?|bits?|percents?|ns|us|ms|s|sec|m|h|d|b|kb|mb|gb|tb|pb)$/;

const STANDARD_NAMES = [
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_version_info',
  'nodejs_gc_duration_seconds',
];

const send = async (path: string, init?: RequestInit) => (await fetch(site.url + path, init)).status;

describe('/metrics', () => {
  it('counts requests by route, method and class of status, and never a path', async () => {
    await send('/open');
    await send('/open?secret=1', { method: 'POST', body: 'x' });
    await send('/nowhere/at/all');
    await send('/elsewhere', { method: 'DELETE' });
    await sendRawRequest(site.port, 'BREW /open HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const { value, text } = await scrape(site.admin.url);
    const requests = (route: string, method: string, status: string) =>
      value('requests_total', { route, method, status });
    expect(requests('open', 'GET', '2xx')).toBe(1);
    expect(requests('open', 'POST', '2xx')).toBe(1);
    expect(requests('(none)', 'GET', '4xx')).toBe(1);
    expect(requests('(none)', 'DELETE', '4xx')).toBe(1);
    expect(value('refusals_total', { code: 'route_unknown' })).toBe(2);
    expect(value('refusals_total', { code: 'internal_error' })).toBe(0);
    expect(text).not.toMatch(/nowhere|elsewhere|secret|BREW/);
    expect(value('requests_in_flight')).toBe(0);
  });

  it('measures the phases of a request', async () => {
    const before = await scrape(site.admin.url);
    await send('/open');
    const after = await scrape(site.admin.url);
    const labels = { request: { route: 'open' }, gateway: { upstream: 'up' }, upstream: { upstream: 'up' } } as const;
    const increaseOf = (name: keyof typeof labels, suffix: string, more: Record<string, string> = {}) => {
      const sample = [`${name}_duration_seconds_${suffix}`, { ...labels[name], ...more }] as const;
      return after.value(...sample) - before.value(...sample);
    };
    for (const name of ['request', 'gateway', 'upstream'] as const) {
      expect(increaseOf(name, 'count')).toBe(1);
      expect(increaseOf(name, 'bucket', { le: '+Inf' })).toBe(1);
    }
    const [total, gateway, upstreamTime] = (['request', 'gateway', 'upstream'] as const).map((name) =>
      increaseOf(name, 'sum'),
    );
    expect(gateway).toBeGreaterThan(0);
    expect(upstreamTime).toBeGreaterThan(0);
    expect(total).toBeGreaterThanOrEqual((gateway ?? 0) + (upstreamTime ?? 0) - 1e-9);
  });

  it('reports the state of upstreams', async () => {
    for (let count = 0; count < 3; count += 1) await send('/gone');
    const { value } = await scrape(site.admin.url);
    const gone = { upstream: 'gone', endpoint: 'https://127.0.0.1:9' };
    expect(value('upstream_breaker_state', { ...gone, state: 'open' })).toBe(1);
    expect(value('upstream_breaker_state', { ...gone, state: 'closed' })).toBe(0);
    expect(value('upstream_breaker_openings_total', gone)).toBe(1);
    expect(value('refusals_total', { code: 'upstream_unavailable' })).toBe(1);
    const healthOf = (labels: { upstream: string; endpoint: string }) =>
      HEALTH_STATES.filter((state) => value('upstream_endpoint_health', { ...labels, state }) === 1);
    expect(healthOf(gone)).toEqual(['unhealthy']);
    expect(healthOf({ upstream: 'up', endpoint: '${UP}' })).toEqual(['healthy']);
    expect(value('upstream_connections', { upstream: 'up', endpoint: '${UP}' })).toBeGreaterThan(0);
    expect(value('upstream_connections_busy', { upstream: 'up', endpoint: '${UP}' })).toBe(0);
  });

  it('reports token verifications', async () => {
    const token = await issuer.token({ company_role: 'user' });
    for (let count = 0; count < 3; count += 1)
      expect(await send('/files/a', { headers: { Authorization: `Bearer ${token}` } })).toBe(200);
    await send('/files/a', { headers: { Authorization: 'Bearer nonsense' } });
    const { value } = await scrape(site.admin.url);
    expect([value('token_cache_total', { result: 'hit' }), value('token_cache_total', { result: 'miss' })]).toEqual([
      2, 2,
    ]);
    expect(value('token_verifications_total', { result: 'valid' })).toBe(1);
    expect(value('token_verifications_total', { result: 'token_malformed' })).toBe(1);
    expect(value('key_fetches_total', { result: 'ok' })).toBe(1);
    expect(value('token_cache_entries')).toBe(1);
  });

  it('counts violations of routes that only report them', async () => {
    await send('/reported?page=x');
    expect((await scrape(site.admin.url)).value('validation_reports_total', { route: 'reported' })).toBe(1);
  });

  it('reports the active manifest and the expiry of certificates', async () => {
    const { value } = await scrape(site.admin.url);
    expect(value('config_info', { hash: site.gateway.plan.hash })).toBe(1);
    expect(value('config_last_reload_successful')).toBe(1);
    expect(Math.abs(value('config_last_reload_success_timestamp_seconds') - Date.now() / 1_000)).toBeLessThan(600);
    const expiry = value('certificate_expiry_timestamp_seconds', { use: 'upstream', upstream: 'gone' });
    expect(expiry / 86_400 - Date.now() / 86_400_000).toBeCloseTo(20, 1);
  });

  it('measures the process and its event loop, by the names that dashboards for Node use', async () => {
    await scrape(site.admin.url);
    const { value, text } = await scrape(site.admin.url);
    const names = new Set([...text.matchAll(/^# TYPE ((?:process|nodejs)_\w+)/gm)].map(([, name]) => name));
    expect(text).not.toMatch(/signing_gateway_(?:process|nodejs)_/);
    expect([...names]).toEqual(expect.arrayContaining(STANDARD_NAMES));
    expect(value('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
  });

  it('counts requests that no store counted', async () => {
    const before = await scrape(site.admin.url);
    await send('/open');
    const { value } = await scrape(site.admin.url);
    expect(value('rate_limit_store_up', { store: 'counters' })).toBe(0);
    expect(value('rate_limit_store_failures_total', { store: 'counters', reason: 'unreachable' })).toBeGreaterThan(0);
    expect(value('rate_limit_store_failures_total', { store: 'counters', reason: 'timeout' })).toBe(0);
    const fallback = ['rate_limit_fallback_total', { limit: 'client' }] as const;
    expect(value(...fallback) - before.value(...fallback)).toBe(1);
  });

  it('exports every metric of the table with its labels', async () => {
    const { samples } = await scrape(site.admin.url);
    for (const { name, labels } of METRICS) {
      const matching = samples.filter((sample) => sample.name.replace(/_(bucket|sum|count)$/, '') === name);
      expect([name, matching.length]).not.toEqual([name, 0]);
      for (const sample of matching)
        expect(Object.keys(sample.labels).filter((label) => label !== 'le')).toEqual(labels);
    }
  });

  it.skipIf(!hasPromtool)('passes promtool check metrics', async () => {
    const { text } = await scrape(site.admin.url);
    const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect([stdout + stderr, status]).toEqual(['', 0]);
  });

  it('follows the naming rules of promtool', async () => {
    const { text } = await scrape(site.admin.url);
    const declared = [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE (\S+) (\w+)$/gm)];
    expect(declared.length).toBeGreaterThan(METRICS.length);
    for (const [, name = '', help, typed, type = ''] of declared)
      expect([name, typed, namingProblems(name, type, help ?? '')]).toEqual([name, name, []]);
    for (const name of new Set(text.matchAll(/^# TYPE (\S+)/gm).map(([, name = '']) => name)))
      expect([name, declared.filter(([, other]) => other === name).length]).toEqual([name, 1]);
  });

  it('tests the same naming rules as promtool', () => {
    const problemsOf = (name: string, type: string, help = 'Help.') =>
      namingProblems(`signing_gateway_${name}`, type, help);
    expect(problemsOf('nodejs_eventloop_utilization_summary', 'summary')).not.toEqual([]);
    expect(problemsOf('nodejs_eventloop_utilization_histogram', 'histogram')).not.toEqual([]);
    expect(problemsOf('requests', 'counter')).not.toEqual([]);
    expect(problemsOf('requests_total', 'gauge')).not.toEqual([]);
    expect(problemsOf('routes_count', 'gauge')).not.toEqual([]);
    expect(problemsOf('wait_milliseconds', 'gauge')).not.toEqual([]);
    expect(problemsOf('wait_ms', 'gauge')).not.toEqual([]);
    expect(problemsOf('waitSeconds', 'gauge')).not.toEqual([]);
    expect(problemsOf('wait_seconds', 'gauge', '')).not.toEqual([]);
    expect(problemsOf('wait_seconds', 'gauge')).toEqual([]);
  });

  it('omits the empty buckets below the shortest request', async () => {
    await send('/open');
    const { samples, value } = await scrape(site.admin.url);
    const buckets = samples.filter(
      ({ name, labels }) => name === 'request_duration_seconds_bucket' && labels['route'] === 'open',
    );
    expect(buckets.every((bucket) => bucket.value > 0)).toBe(true);
    const bounds = buckets.map(({ labels }) =>
      labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']),
    );
    expect(bounds.slice(-4)).toEqual([5, 10, 30, Number.POSITIVE_INFINITY]);
    expect(value('request_duration_seconds_bucket', { route: 'open', le: '+Inf' })).toBe(
      value('request_duration_seconds_count', { route: 'open' }),
    );
    expect(samples.filter(({ labels }) => labels['route'] === 'reported' && labels['le'] !== undefined)).toEqual(
      samples.filter(({ labels, value }) => labels['route'] === 'reported' && labels['le'] !== undefined && value > 0),
    );
  });

  it('keeps the counts of existing routes over a reload, and drops those of removed routes', async () => {
    await send('/open');
    const before = (await scrape(site.admin.url)).value('requests_total', {
      route: 'open',
      method: 'GET',
      status: '2xx',
    });
    const files = '  - { id: files, method: any, path: /files/**, upstream: up, access: protected }\n';
    site.swap(MANIFEST.replace(files, '').replace('path: /open', 'path: /opened'));
    await send('/opened');
    const { value } = await scrape(site.admin.url);
    expect(value('requests_total', { route: 'open', method: 'GET', status: '2xx' })).toBe(before + 1);
    expect(value('requests_total', { route: 'files', method: 'GET', status: '2xx' })).toBeNaN();
    site.swap(MANIFEST);
  });

  it('lets no counter fall at a reload that changes an upstream, a limit, a store, a token method or a route', async () => {
    const counters = new Set(METRICS.filter(({ type }) => type === 'counter').map(({ name }) => name));
    // A series ends with its route or upstream.
    let latest = new Map<string, number>();
    const read = async () => {
      for (const path of ['/open', '/gone', '/reported?page=x']) await send(path);
      await send('/files/a', { headers: { Authorization: 'Bearer nonsense' } });
      const { samples } = await scrape(site.admin.url);
      const now = new Map<string, number>();
      for (const { name, labels, value } of samples)
        if (counters.has(name)) now.set(`${name} ${JSON.stringify(labels)}`, value);
      const fallen = [...now].filter(([series, value]) => value < (latest.get(series) ?? 0));
      latest = now;
      return fallen;
    };
    expect(await read()).toEqual([]);
    const changed = MANIFEST.replace("up: { url: '${UP}' }", "up: { url: '${UP}', timeouts: { connect: 3s } }")
      .replace('failures: 2', 'failures: 3')
      .replace('algorithms: [ES256]', 'algorithms: [ES256, RS256]')
      .replace("secret: '${SECRET}'", "secret: '${SECRET}', timeout: 40ms")
      .replace('key: client, allow', 'key: [client, route], allow')
      .replace('id: open, method: any', 'id: open, method: GET');
    const removed = MANIFEST.split('\n')
      .filter((text) => !/gone|reported/.test(text))
      .join('\n');
    for (const manifest of [changed, removed, MANIFEST, changed, MANIFEST]) {
      site.swap(manifest);
      expect(await read()).toEqual([]);
    }
    const series = [...latest.keys()].join('\n');
    for (const name of ['upstream_breaker_openings', 'token_verifications', 'rate_limit_store_failures'])
      expect(series).toContain(`${name}_total`);
  });
});
