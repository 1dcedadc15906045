import { connect, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HealthCheck } from '../../src/engine/gateway/upstream/health-check.ts';
import { ObservedHealth } from '../../src/engine/gateway/upstream/observed-health.ts';
import { startGatewayWithAdmin } from '../support/admin.ts';
import { createPair } from '../support/certificate.ts';
import { head, keepAliveHead, openSocket, sendRequest, Wire } from '../support/raw.ts';
import { scrape } from '../support/scrape.ts';
import { eventually } from '../support/site.ts';
import { startRawUpstream, startWireUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

/** Starts an upstream that calls `talk` with each connection that sends a request, and the path of the request. */
async function startTalker(talk: (socket: Socket, path: string) => void) {
  const upstream = await startRawUpstream((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const [, path] = /^[A-Z]+ (\/\S*) HTTP/.exec(bytes.toString('latin1')) ?? [];
      if (path !== undefined) talk(socket, path);
    });
  });
  closing.push(() => upstream.close());
  return upstream;
}

/** Returns an address that refuses connections. */
async function closedUrl(): Promise<string> {
  const upstream = await startWireUpstream(() => OK);
  await upstream.close();
  return upstream.url;
}

/** @param upstreams the YAML definitions by name; `/<name>/…` goes to each of them */
async function serve(upstreams: Record<string, string>) {
  const names = Object.keys(upstreams);
  const text = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams:
${names.map((name) => `  ${name}: ${upstreams[name]}\n`).join('')}
routes:
${names.map((name) => `  - { id: ${name}, method: any, path: /${name}/**, upstream: ${name}, access: public, body: { maxBytes: 1MB } }\n`).join('')}`;
  const site = await startGatewayWithAdmin(text);
  closing.push(() => site.close());
  const upstreamOf = (name: string) => site.gateway.upstreams.find(({ id }) => id === name);
  const getJson = async (path: string) => {
    const response = await fetch(site.admin.url + path);
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  return {
    ...site,
    getJson,
    upstreamOf,
    get: (path: string) => sendRequest(site.port, head(`GET ${path} HTTP/1.1`)),
    health: (name = 'up') => upstreamOf(name)?.health,
    reason: (name = 'up') => upstreamOf(name)?.endpoints[0]?.reason,
    events: () => site.told.filter(({ event }) => event !== undefined).map(({ event, reason }) => [event, reason]),
  };
}

describe('without health checks', () => {
  it('an upstream that refuses connections is unhealthy everywhere, and one without requests is unknown', async () => {
    const site = await serve({ up: `{ url: '${await closedUrl()}' }`, idle: `{ url: '${await closedUrl()}' }` });
    expect([site.health('up'), site.health('idle')]).toEqual(['unknown', 'unknown']);
    expect(await site.getJson('/readyz')).toEqual({ status: 200, body: { status: 'ready', reasons: [] } });
    expect((await site.get('/up/x')).status).toBe(502);
    const { body } = await site.getJson('/status');
    expect(body.upstreams).toMatchObject([
      {
        health: 'unhealthy',
        available: true,
        endpoints: [{ health: 'unhealthy', reason: 'upstream_econnrefused', check: null }],
      },
      { health: 'unknown', available: true, endpoints: [{ health: 'unknown', reason: null, check: null }] },
    ]);
    expect(await site.getJson('/readyz')).toEqual({
      status: 200,
      body: { status: 'degraded', reasons: ['the upstream "up" has no healthy endpoint'] },
    });
    const { value } = await scrape(site.admin.url);
    expect(value('upstream_endpoint_health', { upstream: 'up', state: 'unhealthy' })).toBe(1);
    expect(value('upstream_endpoint_health', { upstream: 'up', state: 'healthy' })).toBe(0);
    expect(value('upstream_endpoint_health', { upstream: 'idle', state: 'unknown' })).toBe(1);
    expect(site.events()).toEqual([['unhealthy', 'upstream_econnrefused']]);
  });

  it('an upstream that responds again is healthy again, and the log has one line for each change', async () => {
    const url = await closedUrl();
    const site = await serve({ up: `{ url: '${url}' }` });
    for (let count = 0; count < 10; count += 1) await site.get('/up/x');
    const server = createServer((socket) =>
      socket.on('data', () => void socket.write(OK)).on('error', () => undefined),
    );
    await new Promise<void>((resolve) => server.listen(Number(new URL(url).port), '127.0.0.1', resolve));
    closing.push(() => server.close());
    await eventually(
      'the upstream is healthy',
      async () => (await site.get('/up/x')).status === 200 && site.health() === 'healthy',
    );
    expect(site.events()).toEqual([
      ['unhealthy', 'upstream_econnrefused'],
      ['healthy', undefined],
    ]);
    expect((await site.getJson('/readyz')).body.status).toBe('ready');
  });

  it('an upstream that responds from the start is healthy without a log line', async () => {
    const upstream = await startTalker((socket) => void socket.write(OK));
    const site = await serve({ up: `{ url: '${upstream.url}' }` });
    await site.get('/up/x');
    expect([site.health(), site.reason(), site.events()]).toEqual(['healthy', null, []]);
  });

  it.each<[string, string, (socket: Socket) => void]>([
    ['resets', 'upstream_econnreset', (socket) => void socket.resetAndDestroy()],
    ['closes', 'upstream_connection_closed', (socket) => void socket.end()],
    ['hangs', 'upstream_response_timeout', () => undefined],
    ['sends no HTTP', 'upstream_response_malformed', (socket) => void socket.end('SSH-2.0-x\r\n\r\n')],
    [
      'truncates',
      'upstream_connection_closed',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'),
    ],
    [
      'is overloaded',
      'upstream_status_503',
      (socket) => void socket.write('HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n'),
    ],
  ])('an upstream that always %s is unhealthy after three requests', async (title, reason, talk) => {
    const upstream = await startTalker(talk);
    const limited = title === 'hangs' ? '{ response: 30ms }' : '{}';
    const site = await serve({ up: `{ url: '${upstream.url}', timeouts: ${limited} }` });
    for (let count = 0; count < 2; count += 1) await site.get('/up/x').catch(() => undefined);
    expect(site.health()).not.toBe('unhealthy');
    await site.get('/up/x').catch(() => undefined);
    await eventually('the upstream is unhealthy', () => site.health() === 'unhealthy');
    expect(site.reason()).toBe(reason);
  });

  it('an upstream that has only responses with 500 is not healthy', async () => {
    const upstream = await startTalker((socket) => void socket.write('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n'));
    const site = await serve({ up: `{ url: '${upstream.url}' }` });
    for (let count = 0; count < 5; count += 1) expect((await site.get('/up/x')).status).toBe(500);
    expect(site.health()).toBe('unknown');
  });

  it.each([
    ['event streams have no events', 'Content-Type: text/event-stream\r\n\r\n: hello\n\n'],
    ['responses pause after they began', 'Content-Length: 9\r\n\r\nx'],
  ])('an upstream whose %s is healthy', async (_title, rest) => {
    const upstream = await startTalker((socket) => void socket.write(`HTTP/1.1 200 OK\r\n${rest}`));
    const site = await serve({ up: `{ url: '${upstream.url}', timeouts: { idle: 30ms, eventStream: 30ms } }` });
    for (let count = 0; count < 5; count += 1) await site.get('/up/x').catch(() => undefined);
    expect([site.health(), site.events()]).toEqual(['healthy', []]);
  });

  it('one healthy endpoint is enough for its upstream', async () => {
    const upstream = await startTalker((socket) => void socket.write(OK));
    const site = await serve({ up: `{ urls: ['${await closedUrl()}', '${upstream.url}'] }` });
    for (let count = 0; count < 4; count += 1) expect((await site.get('/up/x')).status).toBe(200);
    expect(site.upstreamOf('up')?.endpoints.map(({ health }) => health)).toEqual(['unhealthy', 'healthy']);
    expect([site.health(), (await site.getJson('/readyz')).body.status]).toEqual(['healthy', 'ready']);
  });
});

describe('a client cannot make an upstream unhealthy', () => {
  /** Starts an upstream whose behaviour depends on the path. */
  async function start() {
    const upstream = await startTalker((socket, path) => {
      if (path.includes('location'))
        socket.write(`HTTP/1.1 302 Found\r\nLocation: ${path}${path}\r\nContent-Length: 0\r\n\r\n`);
      else if (path.includes('half')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
      else if (path.includes('closes')) socket.destroy();
      else if (!path.includes('silent')) socket.write(OK);
    });
    return serve({ up: `{ url: '${upstream.url}', retry: false }` });
  }

  it('by a query that makes the response head too large', async () => {
    const site = await start();
    for (let count = 0; count < 5; count += 1)
      expect((await site.get(`/up/location?${'a'.repeat(9_000)}`)).status).toBe(502);
    expect([site.health(), site.events()]).toEqual(['unknown', []]);
  });

  it('by an upload that is so slow that the upstream closes the connection', async () => {
    const site = await start();
    for (let count = 0; count < 5; count += 1) {
      const slow = await Wire.open(site.port);
      slow.write(`${keepAliveHead('POST /up/closes HTTP/1.1', 'Content-Length: 10')}half`);
      expect((await slow.response()).status).toBe(502);
      slow.end();
    }
    expect([site.health(), site.events()]).toEqual(['unknown', []]);
  });

  it.each(['silent', 'half'])('by disconnecting from a response that is %s', async (path) => {
    const site = await start();
    for (let count = 1; count <= 5; count += 1) {
      const client = await openSocket(site.port);
      client.write(keepAliveHead(`GET /up/${path} HTTP/1.1`));
      await eventually('the upstream has the request', () => site.upstreamOf('up')?.endpoints[0]?.busy === 1);
      if (path === 'half') await new Promise((resolve) => client.once('data', resolve));
      client.destroy();
      await eventually('the exchange ends', () => site.lines.length === count);
    }
    expect([site.health(), site.events()]).toEqual([path === 'half' ? 'healthy' : 'unknown', []]);
  });

  it('by a path that the upstream does not survive, while another client uses the upstream', async () => {
    const site = await start();
    const other = connect({ port: site.port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    other.on('error', () => undefined);
    other.write(keepAliveHead('GET /up/x HTTP/1.1'));
    await new Promise((resolve) => other.once('data', resolve));
    for (let count = 0; count < 20; count += 1) expect((await site.get('/up/closes')).status).toBe(502);
    expect([site.health(), site.events()]).toEqual(['healthy', []]);
    other.destroy();
  });
});

describe('a check that only connects', () => {
  const CHECK = 'health: { connect: true, interval: 10ms, unhealthy: 2, healthy: 2 }';

  it('sends no request, and notices when connections are refused and accepted', async () => {
    const upstream = await startWireUpstream(() => OK);
    const site = await serve({ up: `{ url: '${upstream.url}', ${CHECK} }` });
    await eventually('it is healthy', () => site.health() === 'healthy');
    await eventually('it connects again', () => upstream.sockets.length > 2);
    expect(upstream.messages).toEqual([]);
    await upstream.close();
    await eventually('it is unhealthy', () => site.health() === 'unhealthy');
    expect(site.reason()).toBe('upstream_econnrefused');
    const refused = await site.get('/up/x');
    expect([refused.status, refused.json().code]).toEqual([503, 'upstream_unavailable']);
    const server = createServer((socket) => void socket.on('error', () => undefined));
    await new Promise<void>((resolve) => server.listen(Number(new URL(upstream.url).port), '127.0.0.1', resolve));
    closing.push(() => server.close());
    await eventually('it is healthy again', () => site.health() === 'healthy');
    expect(site.events()).toEqual([
      ['unhealthy', 'upstream_econnrefused'],
      ['healthy', undefined],
    ]);
  });

  it('discards the failed requests of the time before it succeeded', async () => {
    const upstream = await startWireUpstream(() => OK);
    const site = await serve({ up: `{ url: '${upstream.url}', ${CHECK.replace('unhealthy: 2', 'unhealthy: 30')} }` });
    const isChecked = (state: string) => site.upstreamOf('up')?.endpoints[0]?.check === state;
    await eventually('the check succeeds', () => isChecked('healthy'));
    await upstream.close();
    await eventually('a request fails', async () => (await site.get('/up/x')).status === 502);
    await eventually('the check fails', () => isChecked('unhealthy'));
    const server = createServer((socket) => void socket.on('error', () => undefined));
    await new Promise<void>((resolve) => server.listen(Number(new URL(upstream.url).port), '127.0.0.1', resolve));
    closing.push(() => server.close());
    await eventually('the check succeeds again', () => isChecked('healthy'));
    expect(site.health()).toBe('healthy');
  });

  it('includes the TLS handshake', async () => {
    const plain = await startTalker(() => undefined);
    const rule = `${CHECK.replace('10ms', '10ms, timeout: 100ms')}, tls: { ca: ca.pem }`;
    const text = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: '${plain.url.replace('http:', 'https:')}', ${rule} } }
routes: [{ id: up, method: any, path: /up/**, upstream: up, access: public }]
`;
    const site = await startGatewayWithAdmin(text, {}, { 'ca.pem': createPair().certificate });
    closing.push(() => site.close());
    await eventually('it is unhealthy', () => site.gateway.upstreams[0]?.health === 'unhealthy');
    expect(site.gateway.upstreams[0]?.endpoints[0]?.reason).toBe('upstream_connect_timeout');
  });

  it('does not hide that every request fails', async () => {
    const upstream = await startTalker(() => undefined);
    const site = await serve({ up: `{ url: '${upstream.url}', ${CHECK}, timeouts: { response: 20ms } }` });
    await eventually('the check succeeds', () => site.health() === 'healthy');
    for (let count = 0; count < 3; count += 1) expect((await site.get('/up/x')).status).toBe(504);
    expect([site.health(), site.reason()]).toEqual(['unhealthy', 'upstream_response_timeout']);
    expect(site.upstreamOf('up')).toMatchObject({ available: true, endpoints: [{ check: 'healthy' }] });
  });
});

describe('a required upstream', () => {
  it('makes the gateway unready until its first check succeeds, and not because of failed requests', async () => {
    const held: Socket[] = [];
    const upstream = await startTalker((socket, path) => {
      if (path === '/healthz') held.push(socket);
      else socket.destroy();
    });
    const site = await serve({
      up: `{ url: '${upstream.url}', health: { path: /healthz, interval: 1h, required: true } }`,
    });
    await eventually('the check is sent', () => held.length === 1);
    expect(await site.getJson('/readyz')).toEqual({
      status: 503,
      body: { status: 'unready', reasons: ['the required upstream "up" has passed no check yet'] },
    });
    held[0]?.write(OK);
    await eventually('ready', async () => (await site.getJson('/readyz')).body.status === 'ready');
    for (let count = 0; count < 5; count += 1) expect((await site.get('/up/x')).status).toBe(502);
    expect(await site.getJson('/readyz')).toEqual({
      status: 200,
      body: { status: 'degraded', reasons: ['the upstream "up" has no healthy endpoint'] },
    });
  });
});

describe('a health check', () => {
  it('learns nothing about the endpoint while the gateway has no file descriptor', async () => {
    vi.useFakeTimers();
    let code = 'EMFILE';
    const settings = {
      path: '/',
      intervalMs: 10,
      timeoutMs: 5,
      healthyThreshold: 2,
      unhealthyThreshold: 2,
      required: false,
    };
    const dial = () => new Duplex().destroy(Object.assign(new Error('no'), { code }));
    const check = new HealthCheck(settings, { host: 'up', dial, responseHeadLimitBytes: 1 }, () => undefined);
    check.start();
    await vi.advanceTimersByTimeAsync(100);
    expect(check.state).toBe('unknown');
    code = 'ECONNREFUSED';
    await vi.advanceTimersByTimeAsync(100);
    expect([check.state, check.reason]).toEqual(['unhealthy', 'upstream_econnrefused']);
    check.stop();
  });
});

describe('the health by requests', () => {
  it('publishes that an endpoint is no longer known to be unhealthy a minute after the last request', () => {
    vi.useFakeTimers();
    const states: string[] = [];
    const health: ObservedHealth = new ObservedHealth({ onChange: () => void states.push(health.state) });
    health.recordFailure('endpoint', 'a', 'upstream_econnrefused', 0);
    vi.advanceTimersByTime(59_000);
    expect(states.at(-1)).toBe('unhealthy');
    vi.advanceTimersByTime(3_000);
    const count = states.length;
    expect(states.at(-1)).toBe('unknown');
    vi.advanceTimersByTime(120_000);
    expect(states.length).toBe(count);
    health.close();
  });
});
