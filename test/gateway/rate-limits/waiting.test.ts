import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../../support/gateway.ts';
import { head, keepAliveHead, type RawResponse, sendRequest, Wire } from '../../support/raw.ts';
import { runs } from '../../support/runs.ts';
import { startWireUpstream, type WireUpstream } from '../../support/upstream.ts';
import { ExactGcra } from './gcra.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const clock = { ms: 0 };
let response = OK;
let upstream: WireUpstream;
let gateway: TestGateway;
let wire: Wire;

beforeAll(async () => {
  upstream = await startWireUpstream(() => response);
  gateway = await startGateway(
    manifestOf('  first: { key: client, allow: 9 per 1s }'),
    {},
    {},
    undefined,
    () => clock.ms,
  );
  wire = await Wire.open(gateway.port);
});

afterAll(async () => {
  wire.end();
  await gateway.close();
  await upstream.close();
});

afterEach(() => {
  response = OK;
});

/** A manifest with these limits, all of which apply to its only route, in this order. */
function manifestOf(
  limits: string,
  server = '{}',
  ids = [...limits.matchAll(/^ {2}([a-z0-9-]+):/gm)].map(([, id]) => id),
) {
  const rateLimits = ids.length === 0 ? '' : `, rateLimits: [${ids.join(', ')}]`;
  const routes = `  - { id: all, method: any, path: /**, upstream: up, access: public${rateLimits} }
rateLimits:
${limits}`;
  return manifest(routes, { up: upstream.url, server });
}

/** Sends a request on the common connection. */
async function get(...headers: string[]): Promise<RawResponse> {
  wire.write(keepAliveHead('GET /x HTTP/1.1', ...headers));
  return wire.response();
}

const periods: Readonly<Record<string, number>> = {
  '250ms': 250,
  '1s': 1_000,
  '7s': 7_000,
  '1m': 60_000,
  '24h': 86_400_000,
};

describe('Retry-After', () => {
  it('is exact to the second, for any rates of several limits', async () => {
    const limit = fc.record({
      requests: fc.integer({ min: 1, max: 9 }),
      period: fc.constantFrom(...Object.keys(periods)),
      burst: fc.integer({ min: 1, max: 9 }),
    });
    let run = 0;
    const property = fc.asyncProperty(
      fc.array(limit, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat({ max: 4_000 }), { maxLength: 12 }),
      async (limits, pauses) => {
        run += 1;
        // A connection closes after 10,000 requests.
        wire.end();
        wire = await Wire.open(gateway.port);
        const entries = limits.map(
          ({ requests, period, burst }, index) =>
            `  limit-${run}-${index}: { key: client, allow: ${requests} per ${period}, burst: ${burst} }`,
        );
        gateway.swap(manifestOf(entries.join('\n')));
        const exact = () =>
          limits.map(({ requests, period, burst }) => new ExactGcra(requests, periods[period] ?? 0, burst));
        let accepted: number[] = [];
        const waitMs = () => {
          const counters = exact();
          for (const at of accepted) for (const counter of counters) counter.count(at);
          return Math.max(...counters.map((counter) => counter.count(clock.ms).waitMs));
        };
        for (const pause of [...pauses, 0, 0, 0, 0, 0, 0, 0, 0, 0]) {
          clock.ms += pause;
          const expected = waitMs();
          const { status, value } = await get();
          expect(status).toBe(expected > 0 ? 429 : 200);
          if (status === 200) accepted.push(clock.ms);
          if (expected > 0) expect(value('retry-after')).toBe(String(Math.max(Math.ceil(expected / 1_000), 1)));
        }
        const seconds = Number((await get()).value('retry-after'));
        if (Number.isNaN(seconds)) return;
        clock.ms += (seconds - 1) * 1_000;
        if (seconds > 1) expect((await get()).status).toBe(429);
        clock.ms += 1_000;
        expect((await get()).status).toBe(200);
        accepted = [];
      },
    );
    await fc.assert(property, { numRuns: runs(300) });
  });
});

describe('a request that one of several limits refuses', () => {
  it('is not counted by the others', async () => {
    gateway.swap(manifestOf('  wide: { key: route, allow: 3 per 24h }\n  narrow: { key: client, allow: 1 per 10s }'));
    expect((await get()).status).toBe(200);
    for (let index = 0; index < 9; index += 1) expect((await get()).value('retry-after')).toBe('10');
    for (let index = 0; index < 2; index += 1) {
      clock.ms += 10_000;
      expect((await get()).status).toBe(200);
    }
    clock.ms += 10_000;
    expect((await get()).status).toBe(429);
  });

  it('has the same bytes whichever limit it is, apart from the time', async () => {
    const bodies = new Set<string>();
    for (const [index, key] of ['client', 'route', '{ header: X-Key }'].entries()) {
      const missing = key.startsWith('{') ? ', missing: refuse' : '';
      const others = ['client', 'route'].map(
        (other, at) => `  other-${at}-${index}: { key: ${other}, allow: 99 per 1h }`,
      );
      const limit = `  tight-${index}: { key: ${key}${missing}, allow: 1 per 30s }`;
      gateway.swap(manifestOf([...others, limit].join('\n'), '{ rateLimitHeaders: off }'));
      await get('X-Key: a');
      const { line, headers, body } = await get('X-Key: a');
      const { request_id: _id, ...problem } = JSON.parse(body.toString());
      bodies.add(JSON.stringify([line, headers.filter(([name]) => name !== 'Date'), problem]));
    }
    expect(bodies.size).toBe(1);
    expect([...bodies][0]).toContain('["Retry-After","30"]');
  });
});

describe('rateLimitHeaders: draft-11', () => {
  const limits = `  tenant: { key: route, allow: 600 per 1m, burst: 100 }
  caller: { key: client, allow: 2 per 90s }
  guesses: { key: client, allow: 9 per 1h, count: failures }
  trial: { key: route, allow: 1 per 1h, mode: report }`;
  const policies = '"caller";q=2;w=90, "tenant";q=600;w=60';

  it('states the policies and the remaining requests, without limits of failures', async () => {
    clock.ms += 100_000_000;
    gateway.swap(manifestOf(limits, '{ rateLimitHeaders: draft-11 }'));
    const first = await get();
    expect(first.values('ratelimit-policy')).toEqual([policies]);
    expect(first.values('ratelimit')).toEqual(['"caller";r=1;t=45, "tenant";r=99;t=1']);
    clock.ms += 1_000;
    expect((await get()).values('ratelimit')).toEqual(['"caller";r=0;t=89, "tenant";r=99;t=1']);
    const refused = await get();
    expect([refused.status, refused.value('retry-after')]).toEqual([429, '44']);
    expect(refused.values('ratelimit-policy')).toEqual([policies]);
    expect(refused.values('ratelimit')).toEqual([]);
  });

  it('keeps the fields of the upstream', async () => {
    clock.ms += 100_000_000;
    const own = 'RateLimit-Policy: "own";q=5;w=1\r\nRateLimit: "own";r=4;t=1\r\n';
    response = OK.replace('\r\n', `\r\n${own}`);
    const { values } = await get();
    expect(values('ratelimit-policy')).toEqual(['"own";q=5;w=1', policies]);
    expect(values('ratelimit')).toEqual(['"own";r=4;t=1', '"caller";r=1;t=45, "tenant";r=99;t=1']);
  });

  it('is off by default', async () => {
    clock.ms += 100_000_000;
    gateway.swap(manifestOf(limits));
    expect((await get()).values('ratelimit-policy')).toEqual([]);
  });
});

describe('key: client behind a trusted proxy', () => {
  const server = '{ trustedProxies: [127.0.0.1] }';
  const from = async (address: string) =>
    (await sendRequest(gateway.port, head('GET /x HTTP/1.1', `X-Forwarded-For: ${address}`))).status;

  it('counts the addresses of a network together, in any spelling', async () => {
    clock.ms += 100_000_000;
    gateway.swap(manifestOf('  network: { key: client, allow: 4 per 24h }', server));
    for (const address of [
      '2001:db8:0:7::1',
      '2001:DB8::7:0:0:0:2',
      '[2001:db8:0:7::3]:99',
      '6.6.6.6, 2001:db8:0:7:a:b:c:d',
    ])
      expect(await from(address)).toBe(200);
    for (let index = 0; index < 20; index += 1) expect(await from(`2001:db8:0:7::${index.toString(16)}`)).toBe(429);
    expect(await from('2001:db8:0:8::1')).toBe(200);
  });

  it('counts an IPv4 address together with its IPv6 form', async () => {
    clock.ms += 100_000_000;
    gateway.swap(manifestOf('  mapped: { key: { client: { ipv6Prefix: 56 } }, allow: 3 per 24h }', server));
    for (const address of ['192.0.2.9', '::ffff:192.0.2.9', '::ffff:c000:209']) expect(await from(address)).toBe(200);
    expect(await from('192.0.2.9:443')).toBe(429);
    expect(await from('192.0.2.8')).toBe(200);
  });

  it('counts the proxy if the header names no address', async () => {
    clock.ms += 100_000_000;
    gateway.swap(manifestOf('  nobody: { key: client, allow: 2 per 24h }', server));
    expect(await from('unknown')).toBe(200);
    expect(await from('192.0.2.1, not an address')).toBe(200);
    for (const address of ['', ',', '1.2.3', '999.1.1.1', '::g', '_hidden', '127.0.0.1'])
      expect(await from(address)).toBe(429);
  });

  it('ignores the header of an untrusted peer', async () => {
    clock.ms += 100_000_000;
    gateway.swap(manifestOf('  peer: { key: client, allow: 2 per 24h }'));
    expect(await from('192.0.2.1')).toBe(200);
    expect(await from('192.0.2.2')).toBe(200);
    expect(await from('192.0.2.3')).toBe(429);
  });
});
