import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { valuesOf } from '../support/message.ts';
import { head, sendRequest } from '../support/raw.ts';
import { startWireUpstream, type WireUpstream } from '../support/upstream.ts';

/** The upstream responds with the headers that the query of a request has. */
let upstream: WireUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startWireUpstream(({ line }) => {
    const headers = decodeURIComponent(line.split(' ')[1]?.split('?h=')[1] ?? '');
    return `HTTP/1.1 201 Created\r\n${headers}Content-Length: 0\r\n\r\n`;
  });
  const route = (id: string, more: string) =>
    `  - { id: ${id}, method: GET, path: /${id}/**, access: public, ${more} }\n`;
  const rewritten = (replace: string, to: string) =>
    `upstreamPath: { replace: ${replace}, with: ${to}, rewriteResponses: true }`;
  gateway = await startGateway(
    `version: 1
listen: 127.0.0.1:0
upstreams:
  up: { url: '${upstream.url}' }
  virtual: { url: '${upstream.url}', host: upstream }
  named: { url: '${upstream.url}', host: app.internal }
routes:
${route('app', `upstream: up, ${rewritten('/app', '/')}`)}${route('deep/v2', `upstream: up, ${rewritten('/deep/v2', '/v2')}`)}${route(
  'moved',
  `upstream: up, ${rewritten('/moved', '/new/place')}`,
)}${route('added', `upstream: up, ${rewritten('/', '/base')}`)}${route('virtual', `upstream: virtual, ${rewritten('/virtual', '/')}`)}${route(
  'named',
  `upstream: named, ${rewritten('/named', '/')}`,
)}${route('kept', 'upstream: up, upstreamPath: { replace: /kept, with: / }, requestHeaders: { keep: [X-Forwarded-Prefix] }')}${route(
  'set',
  'upstream: up, upstreamPath: { replace: /set, with: / }, requestHeaders: { set: { X-Forwarded-Prefix: /other } }',
)}${route('plain', 'upstream: up')}`.replaceAll('id: deep/v2', 'id: deep'),
  );
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** Returns the value of a header of the response to a request, whose upstream sent it with another value. */
async function received(path: string, name: string, value: string): Promise<string | undefined> {
  const query = encodeURIComponent(`${name}: ${value}\r\n`);
  return (await sendRequest(gateway.port, head(`GET ${path}?h=${query} HTTP/1.1`)))
    .values(name.toLowerCase())
    .join(' and ');
}

describe('X-Forwarded-Prefix', () => {
  it.each([
    ['/app/7', ['/app']],
    ['/deep/v2/7', ['/deep']],
    ['/moved/7', []],
    ['/added/7', []],
    ['/kept/7', ['/kept']],
    ['/set/7', ['/other']],
    ['/plain/7', []],
  ])('of %s is %j, whatever the client sends', async (path, expected) => {
    upstream.messages.length = 0;
    const forged = ['X-Forwarded-Prefix: /evil', 'X_Forwarded_Prefix: /evil'];
    await sendRequest(gateway.port, head(`GET ${path} HTTP/1.1`, ...forged));
    const [{ headers } = { headers: [] }] = upstream.messages;
    expect(valuesOf(headers, 'x-forwarded-prefix')).toEqual(expected);
    expect(valuesOf(headers, 'x_forwarded_prefix')).toEqual([]);
  });
});

describe('a path in a response', () => {
  it.each([
    // Paths of the upstream.
    ['/app', '/7', '/app/7'],
    ['/app', '/', '/app/'],
    ['/app', '/7?next=/8#/9', '/app/7?next=/8#/9'],
    ['/app', '/a%2Fb/%5Cc', '/app/a%2Fb/%5Cc'],
    ['/deep/v2', '/v2/7', '/deep/v2/7'],
    ['/moved', '/new/place', '/moved'],
    ['/moved', '/new/place/7', '/moved/7'],
    ['/moved', '/new/place?a', '/moved?a'],
    ['/added', '/base', '/'],
    ['/added', '/base/x', '/x'],
    // Paths that the application has mapped itself, or that are outside of the prefix.
    ['/app', '/app/7', '/app/7'],
    ['/app', '/app', '/app'],
    ['/app', '/apple', '/app/apple'],
    ['/deep/v2', '/deep/v2/7', '/deep/v2/7'],
    ['/deep/v2', '/v1/7', '/v1/7'],
    ['/deep/v2', '/v2%2F7', '/v2%2F7'],
    ['/moved', '/new/places', '/new/places'],
    ['/moved', '/', '/'],
    // References that have another reading.
    ['/app', '//evil.example/7', '//evil.example/7'],
    ['/app', '/\\evil.example/7', '/\\evil.example/7'],
    ['/app', '/../7', '/../7'],
    ['/app', '/a/%2e%2E/7', '/a/%2e%2E/7'],
    ['/moved', '/new/place/..', '/new/place/..'],
    ['/added', '/base//evil.example/7', '/base//evil.example/7'],
    ['/added', '/base/\\evil.example/7', '/base/\\evil.example/7'],
    ['/app', '/\t/evil.example', '/\t/evil.example'],
    ['/app', '/..\t/7', '/..\t/7'],
    ['/app', '/a//7', '/app/a//7'],
    ['/app', '/a..b/.c/...', '/app/a..b/.c/...'],
    ['/app', '7', '7'],
    ['/app', '../7', '../7'],
    ['/app', '?a', '?a'],
    ['/app', '', ''],
    ['/app', 'javascript:/7', 'javascript:/7'],
    // Origins. Clients know this gateway as gateway.test.
    ['/app', 'http://gateway.test/7', 'http://gateway.test/app/7'],
    ['/app', 'HTTPS://Gateway.Test:443/7', 'HTTPS://Gateway.Test:443/app/7'],
    ['/app', 'http://gateway.test', 'http://gateway.test/app/'],
    ['/moved', 'http://gateway.test', 'http://gateway.test'],
    ['/app', 'http://gateway.test:8080/7', 'http://gateway.test:8080/7'],
    ['/app', 'http://other.example/7', 'http://other.example/7'],
    ['/app', 'http://gateway.test@other.example/7', 'http://gateway.test@other.example/7'],
    ['/app', 'http://gateway.test\\@other.example/7', 'http://gateway.test\\@other.example/7'],
    ['/named', 'http://app.internal/7?a', '/named/7?a'],
    ['/named', 'http://app.internal', '/named/'],
    ['/named', 'http://app.internal?a#b', '/named/?a#b'],
    ['/named', 'http://app.internal\\7', 'http://app.internal\\7'],
    ['/named', 'http://gateway.test/7', 'http://gateway.test/named/7'],
    ['/named', 'http://client/7', 'http://client/7'],
    ['/app', 'http://client/7', 'http://client/7'],
  ])('below %s is mapped from %s to %s', async (path, value, expected) => {
    expect(await received(path, 'Location', value)).toBe(expected);
    expect(await received(path, 'Content-Location', value)).toBe(expected);
  });

  it('loses the origin of the endpoint', async () => {
    expect(await received('/virtual', 'Location', `${upstream.url}/7`)).toBe('/virtual/7');
    expect(await received('/app', 'Location', `${upstream.url}/7`)).toBe(`${upstream.url}/7`);
  });

  it('stays the same without rewriteResponses, and in other headers', async () => {
    expect(await received('/kept', 'Location', '/7')).toBe('/7');
    expect(await received('/app', 'Link', '/7')).toBe('/7');
  });

  it.each([
    ['/app', 'a=b; Path=/; Secure', 'a=b; Path=/app; Secure'],
    ['/app', 'a=b;path = /x ;HttpOnly', 'a=b;path = /app/x;HttpOnly'],
    ['/moved', 'a=b; Path=/new/place/', 'a=b; Path=/moved/'],
    ['/moved', 'a=b; Path=/', 'a=b; Path=/'],
    ['/moved', 'a=; path=/new/place; Path=/new/place/x', 'a=; path=/moved; Path=/moved/x'],
    ['/app', 'Path=/x; Domain=gateway.test', 'Path=/x; Domain=gateway.test'],
    ['/app', 'a=b', 'a=b'],
    ['/app', 'a=b; Path; Path=x; xPath=/y', 'a=b; Path; Path=x; xPath=/y'],
    ['/app', '__Host-a=b; Path=/; Secure', '__Host-a=b; Path=/; Secure'],
    ['/added', 'a=b; Path=/base', 'a=b; Path=/'],
  ])('of a cookie below %s is mapped from %s to %s', async (path, value, expected) => {
    expect(await received(path, 'Set-Cookie', value)).toBe(expected);
  });
});
