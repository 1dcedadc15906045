import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { readinessOf } from '../../src/admin/endpoints/health.ts';
import { load } from '../../src/engine/load.ts';
import { adminContextOf } from '../support/admin.ts';
import { PUBLIC_ALL, startGateway, type TestGateway, worldOf } from '../support/gateway.ts';
import { pause } from '../support/pause.ts';
import { head, keepAliveHead, openSocket, sendRequest } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startWireUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

/** Starts an endpoint that closes the connection on each request, hangs, or responds. */
async function startEndpoint(mode: 'fails' | 'hangs' | 'responds') {
  const endpoint = { mode };
  const upstream = await startWireUpstream(() => {
    if (endpoint.mode === 'responds') return OK;
    return (socket: Socket) => void (endpoint.mode === 'fails' && socket.destroy());
  });
  cleanups.push(() => upstream.close());
  return Object.assign(endpoint, { upstream });
}

function manifestOf(urls: readonly string[], more = ''): string {
  const list = urls.map((url) => `'${url}'`).join(', ');
  return `version: 1\nlisten: 127.0.0.1:0\nupstreams:\n  up: { urls: [${list}]${more} }\nroutes:\n${PUBLIC_ALL}`;
}

async function serve(endpoints: readonly { upstream: { url: string } }[], more = ''): Promise<TestGateway> {
  const running = await startGateway(
    manifestOf(
      endpoints.map(({ upstream }) => upstream.url),
      more,
    ),
  );
  cleanups.push(() => running.close());
  return running;
}

async function statuses({ port }: TestGateway, count: number): Promise<number[]> {
  const received: number[] = [];
  for (let index = 0; index < count; index += 1)
    received.push((await sendRequest(port, head('GET /x HTTP/1.1'))).status);
  return received;
}

describe('several endpoints without a configured breaker', () => {
  it('eject an endpoint that fails every request', async () => {
    const [failing, one, two] = [
      await startEndpoint('fails'),
      await startEndpoint('responds'),
      await startEndpoint('responds'),
    ];
    const gateway = await serve([failing, one, two]);
    const first = await statuses(gateway, 15);
    expect(first.filter((status) => status === 502)).toHaveLength(5);
    expect(await statuses(gateway, 30)).toEqual(Array(30).fill(200));
    expect(failing.upstream.messages).toHaveLength(5);
  });

  it('eject an endpoint that hangs', async () => {
    const [failing, one] = [await startEndpoint('hangs'), await startEndpoint('responds')];
    const gateway = await serve([failing, one], ', timeouts: { response: 300ms }');
    await statuses(gateway, 10);
    expect(await statuses(gateway, 20)).toEqual(Array(20).fill(200));
  });

  it('all get requests while all fail, so the default breaker never causes a 503', async () => {
    const endpoints = [await startEndpoint('fails'), await startEndpoint('fails')];
    const gateway = await serve(endpoints);
    const status = () => gateway.gateway.upstreams[0];
    expect(await statuses(gateway, 30)).toEqual(Array(30).fill(502));
    expect([status()?.health, status()?.available, status()?.panic]).toEqual(['unhealthy', false, true]);
    expect(status()?.endpoints.map(({ breaker }) => breaker)).toEqual(['open', 'open']);
    const context = adminContextOf(gateway.gateway, gateway.log, gateway.planned);
    expect(readinessOf(context)).toEqual({
      status: 'degraded',
      reasons: ['every endpoint of the upstream "up" fails; requests go to all of them'],
    });
    // The first response closes the breaker of its endpoint.
    const healthy = endpoints[1];
    if (healthy !== undefined) healthy.mode = 'responds';
    await statuses(gateway, 2);
    expect(status()?.panic).toBe(false);
    expect(await statuses(gateway, 10)).toEqual(Array(10).fill(200));
  });

  it('get no requests while all fail if the manifest configures a breaker', async () => {
    const endpoints = [await startEndpoint('fails'), await startEndpoint('fails')];
    const gateway = await serve(endpoints, ', breaker: { failures: 2, pause: 1h }');
    expect(await statuses(gateway, 6)).toEqual([502, 502, 502, 502, 503, 503]);
    expect(gateway.gateway.upstreams[0]?.panic).toBe(false);
  });

  it('have no breaker with `enabled: false`, and a single endpoint has no default breaker', async () => {
    const [failing, one] = [await startEndpoint('fails'), await startEndpoint('responds')];
    const off = await serve([failing, one], ', breaker: { enabled: false }');
    expect((await statuses(off, 30)).filter((status) => status === 502)).toHaveLength(15);
    const single = await serve([one]);
    expect(single.gateway.upstreams[0]?.endpoints[0]?.breaker).toBe(null);
  });

  it('use the same breaker as `breaker: {}`', () => {
    const ruleOf = (more: string) => {
      const { plan } = load(
        { path: 'gateway.yaml', text: manifestOf(['http://127.0.0.1:1', 'http://127.0.0.1:2'], more) },
        worldOf({}),
      );
      return plan?.upstreams[0]?.breaker;
    };
    expect(ruleOf('')).toEqual({ ...ruleOf(', breaker: {}'), isDefault: true });
  });
});

/** Longer than the second after which a client that disconnects counts against its endpoint. */
const PATIENCE_MS = 1_100;

describe('clients that disconnect while an endpoint hangs', () => {
  it('are counted and never eject it without other failures', async () => {
    const [failing, one] = [await startEndpoint('hangs'), await startEndpoint('responds')];
    const gateway = await serve([failing, one], ', breaker: { failures: 1, pause: 1h }, balance: round-robin');
    const endpointStatus = () => gateway.gateway.upstreams[0]?.endpoints[0];
    for (let count = 1; count <= 3; count += 1) {
      const client = await openSocket(gateway.port);
      client.write(keepAliveHead('GET /x HTTP/1.1'));
      await eventually('the request reaches the endpoint', () => failing.upstream.messages.length === count);
      await pause(PATIENCE_MS);
      client.destroy();
      await eventually('the client is counted', () => endpointStatus()?.abandoned === count);
      expect(await statuses(gateway, 1)).toEqual([200]);
    }
    expect(endpointStatus()?.breaker).toBe('closed');
  });
});
