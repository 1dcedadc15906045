import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdminRequest, AdminResources } from '../../src/admin/admin-endpoint.ts';
import { createRunningLimit } from '../../src/admin/admin-endpoint.ts';
import { CpuBudget } from '../../src/admin/cpu-budget.ts';
import { ADMIN_ENDPOINTS } from '../../src/admin/endpoints.ts';
import { ManifestDisplays } from '../../src/admin/manifest-display.ts';
import { createRequestEventStreams } from '../../src/admin/request-event-streams.ts';
import { createTrafficHistory } from '../../src/admin/traffic-history.ts';
import { adminContextOf, type GatewayWithAdmin, startGatewayWithAdmin } from '../support/admin.ts';

const FEW = 5;
const MANY = 1_000;

const manifest = (routes: number) => `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
${Array.from({ length: routes }, (_, index) => `  - { id: r${index}, method: GET, path: /r${index}, upstream: up, access: public }`).join('\n')}
`;

/** `fixed`: the response does not grow with the manifest. `sliced`: it grows, in chunks of a fixed length. */
const BOUNDS: Readonly<Record<string, 'fixed' | 'sliced'>> = {
  'GET /livez': 'fixed',
  'GET /readyz': 'fixed',
  'GET /status': 'fixed',
  'GET /routes': 'sliced',
  'GET /route': 'fixed',
  'GET /manifest': 'sliced',
  'GET /metrics': 'sliced',
  'POST /explain': 'fixed',
  'POST /-/reload': 'fixed',
  'GET /candidate': 'sliced',
  'PUT /-/candidate': 'sliced',
  'DELETE /-/candidate': 'sliced',
  'GET /openapi.json': 'sliced',
  'GET /traffic': 'sliced',
  'GET /history': 'fixed',
};
/** A stream with limits of its own, which `decisions.deep.test.ts` tests. */
const STREAMS = ['GET /decisions'];
const MAX_CHUNK = 32_768;

const sites = new Map<number, GatewayWithAdmin>();
beforeAll(async () => {
  for (const count of [FEW, MANY]) sites.set(count, await startGatewayWithAdmin(manifest(count)));
});
afterAll(async () => {
  for (const site of sites.values()) await site.close();
});

/** Returns the lengths of the parts in which an endpoint makes its response. */
async function partsOf(name: string, count: number): Promise<number[]> {
  const { gateway, log, planned } = sites.get(count) as GatewayWithAdmin;
  const context = adminContextOf(gateway, log, planned);
  const traffic = createTrafficHistory(gateway);
  const resources: AdminResources = {
    traffic,
    cpuBudget: new CpuBudget(),
    eventStreams: createRequestEventStreams(context.workers.telemetry, context.adminMetrics),
    displays: new ManifestDisplays(),
    explanations: createRunningLimit(1),
    candidateLoads: createRunningLimit(1),
  };
  const bodies: Readonly<Record<string, string>> = {
    'POST /explain': '{"method":"GET","url":"/r1"}',
    'PUT /-/candidate': manifest(count),
  };
  const request: AdminRequest = {
    isAuthenticated: true,
    query: new URLSearchParams('id=r1'),
    body: Buffer.from(bodies[name] ?? ''),
    peerAddress: '127.0.0.1',
  };
  const endpoint = ADMIN_ENDPOINTS.find(({ method, path }) => `${method} ${path}` === name);
  try {
    const response = await endpoint?.respond(request, context, resources);
    const body = response?.body ?? '';
    expect([name, response?.status]).toEqual([name, 200]);
    if (typeof body === 'function') throw new Error(`${name} is a stream`);
    return typeof body === 'string' || Buffer.isBuffer(body) ? [body.length] : Array.from(body, ({ length }) => length);
  } finally {
    traffic.close();
  }
}

describe('the work of an endpoint', () => {
  it('has a bound for every endpoint, and the page states those of the requests', () => {
    const names = ADMIN_ENDPOINTS.filter(({ path }) => path !== '/' && !path.startsWith('/page/'));
    expect(names.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      [...Object.keys(BOUNDS), ...STREAMS].toSorted(),
    );
    const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    for (const bound of ['65,536 bytes', '500 headers', '1 MB each', '512 MB', '1,000 problems'])
      expect(page).toContain(bound);
  });

  it.each(Object.entries(BOUNDS))('grows with no manifest: %s is %s', async (name, bound) => {
    const [few, many] = [await partsOf(name, FEW), await partsOf(name, MANY)];
    expect(Math.max(...many)).toBeLessThan(MAX_CHUNK);
    // Numbers have more digits.
    if (bound === 'fixed') expect(Math.abs((many[0] ?? 0) - (few[0] ?? 0))).toBeLessThan(200);
  });
});
