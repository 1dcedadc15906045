import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { manifest, PUBLIC_ALL, startGateway, type TestGateway, worldOf } from '../support/gateway.ts';
import { keepAliveHead, sendRequest } from '../support/raw.ts';
import { startWireUpstream, type WireUpstream } from '../support/upstream.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const OWN = 'HTTP/1.1 200 OK\r\nX-FRAME-OPTIONS: SAMEORIGIN\r\nContent-Length: 2\r\n\r\nok';
const SERVER =
  "{ responseHeaders: { X-Content-Type-Options: nosniff, X-Frame-Options: DENY, Cache-Control: 'max-age=0' } }";
const CORS = 'cors: { origins: [https://app.example] }\nroutes:';
const ORIGIN = 'Origin: https://app.example';

let upstream: WireUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startWireUpstream(({ line }) => (line.startsWith('GET /own ') ? OWN : OK));
  const routes = PUBLIC_ALL.replace('method: any, path: /**', 'method: GET, path: "/{name}"');
  gateway = await startGateway(manifest(routes, { up: upstream.url, server: SERVER }).replace('routes:', CORS));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

describe('server.responseHeaders', () => {
  it.each([
    ['a forwarded response', keepAliveHead('GET /x HTTP/1.1'), 200],
    ['another method', keepAliveHead('DELETE /x HTTP/1.1'), 405],
    ['an unknown route', keepAliveHead('GET /x/y HTTP/1.1'), 404],
    ['an ambiguous path', keepAliveHead('GET /x//y HTTP/1.1'), 400],
    ['bytes that are no request', 'nonsense\r\n\r\n', 400],
    ['OPTIONS *', keepAliveHead('OPTIONS * HTTP/1.1'), 204],
    ['a preflight', keepAliveHead('OPTIONS /x HTTP/1.1', ORIGIN, 'Access-Control-Request-Method: GET'), 204],
  ])('are in %s', async (_case, bytes, status) => {
    const response = await sendRequest(gateway.port, bytes);
    expect(response.status).toBe(status);
    expect(response.values('x-content-type-options')).toEqual(['nosniff']);
    expect(response.values('x-frame-options')).toEqual(['DENY']);
  });

  it('leave a header of the upstream, and one of a refusal, as it is', async () => {
    expect((await sendRequest(gateway.port, keepAliveHead('GET /own HTTP/1.1'))).values('x-frame-options')).toEqual([
      'SAMEORIGIN',
    ]);
    expect((await sendRequest(gateway.port, keepAliveHead('GET /x/y HTTP/1.1'))).values('cache-control')).toEqual([
      'no-store',
    ]);
  });

  it.each([
    'Content-Length',
    'connection',
    'Content-Type',
    'Date',
    'Access-Control-Allow-Origin',
    'Vary',
    'Set-Cookie',
    'WWW_Authenticate',
    'Content_Length',
    'ETag',
    'X Y',
    'Sec-WebSocket-Accept',
  ])('cannot have %s', (name) => {
    const text = manifest(PUBLIC_ALL, { up: upstream.url, server: `{ responseHeaders: { '${name}': '1' } }` });
    const { problems } = load({ path: 'gateway.yaml', text }, worldOf());
    expect(problems.map(({ rule }) => rule)).toEqual(['header']);
  });

  it('are not in a response of a route that removes them, but in its refusals', async () => {
    const route =
      '{ id: x, method: GET, path: /x, upstream: up, access: public, responseHeaders: { remove: [X-Frame-Options] } }';
    const other =
      '{ id: y, method: GET, path: /y, upstream: up, access: protected, responseHeaders: { remove: [X-Frame-Options] } }';
    const removing = await startGateway(manifest(`  - ${route}\n  - ${other}\n`, { up: upstream.url, server: SERVER }));
    try {
      const forwarded = await sendRequest(removing.port, keepAliveHead('GET /x HTTP/1.1'));
      expect(forwarded.values('x-frame-options')).toEqual([]);
      expect(forwarded.values('x-content-type-options')).toEqual(['nosniff']);
      const refused = await sendRequest(removing.port, keepAliveHead('GET /y HTTP/1.1'));
      expect([refused.status, refused.values('x-frame-options')]).toEqual([401, ['DENY']]);
    } finally {
      await removing.close();
    }
  });

  it('cannot have a line break in a value', () => {
    const text = manifest(PUBLIC_ALL, { up: upstream.url, server: '{ responseHeaders: { X-A: "1\\r\\nX-B: 2" } }' });
    expect(load({ path: 'gateway.yaml', text }, worldOf()).problems.map(({ rule }) => rule)).toEqual(['header']);
  });
});
