import { afterEach, describe, expect, it } from 'vitest';
import { sharedGatewayCounters } from '../../src/engine/gateway/gateway-counters.ts';
import { createSingleWorker } from '../../src/engine/shared-memory/worker-context.ts';
import { PUBLIC_ALL, startGateway, type TestGateway } from '../support/gateway.ts';
import { valuesOf } from '../support/message.ts';
import { head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { startUpstreamServer, startWireUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const RANDOM = /^1\.1 signing-gateway-[0-9a-f]{16}$/;

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

const textOf = (url: string, server: string, routes = PUBLIC_ALL) =>
  `version: 1\nlisten: 127.0.0.1:0\nserver: ${server}\nupstreams: { up: { url: '${url}' } }\nroutes:\n${routes}`;

async function serve(url: string, server = '{}', routes?: string): Promise<TestGateway> {
  const gateway = await startGateway(textOf(url, server, routes));
  cleanups.push(() => gateway.close());
  return gateway;
}

async function startRecorder() {
  const upstream = await startWireUpstream(() => OK);
  cleanups.push(() => upstream.close());
  return upstream;
}

/** Starts a gateway that leads back to itself. */
async function startLoop(server: string, routes = PUBLIC_ALL) {
  let port = 0;
  let passes = 0;
  // A load balancer, which changes nothing.
  const balancer = await startUpstreamServer(async (request, response) => {
    passes += 1;
    const pairs = Array.from(request.rawHeaders, (text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    const got = await sendRequest(port, `${request.method} ${request.url} HTTP/1.1\r\n${pairs.join('')}\r\n`);
    response.writeHead(got.status, { 'Content-Length': got.body.length }).end(got.body);
  });
  cleanups.push(() => balancer.close());
  const gateway = await serve(balancer.url, server, routes);
  port = gateway.port;
  return { gateway, passes: () => passes };
}

describe('a loop of gateways', () => {
  it.each([
    ['a random name', '{}'],
    ['a configured name', '{ via: Signing.eu_1 }'],
  ])('ends with 508 at the gateway with %s', async (_title, server) => {
    const { gateway, passes } = await startLoop(server);
    const got = await sendRequest(gateway.port, head('GET /x HTTP/1.1'));
    expect([got.status, got.json().code, passes()]).toEqual([508, 'loop_detected', 1]);
    expect(gateway.lines.map(({ refusal }) => refusal)).toEqual(['loop_detected', undefined]);
  });

  it.each([
    ['without a direct way', 'Via: 1.0 fred, 1.1 own (a, b), 2 last'],
    ['in letters of another case', 'vIA: 1.1 OWN'],
    ['with a protocol name', 'Via: HTTP/1.1 \t own'],
    ['in the second of two headers', 'Via: 1.1 a\r\nVia: 1.1 own'],
  ])('is noticed %s', async (_title, via) => {
    const upstream = await startRecorder();
    const { port } = await serve(upstream.url, '{ via: own }');
    expect((await sendRequest(port, head('POST /x HTTP/1.1', via, 'Content-Length: 0'))).status).toBe(508);
    expect(upstream.messages).toEqual([]);
  });

  it('is noticed in a WebSocket handshake', async () => {
    const upstream = await startRecorder();
    const routes = '  - { id: ws, method: GET, path: /ws, upstream: up, access: public, websocket: true }\n';
    const { port } = await serve(upstream.url, '{ via: own }', routes);
    const handshake = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const wire = await Wire.open(port);
    wire.write(
      keepAliveHead('GET /ws HTTP/1.1', ...handshake, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Via: 1.1 own'),
    );
    expect((await wire.response()).status).toBe(508);
    wire.end();
  });

  it('is not a chain of gateways of the same kind, or a name within another text', async () => {
    const upstream = await startRecorder();
    const second = await serve(upstream.url);
    const { port } = await serve(second.url);
    const via = 'Via: 1.1 signing-gateway, 1.1 x (signing-gateway), own 1.1';
    expect((await sendRequest(port, head('GET /x HTTP/1.1', via))).status).toBe(200);
    const values = valuesOf(upstream.messages[0]?.headers ?? [], 'via');
    expect(values).toEqual([via.slice(5), expect.stringMatching(RANDOM), expect.stringMatching(RANDOM)]);
    expect(values[1]).not.toBe(values[2]);
  });
});

describe('Via', () => {
  it('has the version of the request and the name of the gateway, and is on no response', async () => {
    const upstream = await startRecorder();
    const { port } = await serve(upstream.url, '{ via: own }');
    const got = await sendRequest(port, head('GET /x HTTP/1.0'));
    expect([got.status, got.values('via')]).toEqual([200, []]);
    expect(valuesOf(upstream.messages[0]?.headers ?? [], 'via')).toEqual(['1.0 own']);
  });

  it('has one name in all workers of a process, and another one in another process', () => {
    const names = [createSingleWorker(), createSingleWorker()].map((context) => {
      const workers = [0, 1].map((index) => sharedGatewayCounters({ ...context, index, count: 2 }));
      return workers.map((counters) => counters.pseudonym());
    });
    expect(new Set(names[0]).size).toBe(1);
    expect(new Set(names.flat()).size).toBe(2);
  });

  it('is removed where a route says so', async () => {
    const upstream = await startRecorder();
    const routes =
      '  - { id: a, method: any, path: /**, upstream: up, access: public, requestHeaders: { remove: [Via] } }\n';
    const { port } = await serve(upstream.url, '{}', routes);
    expect((await sendRequest(port, head('GET /x HTTP/1.1', 'Via: 1.1 a'))).status).toBe(200);
    expect(valuesOf(upstream.messages[0]?.headers ?? [], 'via')).toEqual([]);
  });
});

describe('Max-Forwards', () => {
  const ROUTES = `  - { id: read, method: [GET, OPTIONS], path: /x, upstream: up, access: public }
  - { id: write, method: POST, path: /x, upstream: up, access: public }
`;

  it('0 ends an OPTIONS request at the gateway', async () => {
    const upstream = await startRecorder();
    const gateway = await serve(upstream.url, '{}', ROUTES);
    const got = await sendRequest(gateway.port, head('OPTIONS /x HTTP/1.1', 'Max-Forwards: 0'));
    expect([got.status, got.value('allow')?.split(', ').sort()]).toEqual([204, ['GET', 'HEAD', 'OPTIONS', 'POST']]);
    expect(upstream.messages).toEqual([]);
    expect(gateway.lines[0]).toMatchObject({ route: 'read', status: 204 });
  });

  it.each([
    ['1', '0'],
    ['007', '6'],
    ['9'.repeat(400), String(Number.MAX_SAFE_INTEGER - 1)],
  ])('%s counts down in an OPTIONS request', async (sent, received) => {
    const upstream = await startRecorder();
    const { port } = await serve(upstream.url);
    const got = await sendRequest(port, head('OPTIONS /x HTTP/1.1', `max-forwards: ${sent}`));
    expect(got.status).toBe(200);
    expect(valuesOf(upstream.messages[0]?.headers ?? [], 'max-forwards')).toEqual([received]);
  });

  it.each(['-1', '1, 2', 'x', '', '1\r\nMax-Forwards: 0'])('"%s" is refused in an OPTIONS request', async (sent) => {
    const upstream = await startRecorder();
    const { port } = await serve(upstream.url);
    expect((await sendRequest(port, head('OPTIONS /x HTTP/1.1', `Max-Forwards: ${sent}`))).status).toBe(400);
  });

  it('is unchanged in any other request', async () => {
    const upstream = await startRecorder();
    const { port } = await serve(upstream.url);
    expect((await sendRequest(port, head('GET /x HTTP/1.1', 'Max-Forwards: 0'))).status).toBe(200);
    expect(valuesOf(upstream.messages[0]?.headers ?? [], 'max-forwards')).toEqual(['0']);
  });
});
