import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifest, PUBLIC_ALL, startGateway, type TestGateway } from '../support/gateway.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { head, keepAliveHead, type RawResponse, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startRawUpstream, startWireUpstream, type WireResponse, type WireUpstream } from '../support/upstream.ts';

const ROUTES = `  - id: ruled
    method: GET
    path: /ruled
    upstream: up
    access: public
    responseHeaders: { set: { X-Platform: signing }, remove: [Server] }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /access_token } }
  - { id: open, method: GET, path: /open, upstream: up, access: public, websocket: true }
  - { id: all, method: any, path: /all/**, upstream: up, access: public }
`;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nlink: </b.css>; title="caf\xe9"\r\nX-A: 1\r\n\r\n';

let upstream: WireUpstream;
let issuer: Issuer;
let gateway: TestGateway;
let upstreamResponse: WireResponse;

beforeAll(async () => {
  upstream = await startWireUpstream(() => upstreamResponse);
  issuer = await startIssuer();
  gateway = await startGateway(manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl }));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
  await issuer.close();
});

const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** Sends a request that closes its connection and returns its informational responses and its final response. */
async function responsesTo(request: string): Promise<RawResponse[]> {
  const wire = await Wire.open(gateway.port);
  wire.write(request);
  const responses: RawResponse[] = [];
  do responses.push(await wire.message());
  while ((responses.at(-1)?.status ?? 0) < 200);
  wire.end();
  return responses;
}

function statuses(responses: readonly RawResponse[]): number[] {
  return responses.map(({ status }) => status);
}

describe('an informational response', () => {
  it('reaches the client before the final response', async () => {
    let waiting: Socket | undefined;
    upstreamResponse = (socket) => {
      waiting = socket;
      socket.write(latin1(HINTS));
    };
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /all/x HTTP/1.1'));
    const hints = await wire.message();
    expect([hints.line, hints.headers]).toEqual([
      'HTTP/1.1 103 Early Hints',
      [
        ['Link', '</a.css>'],
        ['link', '</b.css>; title="caf\xe9"'],
        ['X-A', '1'],
      ],
    ]);
    expect(wire.rest).toBe('');
    waiting?.write(OK);
    const last = await wire.message();
    expect([last.status, last.values('link'), last.body.toString()]).toEqual([200, [], 'ok']);
    wire.end();
  });

  it('loses its hop-by-hop headers and its Content-Length', async () => {
    upstreamResponse = `HTTP/1.1 103 Early Hints\r\nConnection: keep-alive, X-Hop\r\nKeep-Alive: timeout=9\r\nX-Hop: 1\r\nContent-Length: 0\r\nTrailer: X\r\nLink: </a>\r\n\r\n${OK}`;
    const [hints] = await responsesTo(head('GET /all/x HTTP/1.1'));
    expect(hints?.headers).toEqual([['Link', '</a>']]);
  });

  it('is forwarded with any status except 100', async () => {
    const before = [100, 102, 103, 104, 100, 199].map((status) => `HTTP/1.1 ${status} X\r\n\r\n`).join('');
    upstreamResponse = before + OK;
    expect(statuses(await responsesTo(head('GET /all/x HTTP/1.1')))).toEqual([102, 103, 104, 199, 200]);
  });

  it('never reaches a client of HTTP/1.0', async () => {
    upstreamResponse = latin1(HINTS + OK);
    const responses = await responsesTo('GET /all/x HTTP/1.0\r\nHost: gateway.test\r\n\r\n');
    expect(statuses(responses)).toEqual([200]);
  });

  it('is not forwarded on a login route', async () => {
    upstreamResponse = latin1(HINTS + OK.replace('2\r\n\r\nok', '2\r\n\r\n{}'));
    const responses = await responsesTo(head('POST /login HTTP/1.1', 'Content-Length: 0'));
    expect(statuses(responses)).toEqual([200]);
  });

  it('follows the header rules of the route', async () => {
    upstreamResponse = `HTTP/1.1 103 Early Hints\r\nServer: x\r\nx-platform: other\r\nLink: </a>\r\n\r\n${OK}`;
    const [hints] = await responsesTo(head('GET /ruled HTTP/1.1'));
    expect(hints?.headers).toEqual([
      ['Link', '</a>'],
      ['X-Platform', 'signing'],
    ]);
  });

  it('follows the 100 Continue that the client waits for', async () => {
    upstreamResponse = latin1(HINTS + OK);
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('POST /all/x HTTP/1.1', 'Content-Length: 4', 'Expect: 100-continue'));
    expect((await wire.message()).status).toBe(100);
    wire.write('body');
    expect([(await wire.message()).status, (await wire.message()).status]).toEqual([103, 200]);
    wire.end();
  });

  it('may precede a refusal', async () => {
    upstreamResponse = (socket) => void socket.end(latin1(HINTS));
    const responses = await responsesTo(head('GET /all/x HTTP/1.1'));
    expect(statuses(responses)).toEqual([103, 502]);
    expect(responses[1]?.json().code).toBe('upstream_error');
    expect(responses[1]?.values('link')).toEqual([]);
  });

  it('may precede a WebSocket tunnel', async () => {
    upstreamResponse = latin1(
      `${HINTS}HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nthrough`,
    );
    const wire = await Wire.open(gateway.port);
    wire.write(
      keepAliveHead(
        'GET /open HTTP/1.1',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version: 13',
      ),
    );
    expect([(await wire.message()).status, (await wire.message()).status]).toEqual([103, 101]);
    await wire.until('through');
    wire.end();
  });

  it.each(['/all/x', '/login'])('is limited to a hundred per exchange on %s', async (path) => {
    upstreamResponse = HINTS.repeat(101) + OK;
    const responses = await responsesTo(head(`POST ${path} HTTP/1.1`, 'Content-Length: 0'));
    expect([responses.length, responses.at(-1)?.status]).toEqual([path === '/login' ? 1 : 101, 502]);
    const reasons = () => gateway.lines.map(({ reason }) => reason);
    await eventually('it is logged', () => reasons().includes('upstream_informational_too_many'));
    gateway.lines.length = 0;
    upstreamResponse = HINTS.repeat(100) + OK;
    expect((await responsesTo(head(`GET /all/x HTTP/1.1`))).at(-1)?.status).toBe(200);
  });
});

describe('100 Continue without an expectation', () => {
  it('does not end an upload', async () => {
    let received = '';
    const raw = await startRawUpstream((socket) => {
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
        if (received.endsWith('halfhalf')) socket.write(OK);
        else if (received.endsWith('half'))
          socket.write('HTTP/1.1 100 Continue\r\nX-A: 1\r\n\r\n', () => wire.write('half'));
      });
    });
    const other = await startGateway(manifest(PUBLIC_ALL, { up: raw.url }));
    const wire = await Wire.open(other.port);
    wire.write(`${keepAliveHead('POST /x HTTP/1.1', 'Content-Length: 8')}half`);
    const got = await wire.message();
    expect([got.status, got.values('x-a'), got.body.toString()]).toEqual([200, [], 'ok']);
    wire.end();
    await other.close();
    await raw.close();
  });

  it('may arrive in chunks and is not part of the following head', async () => {
    const chunks = [
      'HTTP/1.1 10',
      '0 Continue\r\nX-',
      'A: 1\r\n',
      '\r\nHTTP/1.1 200 OK\r\nX-B: 2\r\n',
      'Content-Length: 0\r\n\r\n',
    ];
    upstreamResponse = (socket) => {
      socket.setNoDelay(true);
      const next = () => {
        const chunk = chunks.shift();
        if (chunk !== undefined) socket.write(chunk, () => setImmediate(next));
      };
      next();
    };
    const [got, ...more] = await responsesTo(head('GET /all/x HTTP/1.1'));
    expect([got?.status, got?.values('x-a'), got?.values('x-b'), more]).toEqual([200, [], ['2'], []]);
  });

  it('may not exceed the size limit of a head', async () => {
    upstreamResponse = `HTTP/1.1 100 Continue\r\nX: ${'x'.repeat(20_000)}\r\n\r\n${OK}`;
    expect(statuses(await responsesTo(head('GET /all/x HTTP/1.1')))).toEqual([502]);
  });

  it('is data within a body', async () => {
    const body = 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3);
    upstreamResponse = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`, () => socket.write(body));
    };
    const [got] = await responsesTo(head('GET /all/x HTTP/1.1'));
    expect([got?.status, got?.body.toString()]).toEqual([200, body]);
  });
});

describe('a trailer that closes the connection', () => {
  it('sends the next request once on another connection', async () => {
    const chunks = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nConnection: close\r\n\r\n';
    upstreamResponse = (socket, { line }) => void socket.write(line.startsWith('GET') ? chunks : OK);
    for (let index = 0; index < 5; index += 1) {
      expect(statuses(await responsesTo(head('GET /all/x HTTP/1.1')))).toEqual([200]);
      const before = upstream.messages.length;
      expect(statuses(await responsesTo(head('POST /all/y HTTP/1.1', 'Content-Length: 0')))).toEqual([200]);
      expect(upstream.messages.slice(before).map(({ line }) => line)).toEqual(['POST /all/y HTTP/1.1']);
    }
  });
});
