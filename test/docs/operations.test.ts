import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { READINESS_STATUSES } from '../../src/admin/endpoints/health.ts';
import { ADMIN_ENDPOINTS } from '../../src/admin/endpoints.ts';
import { METRICS } from '../../src/admin/metrics/gateway-metrics.ts';
import { RESOLUTION_STATES } from '../../src/engine/dns/resolution-status.ts';
import { HEALTH_STATES } from '../../src/engine/gateway/upstream/health-check.ts';
import { loadText } from '../manifest/support.ts';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../support/admin.ts';
import { runCli } from '../support/cli.ts';
import { scrape } from '../support/scrape.ts';
import { expectSection } from '../support/section.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/operations.md');

/** Returns the rows of a table of the page as lists of cells. */
function rowsOf(section: string): string[][] {
  const text = (page.split(`<!-- ${section} -->`)[1] ?? '').split('<!--')[0] ?? '';
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) => row.split(' | ').map((cell) => cell.replaceAll(/^\| |[`|]| \|$/g, '').trim()));
}

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;

let site: GatewayWithAdmin;
beforeAll(async () => {
  site = await startGatewayWithAdmin(MANIFEST);
});
afterAll(() => site.close());

describe('docs/operations.md', () => {
  it('lists every endpoint, and which of them require a token', () => {
    const endpoints = ADMIN_ENDPOINTS.filter(({ path }) => !path.startsWith('/page/'));
    const expected = endpoints.map(({ method, path, isPublic }) => [`${method} ${path}`, isPublic ? 'no' : 'yes']);
    expect(rowsOf('endpoints').map((row) => row.slice(0, 2))).toEqual(expected);
  });

  it('lists every readiness status and every signal', () => {
    expect(rowsOf('readiness').map(([status]) => status)).toEqual([...READINESS_STATUSES]);
    const signals = [...read('src/cli/main.ts').matchAll(/^ {2}(SIG\w+): '/gm)].map(([, signal]) => signal);
    expect(signals.length).toBeGreaterThan(2);
    expect(rowsOf('signals').map(([signal]) => signal)).toEqual(signals);
  });

  it('lists every field of /status', async () => {
    const status = await (await fetch(`${site.admin.url}/status`)).json();
    expect(rowsOf('status').map(([field]) => field)).toEqual(Object.keys(status as object));
  });

  it('names every member of "workers" in /status', async () => {
    const { workers } = JSON.parse(await (await fetch(`${site.admin.url}/status`)).text());
    const row = page.split('\n').find((line) => line.startsWith('| `workers` |')) ?? '';
    for (const member of Object.keys(workers)) expect(row).toContain(`\`${member}\``);
  });

  it('lists every state of health', () => {
    expect(rowsOf('health').map(([state]) => state)).toEqual([...HEALTH_STATES]);
  });

  it('lists every state of a host name', () => {
    expect(rowsOf('resolution').map(([state]) => state)).toEqual([...RESOLUTION_STATES]);
  });

  it('lists every metric of the gateway', () => {
    const rows = METRICS.map(
      ({ name, type, labels, help }) =>
        `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |\n`,
    );
    expectSection(
      'docs/operations.md',
      'metrics',
      `| metric | type | labels | description |\n|---|---|---|---|\n${rows.join('')}`,
    );
  });

  it('lists every metric of the process', async () => {
    const { text } = await scrape(site.admin.url);
    const own = new Set(METRICS.map(({ name }) => name));
    const rows = [...text.matchAll(/^# HELP (?:signing_gateway_)?(\w+) (.*)\n# TYPE \S+ (\w+)/gm)]
      .filter(([, name = '']) => !own.has(name))
      .map(([, name, help, type]) => `| \`${name}\` | ${type} | ${help} |\n`);
    expect(rows.length).toBeGreaterThan(10);
    expectSection(
      'docs/operations.md',
      'process-metrics',
      `| metric | type | description |\n|---|---|---|\n${rows.join('')}`,
    );
  });

  it('shows manifests that load and a request to /explain that succeeds', async () => {
    const [first = '', second = ''] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
    const others = MANIFEST.replace('admin: 127.0.0.1:0\n', '');
    expect(loadText(first + others).problems).toEqual([]);
    // The only problems are the missing files.
    const { problems } = loadText(second + others, { ADMIN_TOKEN: '7mWq2vXc9RtLkP4zGhN8' });
    expect(problems.map(({ rule }) => rule)).toEqual(['tls', 'tls', 'tls']);
    const body = /-d '([^']+)'/.exec(page)?.[1]?.replace(',"role":"user"', '') ?? '';
    const response = await fetch(`${site.admin.url}/explain`, { method: 'POST', body });
    expect([response.status, JSON.parse(await response.text()).refusal.code]).toEqual([200, 'route_unknown']);
  });

  it('lists every member of an event of /decisions', async () => {
    const controller = new AbortController();
    const response = await fetch(`${site.admin.url}/decisions?filter=nowhere`, { signal: controller.signal });
    let text = '';
    const read = (async () => {
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.includes(': connected')) await fetch(`${site.url}/nowhere`);
        if (text.includes('event: decision')) controller.abort();
      }
    })();
    await read.catch(() => undefined);
    const [, data = '{}'] = /^data: (.*)$/m.exec(text) ?? [];
    expect(rowsOf('decision').map(([member]) => member)).toEqual(Object.keys(JSON.parse(data)));
  });

  it('shows the output of the health command', async () => {
    const [, args = '', out] = /^\$ signing-gateway (health.*)\n([\s\S]*?)^```/m.exec(page) ?? [];
    const folder = temporaryFolder('operations');
    writeFileSync(
      join(folder, 'gateway.yaml'),
      MANIFEST.replace('admin: 127.0.0.1:0', `admin: 127.0.0.1:${site.admin.port}`),
    );
    expect(await runCli(args.split(' '), folder)).toEqual({ code: 0, out, err: '' });
  });

  it('matches the image, the deployment and the shutdown settings', () => {
    const image = read('Dockerfile');
    const mounts = [...page.matchAll(/^\$ docker run (.*)$/gm)].map(
      ([, flags = '']) => /:(\/\S+):ro"/.exec(flags)?.[1],
    );
    expect(mounts.length).toBe(2);
    for (const mount of mounts) expect(image).toContain(`WORKDIR ${mount}\n`);
    expect(image).toContain(`USER ${/non-root user \((\d+)\)/.exec(page)?.[1]}:`);
    const [, secret] = /create secret generic (\S+) --from-literal=token=/.exec(page) ?? [];
    expect(read('deploy/kubernetes/sidecar/deployment.yaml')).toContain(
      `secretKeyRef: { name: ${secret}, key: token }`,
    );
    const { delayMs = 0, graceMs = 0 } = loadText(MANIFEST).plan?.server.stopping ?? {};
    expect(page).toContain(`${delayMs / 1_000} + ${graceMs / 1_000} s`);
    expect(Number(/--stop-timeout (\d+)/.exec(page)?.[1])).toBeGreaterThan((delayMs + graceMs) / 1_000);
  });
});
