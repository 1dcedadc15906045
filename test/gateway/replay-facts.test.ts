import { trace as api, type Span, type TracerProvider } from '@opentelemetry/api';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGateway } from '../../src/engine/gateway/gateway.ts';
import { findRequestTracer } from '../../src/process/telemetry/opentelemetry.ts';
import { requestEventOf } from '../../src/process/telemetry/request-event.ts';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { chunked, exchangeBytes, head, sendRequest } from '../support/raw.ts';
import { eventually, RESPOND_OK } from '../support/site.ts';
import { type Respond, startUpstream, type Upstream } from '../support/upstream.ts';

const SECRET = 'SENTINEL7';
const UUID = 'f47ac10b-58cc-4372-a567-0e02b2c3d479';
const ENV = { LOG_SECRET: 'k'.repeat(32) };

const ROUTES = `  - id: open
    method: any
    path: /open/{token}
    upstream: up
    access: public
    query: { properties: { page: { type: integer }, "filter[name]": { type: string } } }
  - { id: private, method: any, path: /private, upstream: up, access: protected, websocket: true }
  - { id: settings, method: any, path: /settings, upstream: up, access: protected, roles: [admin] }
  - { id: upload, method: POST, path: /upload, upstream: up, access: public, body: { types: [Application/X.Signing, "image/*"] } }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /token } }
`;

let issuer: Issuer;
let upstream: Upstream;
let respond: Respond = RESPOND_OK;
let site: TestGateway;
let text: string;

beforeAll(async () => {
  issuer = await startIssuer();
  upstream = await startUpstream((...all) => respond(...all));
  const settings = "log: { replay: true, secret: '${LOG_SECRET}' }\ncors: { origins: ['https://app.example'] }\n";
  text = manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl }) + settings;
  site = await startGateway(text, ENV);
});
afterAll(async () => {
  await site.close();
  await upstream.close();
  await issuer.close();
});
beforeEach(() => {
  respond = RESPOND_OK;
  site.lines.length = 0;
});

async function lineOf(bytes: string) {
  await exchangeBytes(site.port, bytes);
  await eventually('the access line', () => site.lines.length > 0);
  return site.lines[0] ?? {};
}

const bearer = async (claims?: Record<string, unknown>) => `Authorization: Bearer ${await issuer.token(claims)}`;

describe('a line with log.replay', () => {
  it('has the facts in their order, before the end', async () => {
    const request = head('POST /private?page=1&Size=2 HTTP/1.1', await bearer(), 'Content-Type: Text/CSV; charset=x');
    const line = await lineOf(request);
    expect(line).toMatchObject({
      manifest: site.gateway.plan.hash.slice(0, 16),
      role: 'user',
      credential: 'bearer',
      type: 'text/csv',
      query: ['page', 'Size'],
      host: expect.stringMatching(/^[a-z0-9.:]+$/),
    });
    expect(Object.keys(line).slice(-7)).toEqual(['peer', 'manifest', 'role', 'credential', 'type', 'query', 'host']);
  });

  it.each<[string, Record<string, unknown>, unknown]>([
    ['of an allowed role', { company_role: 'admin' }, 'admin'],
    ['of a role that the route refuses', { company_role: 'user' }, 'user'],
    ['of a role that auth.role refuses', { company_role: SECRET }, 'other'],
    ['of a list, where the claim is no list', { company_role: ['admin', SECRET] }, 'other'],
    ['without a role', { company_role: undefined }, 'other'],
  ])('names the role %s', async (_title, claims, role) => {
    expect((await lineOf(head('GET /settings HTTP/1.1', await bearer(claims))))['role']).toEqual(role);
  });

  it('names all roles of a list, in the order of the manifest', async () => {
    const listed = await startGateway(text.replace('claim: /company_role', 'claim: /company_role, array: true'), ENV);
    for (const company_role of [['x', 'user', 'admin'], ['user'], [], 'admin'])
      await sendRequest(listed.port, head('GET /private HTTP/1.1', await bearer({ company_role })));
    await eventually('the lines', () => listed.lines.length === 4);
    expect(listed.lines.map(({ role }) => role)).toEqual([['admin', 'user'], 'user', 'other', 'other']);
    await listed.close();
  });

  it('names the role of the token in a login response', async () => {
    const token = await issuer.token({ company_role: 'admin' });
    respond = (_request, response) => void response.end(JSON.stringify({ token }));
    expect((await lineOf(head('POST /login HTTP/1.1')))['role']).toBe('admin');
  });

  it.each([
    ['without Authorization', [], 'none', undefined],
    ['with another scheme', ['Authorization: Basic c2VjcmV0'], 'other', undefined],
    ['with a bearer token that is not valid', ['Authorization: bearer SENTINEL7'], 'bearer', undefined],
  ])('names the kind of credential %s', async (_title, headers, credential, role) => {
    const line = await lineOf(head('GET /private HTTP/1.1', ...headers));
    expect(line['credential']).toBe(credential);
    expect(line['role']).toBe(role);
  });

  it.each([
    ['application/json', 'application/json'],
    ['Application/JSON;charset=utf-8', 'application/json'],
    ['application/x.signing', 'application/x.signing'],
    ['image/x-SENTINEL7', 'image/*'],
    ['image/png', 'image/png'],
    ['application/x-SENTINEL7', 'other'],
    ['SENTINEL7', 'other'],
  ])('names the media type of %s', async (contentType, type) => {
    expect((await lineOf(head('POST /open/x HTTP/1.1', `Content-Type: ${contentType}`)))['type']).toBe(type);
  });

  it.each<[string, unknown]>([
    ['', []],
    ['?', []],
    ['?page=1&&filter%5Bname%5D=2', ['page', 'filter[name]']],
    ['?a+b=1&x.y=2&[]=3', ['*', '*', '*']],
    ['?signature_v2=1&camelCase=2&X-Y=', ['signature_v2', 'camelCase', 'X-Y']],
    ['?page&word', ['page', '*']],
    [`?${UUID}`, ['*']],
    ['?eyJhbGciOiJIUzI1NiJ9=1&deadbeefdeadbeef&12345', ['*', '*', '*']],
    [`?${'word-'.repeat(7)}=1&%ff=1`, ['*', '*']],
    [`?${Array.from({ length: 20 }, () => 'a=1').join('&')}`, [...Array.from({ length: 16 }, () => 'a'), '*']],
  ])('lists the names of the query %s', async (query, names) => {
    expect((await lineOf(head(`GET /open/x${query} HTTP/1.1`)))['query']).toEqual(names);
  });

  it.each([
    ['preflight', 'OPTIONS /open/x HTTP/1.1', ['Origin: https://app.example', 'Access-Control-Request-Method: GET']],
    ['server-options', 'OPTIONS * HTTP/1.1', []],
    [undefined, 'OPTIONS /open/x HTTP/1.1', ['Origin: https://app.example']],
    [undefined, 'GET /open/x HTTP/1.1', []],
  ])('has the kind %s of %s', async (kind, first, headers) => {
    expect((await lineOf(head(first, ...headers)))['kind']).toBe(kind);
  });

  it('has the kind websocket of a handshake', async () => {
    const handshake = [
      'Upgrade: websocket',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
    ];
    const bytes = head('GET /private HTTP/1.1', ...handshake).replace('Connection: close', 'Connection: Upgrade');
    expect(await lineOf(bytes)).toMatchObject({ kind: 'websocket', refusal: 'token_missing', credential: 'none' });
  });

  it('of a request with an invalid head or target has only the facts that are known', async () => {
    const line = await lineOf('GET /open/x HTTP/1.1\r\nHost: a\r\nHost: SENTINEL7\r\nConnection: close\r\n\r\n');
    expect(Object.keys(line).slice(-2)).toEqual(['peer', 'manifest']);
    site.lines.length = 0;
    const target = await lineOf(head('GET /open/%2e%2e/x?page=1 HTTP/1.1'));
    expect(Object.keys(target).slice(-4)).toEqual(['peer', 'manifest', 'credential', 'host']);
    site.lines.length = 0;
    expect(await lineOf('nonsense\r\n\r\n')).not.toHaveProperty('manifest');
  });
});

it('without log.replay, a line has none of the facts', async () => {
  const plain = await startGateway(text.replace('replay: true, ', ''), ENV);
  await sendRequest(plain.port, head('GET /open/x?page=1 HTTP/1.1', 'Content-Type: text/csv'));
  await eventually('the line', () => plain.lines.length === 1);
  for (const name of ['manifest', 'role', 'credential', 'type', 'query', 'host', 'kind'])
    expect(plain.lines[0]).not.toHaveProperty(name);
  await plain.close();
});

it('no token, value, body or secret path of a request is in the log, in an event or in a span', async () => {
  const spans: string[] = [];
  // The SDK of a process: it collects every value that the gateway writes into a span.
  api.setGlobalTracerProvider(recordingProvider(spans));
  const tracer = findRequestTracer('1');
  const written: string[] = [];
  const log = { ...site.log, writeLine: (json: string) => void written.push(json) };
  const gateway = createGateway(site.gateway.plan, log, { tracer });
  const events: string[] = [];
  gateway.subscribe((record) => void events.push(JSON.stringify(requestEventOf(record))));
  const { port } = await gateway.listen();
  const token = await issuer.token({ company_role: SECRET, sub: SECRET, extra: SECRET });
  const user = await issuer.token({ sub: SECRET });
  respond = (_request, response) =>
    void response.writeHead(200, { 'X-Value': SECRET, 'Set-Cookie': `a=${SECRET}` }).end(JSON.stringify({ token }));
  const headers = (bearerToken: string) => [
    `Authorization: Bearer ${bearerToken}`,
    `Cookie: ${SECRET}`,
    `X-Forwarded-Host: ${SECRET}.example`,
    `X-Value: ${SECRET}`,
    `Content-Type: text/plain; a=${SECRET}`,
  ];
  const targets = [
    '/private',
    '/settings',
    '/login',
    '/upload',
    '/none',
    `/open/${UUID}`,
    `/open/${UUID}/x`,
    `/Open/${UUID}`,
  ];
  for (const target of targets)
    for (const bearerToken of [token, user, SECRET])
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const first = `${method} ${target}?page=${SECRET}&${SECRET}&x=${SECRET}&${UUID}=1 HTTP/1.1`;
        const framed = method === 'POST' ? ['Transfer-Encoding: chunked'] : [];
        const body = method === 'POST' ? chunked(JSON.stringify({ value: SECRET })) : '';
        await exchangeBytes(port, head(first, ...headers(bearerToken), ...framed) + body);
      }
  const count = targets.length * 12;
  await eventually('the lines', () => written.length === count && events.length === count);
  await gateway.close(0);
  api.disable();
  expect(spans.length).toBeGreaterThan(count);
  const secrets = [SECRET, SECRET.toLowerCase(), UUID, ENV.LOG_SECRET, ...token.split('.'), ...user.split('.')];
  for (const output of [written, events, spans])
    for (const secret of secrets) expect(output.filter((each) => each.includes(secret))).toEqual([]);
  expect(written.filter((each) => /"path":"\/open\/[0-9a-f]{8}-/.test(each)).length).toBeGreaterThan(count / 8);
});

function recordingProvider(values: string[]): TracerProvider {
  const record = (...all: readonly unknown[]) => void values.push(JSON.stringify(all));
  const span = {
    spanContext: () => ({ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', traceFlags: 1 }),
    setAttribute: record,
    setAttributes: record,
    setStatus: record,
    updateName: record,
    end: () => undefined,
  };
  const startSpan = (...all: readonly unknown[]) => {
    record(...all.slice(0, 2));
    return span as unknown as Span;
  };
  return { getTracer: () => ({ startSpan }) } as unknown as TracerProvider;
}
