import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { startGateway, worldOf } from '../support/gateway.ts';
import { chunked, exchangeBytes, head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { startWireUpstream, type WireUpstream } from '../support/upstream.ts';

const ROUTES = `
  - { id: state, method: GET, path: /state, access: public, respond: { headers: { Content-Type: application/json }, body: '{"ok":true}' } }
  - { id: ended, method: any, path: /ended/**, access: public, respond: { status: 410, body: "ended é\\n" }, responseHeaders: { set: { X-Of: ended }, remove: [X-Common] } }
  - { id: nothing, method: POST, path: /nothing, access: public, respond: { status: 204 } }
  - { id: guarded, method: GET, path: /guarded, access: protected, respond: { body: secret } }
  - { id: moved, method: any, path: /old/**, access: public, redirect: { to: '/new/{rest}', status: 308, query: keep } }
  - { id: all, method: GET, path: /all/**, access: public, encodedSlash: keep, redirect: { to: '/{rest}/x' } }
  - { id: other, method: GET, path: '/other/{id}/{rest}', access: public, redirect: { to: 'https://docs.example:8443/a-{id}?id={id}&r={rest}#{rest}', status: 301 } }
  - { id: forwarded, method: any, path: /forwarded, upstream: up, access: public, websocket: true }
`;
const AUTH = `auth:
  tokens: { jwt: { jwks: 'http://127.0.0.1:9/keys', algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [admin], message: no }
`;

let upstream: WireUpstream;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  upstream = await startWireUpstream(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  const server = 'server: { responseHeaders: { X-Common: yes } }';
  gateway = await startGateway(
    `version: 1\nlisten: 127.0.0.1:0\n${server}\nupstreams: { up: { url: '${upstream.url}' } }\n${AUTH}routes:${ROUTES}`,
  );
});

afterAll(async () => {
  await gateway.close();
  upstream.close();
});

const send = (line: string, ...headers: string[]) => sendRequest(gateway.port, head(line, ...headers));

describe('a response of the gateway itself', () => {
  it('has its status, headers and body, and the common headers', async () => {
    const response = await send('GET /state HTTP/1.1');
    expect([response.status, response.reason, response.body.toString()]).toEqual([200, 'OK', '{"ok":true}']);
    expect(response.values('content-type')).toEqual(['application/json']);
    expect(response.values('content-length')).toEqual(['11']);
    expect(response.value('x-common')).toBe('yes');
  });

  it('has the rules for response headers of its route, and plain text by default', async () => {
    const response = await send('DELETE /ended/a/b HTTP/1.1');
    expect([response.status, response.reason, response.body.toString()]).toEqual([410, 'Gone', 'ended é\n']);
    expect(response.values('x-of')).toEqual(['ended']);
    expect(response.values('x-common')).toEqual([]);
    expect(response.value('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.value('content-length')).toBe('9');
  });

  it('has no body for HEAD, and the next request follows on the same connection', async () => {
    const bytes = await exchangeBytes(
      gateway.port,
      keepAliveHead('HEAD /ended HTTP/1.1') + head('GET /state HTTP/1.1'),
    );
    const [first = '', second = '', body] = bytes.split('\r\n\r\n');
    expect(first).toMatch(/^HTTP\/1\.1 410 Gone\r\n[\s\S]*\r\nContent-Length: 9\r\n/);
    expect(second).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(body).toBe('{"ok":true}');
  });

  it('has no length with status 204', async () => {
    const response = await send('POST /nothing HTTP/1.1');
    expect([response.status, response.value('content-length'), response.value('transfer-encoding')]).toEqual([
      204,
      undefined,
      undefined,
    ]);
  });

  it('requires a token on a protected route', async () => {
    expect((await send('GET /guarded HTTP/1.1')).status).toBe(401);
    const { plan } = load(
      { path: 'gateway.yaml', text: `version: 1\nupstreams: { up: { url: 'http://a' } }\n${AUTH}routes:${ROUTES}` },
      worldOf(),
    );
    const headersOf = (id: string) => plan?.routes.find((route) => route.id === id)?.ownResponse?.headers.join(' ');
    expect(headersOf('guarded')).toContain('Cache-Control no-store');
    expect(headersOf('state')).not.toContain('Cache-Control');
  });

  it.each([
    ['an unread body', ['Content-Length: 7'], 'ignored'],
    ['a chunked body', ['Transfer-Encoding: chunked'], chunked('GET /state HTTP/1.1')],
    ['a body that does not end', ['Content-Length: 1000000'], 'x'],
    ['a body that waits for 100 Continue', ['Content-Length: 7', 'Expect: 100-continue'], ''],
  ])('comes before the end of %s, and closes the connection', async (_case, headers, body) => {
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('POST /ended HTTP/1.1', ...headers) + body);
    const response = await wire.response();
    expect([response.status, response.value('connection'), response.body.toString()]).toEqual([
      410,
      'close',
      'ended é\n',
    ]);
    await wire.closed();
  });

  it('keeps an invariant about bodies, since the gateway discards them', () => {
    const invariants = `invariants: [{ id: bodies, require: { body: { schema: true, maxBytes: 1KB } } }]\n`;
    const routes = `  - { id: ended, method: any, path: /, access: public, respond: { status: 410 } }\n`;
    const source = {
      path: 'gateway.yaml',
      text: `version: 1\n${invariants}upstreams: { up: { url: 'http://a' } }\nroutes:\n${routes}`,
    };
    expect(load(source, worldOf()).problems).toEqual([]);
  });

  it('is no handshake, and never reaches an upstream', async () => {
    upstream.messages.length = 0;
    const handshake = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const response = await sendRequest(gateway.port, keepAliveHead('GET /state HTTP/1.1', ...handshake));
    expect(response.status).toBe(200);
    expect(upstream.messages).toEqual([]);
  });

  it('is in the metrics and the log of its route, without an upstream', async () => {
    const recorded = new Promise((resolve) => gateway.gateway.subscribe(resolve));
    await send('GET /state HTTP/1.1');
    expect(await recorded).toMatchObject({
      status: 200,
      route: { id: 'state' },
      forwardedAfterMs: undefined,
      sentBytes: 11,
    });
  });
});

describe('a redirect', () => {
  const locationOf = async (target: string) => {
    const { status, values } = await send(`GET ${target} HTTP/1.1`);
    return `${status} ${values('location').join(' and ')}`;
  };

  it.each([
    ['/old/a/b', '308 /new/a/b'],
    ['/old', '308 /new/'],
    ['/old/', '308 /new/'],
    ['/old/a%20b/%C3%A9;x', '308 /new/a%20b/%C3%A9;x'],
    ['/old/a?b=c&d', '308 /new/a?b=c&d'],
    ['/old/a?to=//evil.example\\"<>', '308 /new/a?to=//evil.example%5C%22%3C%3E'],
    ['/all/a%2Fb?dropped', '307 /a%2Fb/x'],
    ['/all/evil.example', '307 /evil.example/x'],
    ["/other/x&y=z/a+b;c'", "301 https://docs.example:8443/a-x&y=z?id=x%26y%3Dz&r=a%2Bb%3Bc'#a+b;c'"],
    ['/other/evil.example:1@x/r', '301 https://docs.example:8443/a-evil.example:1@x?id=evil.example:1@x&r=r#r'],
  ])('of %s is %s', async (target, expected) => {
    expect(await locationOf(target)).toBe(expected);
  });

  it.each([
    '/all',
    '/all/',
    '/all//evil.example',
    '/all/%2Fevil.example',
    '/all/\\evil.example',
    '/all/%5Cevil.example',
    '/all/..',
    '/all/%2e%2e',
  ])('of %s is refused, because it would lead to another host or path', async (target) => {
    const response = await send(`GET ${target} HTTP/1.1`);
    expect([response.status, response.json().code, response.value('location')]).toEqual([
      400,
      'path_ambiguous',
      undefined,
    ]);
  });

  it('needs no upstream, as on port 80 beside a gateway with TLS', async () => {
    const route =
      "{ id: https, method: any, path: /**, access: public, redirect: { to: 'https://shop.example/{rest}', status: 301 } }";
    const plain = await startGateway(`version: 1\nlisten: 127.0.0.1:0\nroutes: [${route}]\n`);
    const response = await sendRequest(plain.port, head('GET /carts/7 HTTP/1.1'));
    await plain.close();
    expect([response.status, response.value('location')]).toEqual([301, 'https://shop.example/carts/7']);
  });

  it('has no body, and the method decides nothing', async () => {
    const response = await send('PATCH /old/a HTTP/1.1');
    expect([response.status, response.value('content-length'), response.body.length]).toEqual([308, '0', 0]);
  });
});
