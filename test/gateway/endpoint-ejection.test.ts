import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { readinessOf } from '../../src/admin/endpoints/health.ts';
import { load } from '../../src/load.ts';
import { PUBLIC_ALL, type Running, startGateway, worldOf } from '../support/gateway.ts';
import { ask, head, keptHead, openSocket } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startWireUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** An endpoint that closes every connection on which a request comes, hangs, or responds. */
async function endpoint(mode: 'fails' | 'hangs' | 'responds') {
  const made = { mode };
  const upstream = await startWireUpstream(() => {
    if (made.mode === 'responds') return OK;
    return (socket: Socket) => void (made.mode === 'fails' && socket.destroy());
  });
  closing.push(() => upstream.close());
  return Object.assign(made, { upstream });
}

function manifestOf(urls: readonly string[], more = ''): string {
  const list = urls.map((url) => `'${url}'`).join(', ');
  return `version: 1\nlisten: 127.0.0.1:0\nupstreams:\n  up: { urls: [${list}]${more} }\nroutes:\n${PUBLIC_ALL}`;
}

async function serve(endpoints: readonly { upstream: { url: string } }[], more = ''): Promise<Running> {
  const running = await startGateway(
    manifestOf(
      endpoints.map(({ upstream }) => upstream.url),
      more,
    ),
  );
  closing.push(() => running.close());
  return running;
}

async function statuses({ port }: Running, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let index = 0; index < count; index += 1) all.push((await ask(port, head('GET /x HTTP/1.1'))).status);
  return all;
}

describe('several endpoints without a word about breakers', () => {
  it('eject one that fails every request', async () => {
    const [bad, one, two] = [await endpoint('fails'), await endpoint('responds'), await endpoint('responds')];
    const gateway = await serve([bad, one, two]);
    const first = await statuses(gateway, 15);
    expect(first.filter((status) => status === 502)).toHaveLength(5);
    expect(await statuses(gateway, 30)).toEqual(Array(30).fill(200));
    expect(bad.upstream.messages).toHaveLength(5);
  });

  it('eject one that hangs', async () => {
    const [bad, one] = [await endpoint('hangs'), await endpoint('responds')];
    const gateway = await serve([bad, one], ', timeouts: { response: 50ms }');
    await statuses(gateway, 10);
    expect(await statuses(gateway, 20)).toEqual(Array(20).fill(200));
  });

  it('are all tried while all fail: never 503 because of a default', async () => {
    const endpoints = [await endpoint('fails'), await endpoint('fails')];
    const gateway = await serve(endpoints);
    const status = () => gateway.gateway.upstreams[0];
    expect(await statuses(gateway, 30)).toEqual(Array(30).fill(502));
    expect([status()?.healthy, status()?.panic]).toEqual([false, true]);
    expect(status()?.endpoints.map(({ breaker }) => breaker)).toEqual(['open', 'open']);
    const operated = { gateway: gateway.gateway, reloader: { last: null }, isStopping: () => false };
    expect(readinessOf(operated as never)).toEqual({
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

  it('are no such thing with a breaker of the manifest', async () => {
    const endpoints = [await endpoint('fails'), await endpoint('fails')];
    const gateway = await serve(endpoints, ', breaker: { failures: 2, pause: 1h }');
    expect(await statuses(gateway, 6)).toEqual([502, 502, 502, 502, 503, 503]);
    expect(gateway.gateway.upstreams[0]?.panic).toBe(false);
  });

  it('have none with `enabled: false`, and neither has one endpoint', async () => {
    const [bad, one] = [await endpoint('fails'), await endpoint('responds')];
    const off = await serve([bad, one], ', breaker: { enabled: false }');
    expect((await statuses(off, 30)).filter((status) => status === 502)).toHaveLength(15);
    const single = await serve([one]);
    expect(single.gateway.upstreams[0]?.endpoints[0]?.breaker).toBe(null);
  });

  it('have the numbers of `breaker: {}`', () => {
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

describe('clients that leave while an endpoint hangs', () => {
  it('are counted, and never eject it alone', { timeout: 30_000 }, async () => {
    const [bad, one] = [await endpoint('hangs'), await endpoint('responds')];
    const gateway = await serve([bad, one], ', breaker: { failures: 1, pause: 1h }, balance: round-robin');
    const target = () => gateway.gateway.upstreams[0]?.endpoints[0];
    for (let count = 1; count <= 3; count += 1) {
      const client = await openSocket(gateway.port);
      client.write(keptHead('GET /x HTTP/1.1'));
      await eventually('it is at the endpoint', () => bad.upstream.messages.length === count);
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      client.destroy();
      await eventually('it is counted', () => target()?.abandoned === count);
      expect(await statuses(gateway, 1)).toEqual([200]);
    }
    expect(target()?.breaker).toBe('closed');
  });
});
