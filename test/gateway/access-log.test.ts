import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/engine/gateway/gateway.ts';
import { load } from '../../src/engine/load.ts';
import { manifest, worldOf } from '../support/gateway.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { chunked, head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { eventually, RESPOND_OK } from '../support/site.ts';
import { type Respond, startUpstream, type Upstream } from '../support/upstream.ts';

const ROUTES = `  - { id: open, method: any, path: /open/**, upstream: up, access: public }
  - { id: private, method: any, path: /private/**, upstream: up, access: protected }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /token } }
  - { id: strict, method: POST, path: /strict, upstream: up, access: public, body: { schema: { type: object } } }
`;
const SECRET = 'SENTINEL';

let issuer: Issuer;
let upstream: Upstream;
let respond: Respond = RESPOND_OK;
let gateway: Gateway;
let port: number;
/** The written lines, as text. */
const raw: string[] = [];
const lines = () => raw.map((line) => JSON.parse(line));

beforeAll(async () => {
  issuer = await startIssuer();
  upstream = await startUpstream((...all) => respond(...all));
  const text = manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl, timeouts: '{ response: 1s }' });
  const { plan } = load({ path: 'gateway.yaml', text }, worldOf());
  if (plan === undefined) throw new Error('the manifest does not load');
  const silent = pino({ level: 'silent' });
  gateway = createGateway(plan, { logger: silent, writeLine: (json) => void raw.push(json), flush: () => undefined });
  port = (await gateway.listen()).port;
});

afterAll(async () => {
  await gateway.close(0);
  await upstream.close();
  await issuer.close();
});

beforeEach(() => {
  respond = RESPOND_OK;
  raw.length = 0;
});

async function lineOf(bytes: string | Buffer) {
  await sendRequest(port, bytes);
  await eventually('the access line', () => raw.length > 0);
  expect(raw).toHaveLength(1);
  return lines()[0];
}

describe('the access log line', () => {
  it('of a completed request has exactly these members', async () => {
    const token = await issuer.token();
    const before = Date.now();
    const line = await lineOf(head('POST /open/x?a=1 HTTP/1.1', 'Content-Length: 0', `Authorization: Bearer ${token}`));
    expect(line).toEqual({
      level: 30,
      time: expect.any(Number),
      msg: 'request',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      trace: expect.stringMatching(/^[0-9a-f]{32}$/),
      method: 'POST',
      path: '/open/x',
      route: 'open',
      upstream: 'up',
      status: 200,
      bytesOut: 2,
      ms: expect.any(Number),
      gatewayMs: expect.any(Number),
      upstreamMs: expect.any(Number),
      peer: '127.0.0.1',
    });
    expect(line.time).toBeGreaterThanOrEqual(before);
    expect(line.ms).toBeGreaterThanOrEqual(line.upstreamMs + line.gatewayMs - 0.002);
  });

  it('has the request id that the upstream and the body of a refusal contain', async () => {
    upstream.requests.length = 0;
    const { id } = await lineOf(head('GET /open/x HTTP/1.1'));
    expect(upstream.requests[0]?.headers).toContain(id);
    raw.length = 0;
    const refused = await sendRequest(port, head('GET /nowhere HTTP/1.1'));
    await eventually('the access line', () => raw.length > 0);
    expect(lines()[0].id).toBe(refused.json().request_id);
  });

  it.each([
    [
      '401',
      head('GET /private/x HTTP/1.1'),
      { status: 401, refusal: 'token_missing', route: 'private', path: '/private/x' },
    ],
    ['404', head('GET /nowhere HTTP/1.1'), { status: 404, refusal: 'route_unknown', path: '/nowhere' }],
    ['405', head('PROPFIND /open/x HTTP/1.1'), { status: 405, refusal: 'method_not_allowed', method: 'PROPFIND' }],
    ['400', head('GET /open/../x HTTP/1.1'), { status: 400, refusal: 'path_ambiguous', reason: 'path_dot_segment' }],
    [
      'a path that is refused',
      head('GET /open/..%2f"x?token=secret HTTP/1.1'),
      { refusal: 'path_ambiguous', refusedPath: '/open/..%2f"x' },
    ],
    [
      'one with an identifier',
      head('GET /open/../ann@example.test/7 HTTP/1.1'),
      { refusal: 'path_ambiguous', refusedPath: '/open/../*/*' },
    ],
    [
      'one with identifiers of letters',
      head('GET /open/johndoe/%2E%2e/ann.doe;annabelle/%6aohnny%2Fkowalski%20anna/OPEN/me/new HTTP/1.1'),
      { refusal: 'path_ambiguous', refusedPath: '/open/*/%2E%2e/*;*/*%2F*/OPEN/me/new' },
    ],
    [
      'a long one',
      head(`GET //${'word/'.repeat(60)} HTTP/1.1`),
      { refusal: 'path_ambiguous', refusedPath: `//${'word/'.repeat(40).slice(0, 198)}…` },
    ],
    ['417', head('GET /open HTTP/1.1', 'Expect: x'), { status: 417, refusal: 'expectation_failed' }],
    [
      '415',
      `${head('POST /strict HTTP/1.1', 'Content-Length: 2')}{}`,
      { status: 415, refusal: 'media_type_unsupported' },
    ],
    ['OPTIONS *', head('OPTIONS * HTTP/1.1'), { status: 204, method: 'OPTIONS' }],
  ])('of a response of the gateway itself has its status and refusal: %s', async (_title, bytes, members) => {
    const line = await lineOf(bytes);
    expect(line).toMatchObject(members);
    expect(line).not.toHaveProperty('upstreamMs');
    expect(line).not.toHaveProperty('aborted');
  });

  it('has no refused path with credentials or of another form', async () => {
    for (const target of ['http://ann:secret@gateway.test/a/../b', 'http://gateway.test/a/../b?secret', 'secret']) {
      raw.length = 0;
      expect(JSON.stringify(await lineOf(head(`GET ${target} HTTP/1.1`)))).not.toMatch(/secret|refusedPath/);
    }
  });

  it('of an upstream error contains the reason', async () => {
    respond = (request) => void request.socket.destroy();
    expect(await lineOf(head('GET /open/x HTTP/1.1'))).toMatchObject({
      status: 502,
      refusal: 'upstream_error',
      reason: 'upstream_connection_closed',
      upstream: 'up',
    });
    raw.length = 0;
    respond = () => undefined;
    expect(await lineOf(head('GET /open/x HTTP/1.1'))).toMatchObject({ status: 504, refusal: 'upstream_timeout' });
  });

  it('is written once for each request on a connection, also if they are pipelined', async () => {
    const wire = await Wire.open(port);
    wire.write(
      [1, 2, 3].map((n) => keepAliveHead(`GET /open/${n} HTTP/1.1`)).join('') +
        keepAliveHead('GET /private/4 HTTP/1.1'),
    );
    for (let index = 0; index < 4; index += 1) await wire.response();
    await eventually('four lines', () => raw.length === 4);
    expect(
      lines()
        .map(({ path, status }) => `${path} ${status}`)
        .sort(),
    ).toEqual(['/open/1 200', '/open/2 200', '/open/3 200', '/private/4 401']);
    expect(new Set(lines().map(({ id }) => id)).size).toBe(4);
    wire.end();
  });

  it('has `aborted` if the client disconnected', async () => {
    let onRequest = () => {};
    const requested = new Promise<void>((resolve) => {
      onRequest = resolve;
    });
    respond = () => onRequest();
    const wire = await Wire.open(port);
    wire.write(keepAliveHead('GET /open/aborted HTTP/1.1'));
    await requested;
    wire.end();
    await eventually('the access line', () => raw.length === 1);
    expect(lines()[0]).toMatchObject({ path: '/open/aborted', aborted: true });
    expect(lines()[0]).not.toHaveProperty('status');
  });

  it('has `aborted` if the response was cut off', async () => {
    respond = (_request, response) => {
      response.writeHead(200, { 'Content-Length': 100 });
      response.write('half', () => response.destroy());
    };
    expect(await lineOf(head('GET /open/x HTTP/1.1'))).toMatchObject({ status: 200, aborted: true });
  });
});

describe('hostile text', () => {
  it.each(
    [
      'GET /open/%0a%7B%22level%22:30%7D HTTP/1.1',
      'GET /open/"},{"a":"b HTTP/1.1',
      'GET /open/\\n\\u000a HTTP/1.1',
      'GET /open/%E2%80%A8%E2%80%A9 HTTP/1.1',
      "GET /open/'$(id)`&;,=: HTTP/1.1",
      'GET /open/\x1b[31m HTTP/1.1',
      'GET /open/\x00 HTTP/1.1',
      'GET /open/é\x85 HTTP/1.1',
      'GET http://[ HTTP/1.1',
      'M-SEARCH /open/x HTTP/1.1',
      '{"a":1} /open/x HTTP/1.1',
      `GET /open/${'a'.repeat(10_000)} HTTP/1.1`,
      `GET /open/x?${'%0a"'.repeat(1_000)} HTTP/1.1`,
    ].map((line) => [line.slice(0, 60), line]),
  )('in a request line never breaks a log line: %j', async (_title, line) => {
    await sendRequest(port, Buffer.from(head(line), 'latin1'));
    await sendRequest(port, head('GET /open/after HTTP/1.1'));
    await eventually('the line of the next request', () => raw.some((written) => written.includes('/open/after')));
    for (const written of raw) {
      expect(written).toMatch(/^\{[\x20-\x7e]*\}$/);
      expect(JSON.parse(written).msg).toBe('request');
    }
    expect(raw.length).toBeLessThanOrEqual(2);
  });
});

it('writes no query, token, cookie, header or body into a log line', async () => {
  const token = await issuer.token({ sub: SECRET });
  const secretRole = await issuer.token({ company_role: SECRET });
  const body = `{"password":"${SECRET}"}`;
  const length = `Content-Length: ${body.length}`;
  const headers = [`Cookie: a=${SECRET}`, `X-A: ${SECRET}`, `User-Agent: ${SECRET}`, `Referer: /${SECRET}`];
  const requests = [
    head(`GET /open/a?token=${SECRET} HTTP/1.1`, ...headers),
    head(`GET http://gateway.test/open/b?${SECRET} HTTP/1.1`, ...headers),
    head(`GET http://${SECRET}/open/c HTTP/1.1`),
    head('GET /private/a HTTP/1.1', `Authorization: Bearer ${token}`),
    head('GET /private/a HTTP/1.1', `Authorization: Bearer ${secretRole}`),
    head('GET /private/a HTTP/1.1', `Authorization: Bearer ${token}${SECRET}`),
    head('GET /private/a HTTP/1.1', `Authorization: Basic ${SECRET}`),
    head('GET /private/a HTTP/1.1', `Authorization: ${SECRET}`, `Authorization: ${SECRET}`),
    `${head('POST /login HTTP/1.1', length)}${body}`,
    `${head('POST /strict HTTP/1.1', length, 'Content-Type: application/json')}${body.slice(0, -1)}]`,
    `${head('POST /strict HTTP/1.1', length, `Content-Type: ${SECRET}`)}${body}`,
    head('POST /open/d HTTP/1.1', 'Transfer-Encoding: chunked') + chunked(body),
    head('GET /open/e HTTP/1.1', `Host: ${SECRET}`),
    head('GET /open/f HTTP/1.1', `Expect: ${SECRET}`),
    head('GET /open/g HTTP/1.1', `${SECRET}(: x`),
    head(`GET /open/h HTTP/1.1${SECRET}`),
  ];
  respond = (_request, response) => {
    response.setHeader('Set-Cookie', SECRET);
    response.statusMessage = SECRET;
    response.end(`{"token":"${secretRole}","other":"${SECRET}"}`);
  };
  for (const request of requests) await sendRequest(port, request);
  await eventually('the lines', () => raw.length >= requests.length - 2);
  const all = raw.join('\n');
  for (const secret of [SECRET, token.slice(-30), secretRole.slice(-30), token.slice(0, 30)])
    expect(all).not.toContain(secret);
  expect(all).toContain('"/open/a"');
});

describe('bytes, times and retries in the access log', () => {
  it('count request and response bodies, whether streamed, validated or refused', async () => {
    respond = (_request, response) => void response.end('x'.repeat(70_000));
    const line = await lineOf(`${head('POST /open/x HTTP/1.1', 'Content-Length: 5')}12345`);
    expect(line).toMatchObject({ bytesIn: 5, bytesOut: 70_000 });
    expect(line.ms).toBeGreaterThanOrEqual(line.gatewayMs);
    raw.length = 0;
    const type = 'Content-Type: application/json';
    const validated = await lineOf(`${head('POST /strict HTTP/1.1', type, 'Content-Length: 7')}{"a":1}`);
    expect(validated).toMatchObject({ bytesIn: 7, bytesOut: 70_000 });
    raw.length = 0;
    const { body } = await sendRequest(port, `${head('POST /strict HTTP/1.1', type, 'Content-Length: 2')}[]`);
    await eventually('the access line', () => raw.length > 0);
    expect(lines()[0]).toMatchObject({ status: 400, bytesIn: 2, bytesOut: body.length });
    expect(lines()[0]).not.toHaveProperty('gatewayMs');
  });

  it('contain no bytes for a response to HEAD', async () => {
    respond = (_request, response) => void response.setHeader('Content-Length', 9).end();
    expect(await lineOf(head('HEAD /open/x HTTP/1.1'))).not.toHaveProperty('bytesOut');
    raw.length = 0;
    expect(await lineOf(head('HEAD /nowhere HTTP/1.1'))).not.toHaveProperty('bytesOut');
  });

  it('contain the number of retries', async () => {
    let turn = 0;
    respond = (request, response) => {
      turn += 1;
      if (turn === 2) request.socket.destroy();
      else response.end('ok');
    };
    await lineOf(head('GET /open/x HTTP/1.1'));
    raw.length = 0;
    expect(await lineOf(head('GET /open/x HTTP/1.1'))).toMatchObject({ status: 200, retries: 1 });
  });
});

describe('the sampling of successful requests', () => {
  it('omits only successful requests', async () => {
    const text = manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl });
    const { plan } = load({ path: 'gateway.yaml', text: `${text}log: { sample2xx: 0 }\n` }, worldOf());
    if (plan === undefined) throw new Error('the manifest does not load');
    gateway.activate(plan);
    await sendRequest(port, head('GET /open/x HTTP/1.1'));
    await sendRequest(port, head('GET /nowhere HTTP/1.1'));
    respond = (_request, response) => void response.writeHead(503).end();
    await sendRequest(port, head('GET /open/x HTTP/1.1'));
    respond = (_request, response) => void response.writeHead(302).end();
    await sendRequest(port, head('GET /open/x HTTP/1.1'));
    await eventually('the lines', () => raw.length >= 3);
    expect(lines().map(({ status, sampled }) => [status, sampled])).toEqual([
      [404, undefined],
      [503, undefined],
      [302, undefined],
    ]);
  });

  it('writes the sample rate into each sampled line', async () => {
    const text = manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl });
    const { plan } = load({ path: 'gateway.yaml', text: `${text}log: { sample2xx: 0.5 }\n` }, worldOf());
    if (plan === undefined) throw new Error('the manifest does not load');
    gateway.activate(plan);
    for (let turn = 0; turn < 60; turn += 1) await sendRequest(port, head('GET /open/x HTTP/1.1'));
    await sendRequest(port, head('GET /nowhere HTTP/1.1'));
    await eventually('the last line', () => lines().at(-1)?.status === 404);
    // The probability that none or all lines are sampled is below 10^-15.
    expect(raw.length).toBeGreaterThan(1);
    expect(raw.length).toBeLessThan(61);
    expect(lines()[0].sampled).toBe(0.5);
  });
});
