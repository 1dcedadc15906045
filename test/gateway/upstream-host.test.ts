import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { startGateway, worldOf } from '../support/gateway.ts';
import { valuesOf } from '../support/message.ts';
import { head, sendRequest } from '../support/raw.ts';
import { startWireUpstream, type WireUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const HANDSHAKE = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

let upstream: WireUpstream;

beforeAll(async () => {
  upstream = await startWireUpstream(() => OK);
});

afterAll(() => upstream.close());

function manifestWith(host: string): string {
  const route = '{ id: x, method: GET, path: /x, upstream: up, access: public, websocket: true }';
  return `version: 1\nlisten: 127.0.0.1:0\nupstreams: { up: { url: '${upstream.url}', host: ${host} } }\nroutes: [${route}]\n`;
}

/** Sends a request to a gateway whose upstream has this `host`. Returns the values of `Host` and `X-Forwarded-Host` at the upstream. */
async function hostsWith(host: string, bytes: string) {
  const gateway = await startGateway(manifestWith(host));
  try {
    upstream.messages.length = 0;
    await sendRequest(gateway.port, bytes);
    const [message] = upstream.messages;
    if (message === undefined) throw new Error('no request reached the upstream');
    return { host: valuesOf(message.headers, 'host'), forwarded: valuesOf(message.headers, 'x-forwarded-host') };
  } finally {
    await gateway.close();
  }
}

describe('the Host of a request to an upstream', () => {
  const address = () => new URL(upstream.url).host;

  it.each([
    ['that of the client by default', 'client', () => 'public.example:81'],
    ['that of the endpoint', 'upstream', address],
    ['a fixed one', 'api.partner.example', () => 'api.partner.example'],
    ['a fixed one with a port', 'API.partner.example:8443', () => 'API.partner.example:8443'],
  ])('is %s, and X-Forwarded-Host is that of the client', async (_case, host, expected) => {
    const expectation = { host: [expected()], forwarded: ['public.example:81'] };
    const own = 'Host: public.example:81';
    expect(await hostsWith(host, `GET /x HTTP/1.1\r\n${own}\r\nConnection: close\r\n\r\n`)).toEqual(expectation);
    // The name in another spelling, and a handshake.
    expect(await hostsWith(host, `GET /x HTTP/1.1\r\nhOST: public.example:81\r\nConnection: close\r\n\r\n`)).toEqual(
      expectation,
    );
    const handshake = [own, ...HANDSHAKE, KEY].join('\r\n');
    expect(await hostsWith(host, `GET /x HTTP/1.1\r\n${handshake}\r\n\r\n`)).toEqual(expectation);
  });

  it.each([
    ['client', address],
    ['upstream', address],
    ['api.partner.example', () => 'api.partner.example'],
  ])('is there with %s, also without one of the client', async (host, expected) => {
    expect(await hostsWith(host, 'GET /x HTTP/1.0\r\n\r\n')).toEqual({ host: [expected()], forwarded: [] });
  });

  it('cannot be named in Connection', async () => {
    const bytes = head('GET /x HTTP/1.1').replace('Connection: close', 'Connection: close, host');
    expect((await hostsWith('api.partner.example', bytes)).host).toEqual(['api.partner.example']);
  });
});

/** Returns the rules of the problems of a manifest with this host. */
function problemsOf(host: string): string[] {
  const { problems } = load({ path: 'gateway.yaml', text: manifestWith(host) }, worldOf());
  return problems.map(({ rule }) => rule);
}

describe('a host that is none', () => {
  it.each([
    'https://partner.example',
    'signer@partner.example',
    'partner.example:99999',
    'partner.example:0',
    '"partner.example\\r\\nX: 1"',
    '"*.partner.example"',
    'Client',
    'UPSTREAM',
  ])('%s is a problem', (host) => {
    expect(problemsOf(host)).toEqual(['upstream-url']);
  });

  it.each(['partner.example:80', "'[::1]:8080'", '127.0.0.1', 'localhost'])('%s is a host', (host) => {
    expect(problemsOf(host)).toEqual([]);
  });
});
