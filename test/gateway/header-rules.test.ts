import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { valuesOf } from '../support/message.ts';
import { head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { startWireUpstream, type WireResponse, type WireUpstream } from '../support/upstream.ts';

const RULES = `requestHeaders: { set: { X-Platform: signing, X-Key: '\${KEY}' }, remove: [X-Debug, Cookie] },
    responseHeaders: {
      set: { Strict-Transport-Security: max-age=31536000 }, remove: [Server, X-Powered-By, Set-Cookie] }`;
const ROUTES = `  - { id: ruled, method: any, path: /ruled/**, upstream: up, access: public, websocket: true, ${RULES} }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /access_token }, ${RULES} }
  - { id: guarded, method: GET, path: /guarded, upstream: up, access: protected, ${RULES} }
  - { id: plain, method: any, path: /plain, upstream: up, access: public }
`;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

let upstream: WireUpstream;
let issuer: Issuer;
let gateway: TestGateway;
let upstreamResponse: WireResponse = OK;

beforeAll(async () => {
  upstream = await startWireUpstream(() => upstreamResponse);
  issuer = await startIssuer();
  gateway = await startGateway(manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl }), { KEY: 'k-1' });
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
  await issuer.close();
});

const names = (headers: readonly (readonly [string, string])[]) => headers.map(([name]) => name);

/** Sends a request with these headers and returns the headers that the upstream received. */
async function forward(path: string, ...headers: string[]) {
  upstreamResponse = OK;
  const before = upstream.messages.length;
  expect((await sendRequest(gateway.port, head(`GET ${path} HTTP/1.1`, ...headers))).status).toBe(200);
  expect(upstream.messages.length).toBe(before + 1);
  return upstream.messages[before]?.headers ?? [];
}

describe('the headers of a request', () => {
  it('that the route sets replace those of the client in every spelling', async () => {
    const forged = ['X-Platform', 'x-platform', 'X_Platform', 'x.PLATFORM', 'X_KEY'].map((name) => `${name}: evil`);
    const headers = await forward('/ruled/x', ...forged, 'Accept: a', 'Connection: X-Platform, X-Key');
    expect(valuesOf(headers, 'X-Platform')).toEqual(['signing']);
    expect(valuesOf(headers, 'X-Key')).toEqual(['k-1']);
    expect(headers.flat().join()).not.toContain('evil');
    expect(names(headers)).toContain('Accept');
  });

  it('that the route removes do not reach the upstream', async () => {
    const headers = await forward(
      '/ruled/x',
      'X-Debug: 1',
      'x_debug: 2',
      'Cookie: a=1',
      'COOKIE: b=2',
      'X-Debugger: 3',
    );
    expect(names(headers).filter((name) => /debug|cookie/i.test(name))).toEqual(['X-Debugger']);
  });

  it('are otherwise the same as without rules', async () => {
    const sent = ['Accept: a', 'accept: b', 'X-Case: MiXed', 'Content-Type: text/plain'];
    const ids = (headers: readonly (readonly [string, string])[]) =>
      headers
        .filter(([name]) => !['X-Request-Id', 'traceparent'].includes(name))
        .map(([name, value]) => `${name}: ${value}`);
    const plain = ids(await forward('/plain', ...sent));
    const ruled = ids(await forward('/ruled/x', ...sent));
    expect(ruled.filter((line) => !plain.includes(line))).toEqual(['X-Platform: signing', 'X-Key: k-1']);
    expect(plain.filter((line) => !ruled.includes(line))).toEqual([]);
  });

  it('are set beside a body with a length and a chunked body', async () => {
    upstreamResponse = OK;
    for (const [framing, body] of [
      ['Content-Length: 4', 'body'],
      ['Transfer-Encoding: chunked', '4\r\nbody\r\n0\r\n\r\n'],
    ]) {
      await sendRequest(gateway.port, `${head('POST /ruled/x HTTP/1.1', framing as string)}${body}`);
      const message = upstream.messages.at(-1);
      expect([message?.body.toString(), valuesOf(message?.headers ?? [], 'x-key')]).toEqual(['body', ['k-1']]);
    }
  });
});

describe('the headers of a response', () => {
  const UPSTREAM_HEADERS =
    'Server: evil\r\nX-Powered-By: evil\r\nset-cookie: evil\r\nSet-Cookie: evil\r\nstrict-transport-security: evil\r\nX-Other: 1';

  it('are set and removed by the rules of the route', async () => {
    upstreamResponse = `HTTP/1.1 200 OK\r\n${UPSTREAM_HEADERS}\r\nContent-Length: 2\r\n\r\nok`;
    const got = await sendRequest(gateway.port, head('GET /ruled/x HTTP/1.1'));
    expect(got.value('strict-transport-security')).toBe('max-age=31536000');
    expect(got.headers.flat().join()).not.toContain('evil');
    expect([got.value('x-other'), got.body.toString()]).toEqual(['1', 'ok']);
  });

  it.each([
    ['HEAD', 'HTTP/1.1 200 OK', 'Content-Length: 9\r\n\r\n'],
    ['GET', 'HTTP/1.1 304 Not Modified', 'ETag: "a"\r\n\r\n'],
    ['GET', 'HTTP/1.1 204 No Content', '\r\n'],
    ['GET', 'HTTP/1.1 500 Oops', 'Content-Length: 0\r\n\r\n'],
  ])('are set and removed for %s with %s', async (method, line, rest) => {
    upstreamResponse = `${line}\r\n${UPSTREAM_HEADERS}\r\n${rest}`;
    const got = await sendRequest(gateway.port, head(`${method} /ruled/x HTTP/1.1`));
    expect(got.line).toBe(line);
    expect(got.value('strict-transport-security')).toBe('max-age=31536000');
    expect(got.headers.flat().join()).not.toContain('evil');
  });

  it('that the route removes are also removed from trailers', async () => {
    upstreamResponse =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nServer: evil\r\nStrict-Transport-Security: evil\r\nX-Sum: 1\r\n\r\n';
    const got = await sendRequest(gateway.port, head('GET /ruled/x HTTP/1.1'));
    expect([got.body.toString(), got.trailers]).toEqual(['ok', [['X-Sum', '1']]]);
  });

  it('are set and removed after a login check', async () => {
    upstreamResponse = `HTTP/1.1 200 OK\r\n${UPSTREAM_HEADERS}\r\nContent-Length: 2\r\n\r\n{}`;
    const got = await sendRequest(gateway.port, head('POST /login HTTP/1.1', 'Content-Length: 0'));
    expect([got.status, got.value('strict-transport-security')]).toEqual([200, 'max-age=31536000']);
    expect(got.headers.flat().join()).not.toContain('evil');
    expect(valuesOf(upstream.messages.at(-1)?.headers ?? [], 'x-key')).toEqual(['k-1']);
  });

  it('stay unchanged in refusals of the gateway', async () => {
    upstreamResponse = 'garbage\r\n\r\n';
    for (const [status, bytes] of [
      [401, head('GET /guarded HTTP/1.1')],
      [502, head('GET /ruled/x HTTP/1.1')],
      [400, head('GET /ruled/../x HTTP/1.1')],
    ] as const) {
      const got = await sendRequest(gateway.port, bytes);
      expect([got.status, got.values('strict-transport-security')]).toEqual([status, []]);
    }
  });
});

describe('a WebSocket handshake', () => {
  it('and its 101 response follow the header rules of the route', async () => {
    upstreamResponse =
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nServer: evil\r\nX-Other: 1\r\n\r\nthrough';
    const wire = await Wire.open(gateway.port);
    wire.write(
      keepAliveHead(
        'GET /ruled/socket HTTP/1.1',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version: 13',
        'X_Platform: evil',
        'Cookie: evil',
      ),
    );
    const got = await wire.message();
    expect(got.status).toBe(101);
    expect([got.values('server'), got.values('x-other')]).toEqual([[], ['1']]);
    expect(got.values('strict-transport-security')).toEqual(['max-age=31536000']);
    await wire.until('through');
    const headers = upstream.messages.at(-1)?.headers ?? [];
    expect([valuesOf(headers, 'x-platform'), valuesOf(headers, 'upgrade')]).toEqual([['signing'], ['websocket']]);
    expect(headers.flat().join()).not.toContain('evil');
    wire.end();
  });
});
