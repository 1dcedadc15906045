import { once } from 'node:events';
import { get } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CpuBudget } from '../../src/admin/cpu-budget.ts';
import { ADMIN_ENDPOINTS } from '../../src/admin/endpoints.ts';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../support/admin.ts';
import { createPair } from '../support/certificate.ts';
import { sendRequest, Wire } from '../support/raw.ts';
import { scrape } from '../support/scrape.ts';
import { eventually } from '../support/site.ts';

const TOKEN = '7mWq2vXc9RtLkP4zGhN8';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;
const withAdmin = (admin: string) => MANIFEST.replace('127.0.0.1:0\nupstreams', `${admin}\nupstreams`);

/** The endpoints without a stream, whose responses end. */
const READABLE = ADMIN_ENDPOINTS.filter(({ method, path }) => method === 'GET' && path !== '/decisions');

let site: GatewayWithAdmin;

beforeAll(async () => {
  site = await startGatewayWithAdmin(MANIFEST);
});
afterAll(() => site.close());

describe('the admin server', () => {
  it.each(READABLE.map(({ path }) => (path === '/route' ? '/route?id=one' : path)))(
    'responds to GET and HEAD for %s',
    async (path) => {
      const response = await fetch(site.admin.url + path);
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
      const body = await response.text();
      const headResponse = await fetch(site.admin.url + path, { method: 'HEAD' });
      expect([headResponse.status, await headResponse.text()]).toEqual([200, '']);
      expect(body.length).toBeGreaterThan(0);
    },
  );

  it('responds 404 with the list of paths to an unknown path', async () => {
    const response = await fetch(`${site.admin.url}/nowhere`);
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    const { detail } = JSON.parse(await response.text());
    expect(detail).toContain('/status, /routes');
    expect(detail.match(/\/-\/candidate/g)).toHaveLength(1);
  });

  it.each([
    ['POST', '/status', 'GET, HEAD'],
    ['OPTIONS', '/livez', 'GET, HEAD'],
    ['GET', '/explain', 'POST'],
  ])('responds 405 with Allow to %s %s', async (method, path, allow) => {
    const response = await fetch(site.admin.url + path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
  });

  it('serves pipelined requests in order, and disconnects a client with too many of them', async () => {
    const wire = await Wire.open(site.admin.port);
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    wire.write(request('/status') + request('/livez') + request('/routes') + request('/nowhere'));
    const statuses = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await wire.response()).status);
    expect(statuses).toEqual([200, 200, 200, 404]);
    wire.write(request('/status').repeat(20));
    await wire.closed();
    expect(wire.rest.split('HTTP/1.1 200').length - 1).toBeLessThanOrEqual(8);
    expect((await fetch(`${site.admin.url}/livez`)).status).toBe(200);
  });

  it('closes connections of the client with the most, idle ones first, so that probes get responses', async () => {
    const crowded = await startGatewayWithAdmin(MANIFEST);
    const streams = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const wire = await Wire.open(crowded.admin.port);
        wire.write('GET /decisions HTTP/1.1\r\nHost: localhost\r\n\r\n');
        await wire.until(': connected');
        return wire;
      }),
    );
    const idle = await Promise.all(
      Array.from({ length: 400 }, async () => (await Wire.open(crowded.admin.port)).write('GET /status HTTP/1.1\r\n')),
    );
    for (const path of ['/livez', '/readyz', '/metrics'])
      expect([path, (await fetch(crowded.admin.url + path)).status]).toEqual([path, 200]);
    const { value } = await scrape(crowded.admin.url);
    expect(value('admin_connections')).toBeLessThanOrEqual(256);
    expect(value('admin_connections_evicted_total')).toBeGreaterThanOrEqual(150);
    expect(streams.filter(({ isClosed }) => isClosed)).toEqual([]);
    const lines = crowded.told.filter(({ msg }) => String(msg).startsWith('admin connections were closed'));
    expect(lines).toEqual([expect.objectContaining({ level: 40, count: 1, peer: '127.0.0.1' })]);
    for (const wire of [...streams, ...idle]) wire.end();
    await crowded.close();
  });

  it('closes connections that have their response before new ones, so that probes get responses', async () => {
    const crowded = await startGatewayWithAdmin(MANIFEST);
    const served = await Promise.all(
      Array.from({ length: 255 }, async () => {
        // The client keeps its side open.
        const socket = connectTcp({ port: crowded.admin.port, host: '127.0.0.1', allowHalfOpen: true });
        await once(socket, 'connect');
        return new Wire(socket).write('BAD\r\n\r\n');
      }),
    );
    await Promise.all(served.map((wire) => wire.closed()));
    const probe = await Wire.open(crowded.admin.port);
    const others = [await Wire.open(crowded.admin.port), await Wire.open(crowded.admin.port)];
    probe.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect((await probe.response()).status).toBe(200);
    for (const wire of [...served, probe, ...others]) wire.end();
    await crowded.close();
  });

  it.each(['1.0', '1.1'])('ends a stream whose client of HTTP/%s closed its side before', async (version) => {
    const socket = connectTcp({ port: site.admin.port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    const wire = new Wire(socket);
    const first = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n';
    socket.end(`${first}GET /decisions HTTP/${version}\r\nHost: localhost\r\n\r\n`);
    await wire.closed();
    wire.end();
    expect(site.gateway.subscribers).toBe(0);
  });

  it('sends no 100 Continue to a client of HTTP/1.0', async () => {
    const body = '{"method":"GET","url":"/one"}';
    const head = `POST /explain HTTP/1.0\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`;
    const wire = (await Wire.open(site.admin.port)).write(head + body);
    expect((await wire.message()).status).toBe(200);
    wire.end();
  });

  it('buffers only a few megabytes of request bodies', async () => {
    const head = 'POST /explain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n';
    const wires = await Promise.all(
      Array.from({ length: 12 }, async () => (await Wire.open(site.admin.port)).write(head + ' '.repeat(900_000))),
    );
    const firstStatus = async () =>
      (await Promise.race(wires.map((wire) => wire.response().catch(() => undefined))))?.status;
    expect(await firstStatus()).toBe(503);
    for (const wire of wires) wire.end();
    const explain = () => fetch(`${site.admin.url}/explain`, { method: 'POST', body: '{"method":"GET","url":"/one"}' });
    await eventually('requests are served again', async () => (await explain()).status === 200);
  });

  it('refuses a body over the limit', async () => {
    const response = await fetch(`${site.admin.url}/explain`, {
      method: 'POST',
      body: Buffer.alloc(1024 ** 2 + 1, ' '),
    });
    expect(response.status).toBe(413);
  });

  it.each([
    'evil.example',
    'evil.example:9901',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.7',
    '[::2]',
  ])('refuses the host name %s, which a web page could resolve to this machine', async (host) => {
    for (const path of ['/status', '/livez']) {
      const { status } = await sendRequest(
        site.admin.port,
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect(status).toBe(421);
    }
  });

  it.each(['localhost', 'LOCALHOST:1', '127.0.0.1:9901', '127.9.9.9', '[::1]:9901'])(
    'accepts the host name %s',
    async (host) => {
      const { status } = await sendRequest(
        site.admin.port,
        `GET /status HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect(status).toBe(200);
    },
  );

  it.each([
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: 'http://127.0.0.1:1' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'Cross-Site' },
  ])('refuses every request from a page of another origin: %j', async (headers) => {
    for (const { method, path } of ADMIN_ENDPOINTS)
      for (const used of method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [method, 'OPTIONS']) {
        const { status } = await fetch(site.admin.url + path, { method: used, headers });
        expect([used, path, status]).toEqual([used, path, 403]);
      }
    expect((await fetch(`${site.admin.url}/nowhere`, { headers })).status).toBe(403);
    expect(site.gateway.subscribers).toBe(0);
  });

  it.each([{}, { 'Sec-Fetch-Site': 'same-origin' }, { 'Sec-Fetch-Site': 'none' }])(
    'serves its own page, tools and the address bar: %j',
    async (headers) => {
      const ownOrigin = { ...headers, Origin: site.admin.url };
      const body = '{"method":"GET","url":"/one"}';
      expect((await fetch(`${site.admin.url}/status`, { headers })).status).toBe(200);
      expect((await fetch(`${site.admin.url}/explain`, { method: 'POST', body, headers: ownOrigin })).status).toBe(200);
    },
  );
});

describe('the admin token', () => {
  let secured: GatewayWithAdmin;
  beforeAll(async () => {
    secured = await startGatewayWithAdmin(withAdmin("{ listen: 127.0.0.1:0, token: '${T}' }"), { T: TOKEN });
  });
  afterAll(() => secured.close());
  const statusOf = async (path: string, authorization?: string) => {
    const headers = authorization === undefined ? {} : { Authorization: authorization };
    return (await fetch(secured.admin.url + path, { headers })).status;
  };
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

  it('is required by every endpoint except the probes and the files of the page', async () => {
    const isPublic = (path: string) => ['/livez', '/readyz', '/'].includes(path) || path.startsWith('/page/');
    for (const { method, path } of ADMIN_ENDPOINTS) {
      const { status } = await fetch(secured.admin.url + path, { method });
      expect([path, status]).toEqual([path, isPublic(path) ? 200 : 401]);
    }
    expect(await statusOf('/nowhere')).toBe(401);
  });

  it('is required to read the reasons of /readyz', async () => {
    const headers = { Authorization: `Bearer ${TOKEN}` };
    expect(await (await fetch(`${secured.admin.url}/readyz`)).json()).toEqual({ status: 'ready' });
    expect(await (await fetch(`${secured.admin.url}/readyz`, { headers })).json()).toEqual({
      status: 'ready',
      reasons: [],
    });
  });

  it('is accepted as a bearer token and as a Basic password', async () => {
    expect(await statusOf('/status', `Bearer ${TOKEN}`)).toBe(200);
    expect(await statusOf('/status', `bearer ${TOKEN}`)).toBe(200);
    expect(await statusOf('/status', basic(`anybody:${TOKEN}`))).toBe(200);
  });

  it.each([
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    `Bearer ${TOKEN} x`,
    'Bearer ',
    TOKEN,
    `Digest ${TOKEN}`,
    basic(TOKEN.slice(1)),
    basic(`${TOKEN}:`),
  ])('is not accepted as %s', async (authorization) => {
    expect(await statusOf('/status', authorization)).toBe(401);
  });

  it('is missing in thousands of pipelined requests: a connection gets one refusal in a turn, and closes after eight', async () => {
    const CONNECTIONS = 40;
    const { calls } = vi.spyOn(CpuBudget.prototype, 'run').mock;
    let most = 0;
    let counted = 0;
    let isOver = false;
    const countTurn = () => {
      most = Math.max(most, calls.length - counted);
      counted = calls.length;
      if (!isOver) setImmediate(countTurn);
    };
    countTurn();
    const flood = 'GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1_000);
    const wires = await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => (await Wire.open(secured.admin.port)).write(flood)),
    );
    await Promise.all(wires.map((wire) => wire.closed()));
    isOver = true;
    vi.restoreAllMocks();
    expect(wires.map(({ rest }) => rest.split('HTTP/1.1 401').length - 1)).toEqual(Array(CONNECTIONS).fill(8));
    expect(calls.length).toBe(8 * CONNECTIONS);
    expect(most).toBeLessThanOrEqual(CONNECTIONS);
  });

  it('is requested with its schemes, and no response contains it', async () => {
    const challengeFor = async (accept: string) => {
      const { headers } = await fetch(`${secured.admin.url}/status`, { headers: { Accept: accept } });
      return headers.get('www-authenticate');
    };
    expect(await challengeFor('text/html,*/*;q=0.8')).toMatch(/^Bearer realm=.*, Basic realm=/);
    // For a script of the page a browser would show its own dialog.
    expect(await challengeFor('*/*')).toMatch(/^Bearer realm="[^"]*"$/);
    for (const { path } of READABLE) {
      const response = await fetch(secured.admin.url + path, { headers: { Authorization: `Bearer ${TOKEN}` } });
      expect(await response.text()).not.toContain(TOKEN);
    }
  });
});

describe('client certificates', () => {
  it('are required by every endpoint except the probes, and no handshake is repeated', async () => {
    const [server, client, untrusted] = [
      createPair(),
      createPair({ name: 'operator' }),
      createPair({ name: 'no one' }),
    ];
    const files = { 's.crt': server.certificate, 's.key': server.key, 'ca.crt': client.certificate };
    const tls = '{ certificate: s.crt, key: s.key, clientCa: ca.crt }';
    const secured = await startGatewayWithAdmin(withAdmin(`{ listen: 127.0.0.1:0, tls: ${tls} }`), {}, files);
    const statusOf = (path: string, pair?: { certificate: string; key: string }) =>
      new Promise((resolve, reject) => {
        const credentials = pair === undefined ? {} : { cert: pair.certificate, key: pair.key };
        get(secured.admin.url + path, { ca: server.certificate, ...credentials, agent: false }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        }).on('error', reject);
      });
    expect([await statusOf('/status'), await statusOf('/livez'), await statusOf('/readyz')]).toEqual([403, 200, 200]);
    expect(await statusOf('/status', untrusted)).toBe(403);
    // The second one is written in slices.
    expect([await statusOf('/status', client), await statusOf('/routes', client)]).toEqual([200, 200]);
    const socket = connect({ port: secured.admin.port, ca: server.certificate, maxVersion: 'TLSv1.2' });
    await once(socket, 'secureConnect');
    const result = await new Promise((resolve) => {
      socket.once('error', resolve);
      socket.renegotiate({}, resolve);
    });
    expect(result).toMatchObject({ code: 'ERR_SSL_NO_RENEGOTIATION' });
    socket.destroy();
    await secured.close();
  });
});
