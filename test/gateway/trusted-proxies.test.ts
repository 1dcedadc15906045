import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { manifest, startGateway, type TestGateway, worldOf } from '../support/gateway.ts';
import { valuesOf } from '../support/message.ts';
import { head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startWireUpstream, type WireUpstream } from '../support/upstream.ts';

const ROUTES = `  - { id: all, method: any, path: /**, upstream: up, access: public, websocket: true }
  - { id: private, method: any, path: /private, upstream: up, access: protected }
`;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

let upstream: WireUpstream;
/** Trusts the peer of these tests, and 10.0.0.0/8. */
let gateway: TestGateway;

const textOf = (trusted: string) => manifest(ROUTES, { up: upstream.url, server: `{ trustedProxies: ${trusted} }` });
const TRUSTED = '[127.0.0.1/32, 10.0.0.0/8, "fd00::/8"]';

beforeAll(async () => {
  upstream = await startWireUpstream(() => OK);
  gateway = await startGateway(textOf(TRUSTED));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

afterEach(() => {
  upstream.messages.length = 0;
  gateway.lines.length = 0;
});

/** Sends a request; returns the headers that the upstream receives, and the access line. */
async function forward(headers: readonly string[], { port, lines } = gateway) {
  upstream.messages.length = 0;
  lines.length = 0;
  expect((await sendRequest(port, head('GET /x HTTP/1.1', ...headers))).status).toBe(200);
  await eventually('the access line', () => lines.length === 1);
  const received = upstream.messages[0]?.headers ?? [];
  return { values: (name: string) => valuesOf(received, name), line: lines[0] ?? {} };
}

describe('X-Forwarded-For of a trusted proxy', () => {
  it.each([
    ['none', [], '127.0.0.1', undefined],
    ['one', ['192.0.2.1'], '192.0.2.1, 127.0.0.1', '192.0.2.1'],
    ['a forged address', ['1.1.1.1, 192.0.2.1'], '1.1.1.1, 192.0.2.1, 127.0.0.1', '192.0.2.1'],
    ['proxies in between', ['192.0.2.1, 10.0.0.1,10.0.0.2'], '192.0.2.1, 10.0.0.1,10.0.0.2, 127.0.0.1', '192.0.2.1'],
    ['only proxies', ['10.0.0.1, 10.0.0.2'], '10.0.0.1, 10.0.0.2, 127.0.0.1', '10.0.0.1'],
    ['several headers', ['192.0.2.1', '10.0.0.1'], '192.0.2.1, 10.0.0.1, 127.0.0.1', '192.0.2.1'],
    ['a port', ['192.0.2.1:443'], '192.0.2.1:443, 127.0.0.1', '192.0.2.1'],
    ['IPv6', ['2001:db8::1'], '2001:db8::1, 127.0.0.1', '2001:db8::1'],
    ['IPv6 in brackets, with a port', ['[2001:db8::1]:443'], '[2001:db8::1]:443, 127.0.0.1', '2001:db8::1'],
    ['IPv6 proxies', ['192.0.2.1, fd00::1'], '192.0.2.1, fd00::1, 127.0.0.1', '192.0.2.1'],
    [
      'an IPv4-mapped IPv6 address',
      ['192.0.2.1, ::ffff:10.0.0.1'],
      '192.0.2.1, ::ffff:10.0.0.1, 127.0.0.1',
      '192.0.2.1',
    ],
    ['a word', ['unknown'], 'unknown, 127.0.0.1', undefined],
    ['a word before proxies', ['192.0.2.1, "x}, 10.0.0.1'], '192.0.2.1, "x}, 10.0.0.1, 127.0.0.1', undefined],
    ['nothing', [''], '127.0.0.1', undefined],
    ['commas', [',,'], ',,, 127.0.0.1', undefined],
  ])('is forwarded with the address of the peer appended: %s', async (_case, sent, expected, client) => {
    const { values, line } = await forward(sent.map((value) => `X-Forwarded-For: ${value}`));
    expect(values('x-forwarded-for')).toEqual([expected]);
    expect(line['client']).toBe(client);
    expect(line['peer']).toBe('127.0.0.1');
  });
});

describe('an address header of a trusted proxy', () => {
  it('is forwarded in its own spelling only', async () => {
    const { values } = await forward(['X-Real-IP: 192.0.2.1', 'X_Real_IP: 6.6.6.6', 'true-client-ip: 192.0.2.2']);
    expect(values('x-real-ip')).toEqual(['192.0.2.1']);
    expect(values('true-client-ip')).toEqual(['192.0.2.2']);
    expect(values('x_real_ip')).toEqual([]);
  });

  it('does not extend to identity headers', async () => {
    const { values } = await forward([
      'X-Remote-User: a',
      'X-SSL-Client-Verify: SUCCESS',
      'X-Forwarded-Client-Cert: a',
    ]);
    for (const name of ['x-remote-user', 'x-ssl-client-verify', 'x-forwarded-client-cert'])
      expect(values(name)).toEqual([]);
  });
});

describe('X-Forwarded-Proto and X-Forwarded-Host of a trusted proxy', () => {
  it.each([
    ['X-Forwarded-Proto', ['https'], 'https'],
    ['x-forwarded-proto', ['http'], 'http'],
    ['X-Forwarded-Proto', ['wss'], 'wss'],
    ['X-Forwarded-Proto', [], 'http'],
    ['X-Forwarded-Proto', ['https', 'https'], 'http'],
    ['X-Forwarded-Proto', ['https, http'], 'http'],
    ['X-Forwarded-Proto', ['gopher'], 'http'],
    ['X-Forwarded-Proto', [''], 'http'],
    ['X-Forwarded-Host', ['signing.example'], 'signing.example'],
    ['X-Forwarded-Host', ['signing.example:8443'], 'signing.example:8443'],
    ['X-Forwarded-Host', ['[2001:db8::1]:80'], '[2001:db8::1]:80'],
    ['X-Forwarded-Host', [], 'gateway.test'],
    ['X-Forwarded-Host', ['a.example', 'b.example'], 'gateway.test'],
    ['X-Forwarded-Host', ['a.example, b.example'], 'gateway.test'],
    ['X-Forwarded-Host', ['a.example/path'], 'gateway.test'],
    ['X-Forwarded-Host', ['user@a.example'], 'gateway.test'],
    ['X-Forwarded-Host', ['a.example:99999'], 'gateway.test'],
  ])('are forwarded only if they are unambiguous: %s %j', async (name, sent, expected) => {
    const { values } = await forward(sent.map((value) => `${name}: ${value}`));
    expect(values(name)).toEqual([expected]);
  });
});

describe('X-Request-Id of a trusted proxy', () => {
  it.each(['a', 'Root=1-67891233-abcdef012345678912345678'.replace('=', '.'), 'x'.repeat(128), 'A-b_c.9'])(
    'is the id of the request: %s',
    async (id) => {
      const { values, line } = await forward([`X-Request-Id: ${id}`]);
      expect([values('x-request-id'), line['id']]).toEqual([[id], id]);
      const refused = await sendRequest(gateway.port, head('GET /private HTTP/1.1', `X-Request-Id: ${id}`));
      expect(refused.json().request_id).toBe(id);
    },
  );

  it.each([[['']], [['x'.repeat(129)]], [['a b']], [['a"b']], [['a/b']], [['é']], [['one', 'two']], [['one, two']]])(
    'is replaced by a new id if it is invalid: %j',
    async (ids) => {
      const { values, line } = await forward(ids.map((id) => `X-Request-Id: ${id}`));
      expect(line['id']).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(values('x-request-id')).toEqual([line['id']]);
    },
  );
});

describe('a trusted proxy', () => {
  it('has its other forwarding headers dropped, in every spelling', async () => {
    const forgedHeaders = [
      'Forwarded: for=192.0.2.1;proto=https',
      'X_Forwarded_For: lie',
      'X.Forwarded.For: lie',
      'X_Forwarded_Host: lie',
      'X_Forwarded_Proto: lie',
      'X_Request_Id: lie',
      'X-Forwarded-Port: 443',
      'X-Forwarded-Prefix: /lie',
      'X-Forwarded-User: lie',
    ];
    const { values, line } = await forward(forgedHeaders);
    expect(values('x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(line).not.toHaveProperty('client');
    const names = upstream.messages[0]?.headers.map(([name]) => name.toLowerCase()) ?? [];
    expect(names.filter((name) => /forwarded|request.id/.test(name))).toEqual([
      'x-forwarded-for',
      'x-forwarded-proto',
      'x-forwarded-host',
      'x-request-id',
    ]);
  });

  it('is also trusted in a WebSocket handshake', async () => {
    const handshake = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
      'X-Forwarded-For: 192.0.2.1',
      'X-Request-Id: own',
    ];
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /socket HTTP/1.1', ...handshake));
    await wire.response();
    await wire.closed();
    await eventually('the access line', () => gateway.lines.length === 1);
    expect(gateway.lines[0]).toMatchObject({ id: 'own', peer: '127.0.0.1', client: '192.0.2.1' });
    expect(valuesOf(upstream.messages[0]?.headers ?? [], 'x-forwarded-for')).toEqual(['192.0.2.1, 127.0.0.1']);
  });
});

describe('an untrusted peer', () => {
  const FORWARDING_HEADERS = [
    'X-Forwarded-For: 10.0.0.1',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: evil.example',
    'X-Request-Id: evil',
  ];

  it('has its forwarding headers ignored', async () => {
    const other = await startGateway(textOf('[192.0.2.0/24, "::1"]'));
    const { values, line } = await forward(FORWARDING_HEADERS, other);
    expect(values('x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(values('x-forwarded-proto')).toEqual(['http']);
    expect(values('x-forwarded-host')).toEqual(['gateway.test']);
    expect(values('x-request-id')).toEqual([line['id']]);
    expect(line['id']).not.toBe('evil');
    expect(line).not.toHaveProperty('client');
    await other.close();
  });

  it('becomes trusted at the next request after a reload, and the reverse', async () => {
    const running = await startGateway(textOf('[]'));
    const wire = await Wire.open(running.port);
    for (const [trusted, expected] of [
      ['[]', '127.0.0.1'],
      [TRUSTED, '192.0.2.1, 127.0.0.1'],
      ['[10.0.0.0/8]', '127.0.0.1'],
    ] as const) {
      const { plan } = load({ path: 'gateway.yaml', text: textOf(trusted) }, worldOf());
      if (plan === undefined) throw new Error('the manifest does not load');
      running.gateway.activate(plan);
      wire.write(keepAliveHead('GET /x HTTP/1.1', 'X-Forwarded-For: 192.0.2.1'));
      await wire.response();
      expect(valuesOf(upstream.messages.at(-1)?.headers ?? [], 'x-forwarded-for')).toEqual([expected]);
    }
    wire.end();
    await running.close();
  });
});

const hasIpv6 = await new Promise<boolean>((resolve) => {
  const server = createServer();
  server.on('error', () => resolve(false));
  server.listen(0, '::', () => server.close(() => resolve(true)));
});

describe.skipIf(!hasIpv6)('an IPv4 client of a listener on [::]', () => {
  const onAllAddresses = (text: string) => startGateway(text.replace('127.0.0.1:0', '"[::]:0"'));

  it.each(['127.0.0.0/8', '"::ffff:127.0.0.0/104"'])('matches the trusted block %s', async (block) => {
    const running = await onAllAddresses(textOf(`[${block}]`));
    const { values, line } = await forward(['X-Forwarded-For: ::ffff:192.0.2.1'], running);
    expect(line).toMatchObject({ peer: '127.0.0.1', client: '192.0.2.1' });
    expect(values('x-forwarded-for')).toEqual(['::ffff:192.0.2.1, 127.0.0.1']);
    await running.close();
  });

  it('is written as IPv4 also if its request is not parsed', async () => {
    const running = await onAllAddresses(manifest(ROUTES, { up: upstream.url }));
    const { values } = await forward([], running);
    expect(values('x-forwarded-for')).toEqual(['127.0.0.1']);
    running.lines.length = 0;
    expect((await sendRequest(running.port, 'GET /x HTTP/1.1\r\nBad Name: x\r\n\r\n')).status).toBe(400);
    await eventually('the access line', () => running.lines.length === 1);
    expect(running.lines[0]).toMatchObject({ peer: '127.0.0.1' });
    await running.close();
  });
});
