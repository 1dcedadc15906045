import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_ENDPOINTS } from '../../src/admin/endpoints.ts';
import { type CliProcess, startCli } from '../support/cli.ts';
import { AUDIENCE, ISSUER, type Issuer, startIssuer } from '../support/issuer.ts';
import { exchangeBytes, head } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** A secret of a client, unlike any other text. It is lower-case because some outputs fold the case. */
const SECRET = 'sentinel7f3a9c';
const ADMIN_TOKEN = '7mWq2vXc9RtLkP4zGhN8';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: { listen: 127.0.0.1:0, token: '\${ADMIN_TOKEN}' }
server: { stopping: { delay: 0s } }
upstreams:
  up: { url: '\${UP}' }
auth:
  tokens: { jwt: { jwks: '\${JWKS}', algorithms: [ES256], issuer: '${ISSUER}', audience: ${AUDIENCE} } }
  role: { claim: /company_role, allow: [admin, user], message: admins and users only }
schemas:
  Note: { type: object, properties: { text: { type: string, maxLength: 3 } }, additionalProperties: { type: integer } }
routes:
  - { id: open, method: any, path: /open/**, upstream: up, access: public, websocket: true }
  - { id: private, method: any, path: '/private/{id}', upstream: up, access: protected }
  - { id: strict, method: POST, path: /strict, upstream: up, access: public, body: { schema: { $ref: '#/schemas/Note' } } }
  - { id: reported, method: POST, path: /reported, upstream: up, access: public, validation: report, body: { schema: { $ref: '#/schemas/Note' } }, query: { properties: { page: { type: integer } }, unknown: refuse } }
  - { id: typed, method: GET, path: '/typed/{id}', upstream: up, access: public, params: { properties: { id: { type: integer } } }, headers: { properties: { X-Level: { type: integer } } } }
  - { id: form, method: POST, path: /form, upstream: up, access: public, validation: report, body: { multipart: { parts: { file: { types: [text/csv] } } } } }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /token } }
`;

let issuer: Issuer;
let upstream: Upstream;
let cli: CliProcess;
let port: number;
let admin: string;
let token: string;
/** The text of the decision stream so far. */
let decisions = '';

beforeAll(async () => {
  issuer = await startIssuer();
  token = await issuer.token({ sub: SECRET, email: SECRET, company_role: 'user' });
  upstream = await startUpstream((request, response) => {
    response.setHeader('Set-Cookie', `session=${SECRET}`);
    response.statusMessage = SECRET;
    if (request.url === '/open/cut') request.socket.destroy();
    else response.end(request.url === '/login' ? JSON.stringify({ token }) : SECRET);
  });
  const folder = temporaryFolder('sentinel', { 'gateway.yaml': MANIFEST });
  cli = startCli(['run'], folder, { UP: upstream.url, JWKS: issuer.jwksUrl, ADMIN_TOKEN });
  const [, url = '', adminUrl = ''] = await cli.waitFor(/"url":"([^"]+)","admin":"([^"]+)".*"msg":"serving"/);
  port = Number(new URL(url).port);
  admin = adminUrl;
  follow().catch(() => undefined);
});
afterAll(async () => {
  cli.child.kill('SIGKILL');
  await cli.result;
  await upstream.close();
  await issuer.close();
});

const json = (text: string) =>
  ['Content-Type: application/json', `Content-Length: ${text.length}`, `\r\n${text}`] as const;

function post(path: string, text: string, type = 'application/json'): string {
  return head(`POST ${path} HTTP/1.1`, `Content-Type: ${type}`, `Content-Length: ${text.length}`) + text;
}

/** Requests with the secret in every part that a client can write, except the path. */
const requests = (): Record<string, string | Buffer> => ({
  query: head(`GET /open/x?token=${SECRET} HTTP/1.1`),
  'query of a path that is refused': head(`GET /open/../x?${SECRET} HTTP/1.1`),
  'query that is validated': post(`/reported?page=${SECRET}&${SECRET}=1`, '{}'),
  'header that is validated': head('GET /typed/1 HTTP/1.1', `X-Level: ${SECRET}`),
  fragment: head(`GET /open/x#${SECRET} HTTP/1.1`),
  'header value': head(
    'GET /open/x HTTP/1.1',
    `X-Secret: ${SECRET}`,
    `User-Agent: ${SECRET}`,
    `Referer: http://a/${SECRET}`,
  ),
  'header name': head('GET /open/x HTTP/1.1', `${SECRET}: 1`),
  cookie: head('GET /open/x HTTP/1.1', `Cookie: session=${SECRET}`),
  'X-Request-Id of the client': head('GET /open/x HTTP/1.1', `X-Request-Id: ${SECRET}`, `X-Forwarded-For: ${SECRET}`),
  traceparent: head('GET /open/x HTTP/1.1', `traceparent: ${SECRET}`, `tracestate: ${SECRET}=1`),
  'bearer token': head('GET /private/1 HTTP/1.1', `Authorization: Bearer ${SECRET}`),
  'other credentials': head('GET /private/1 HTTP/1.1', `Authorization: Basic ${SECRET}`),
  'claims of a valid token': head('GET /private/1 HTTP/1.1', `Authorization: Bearer ${token}`),
  'two credentials': head('GET /private/1 HTTP/1.1', `Authorization: Bearer ${SECRET}`, `Authorization: ${SECRET}`),
  body: post('/open/x', SECRET, 'text/plain'),
  'body that is validated': post('/strict', `{"text":"${SECRET}"}`),
  'member name in a body that is validated': post('/strict', `{"${SECRET}":"x"}`),
  'body whose violations are only reported': post('/reported', `{"text":"${SECRET}"}`),
  'member name in a body whose violations are only reported': post('/reported', `{"${SECRET}":"x"}`),
  'duplicate member name in a body whose violations are only reported': post(
    '/reported',
    `{"${SECRET}":1,"${SECRET}":1}`,
  ),
  'body that is not JSON': post('/reported', SECRET),
  'content type': post('/strict', '{}', `${SECRET}/${SECRET}`),
  'content type whose violation is only reported': post('/reported', '{}', `${SECRET}/${SECRET}`),
  form: post(
    '/form',
    `--${SECRET}\r\nContent-Disposition: form-data; name="${SECRET}"; filename="${SECRET}"\r\n\r\n${SECRET}\r\n--${SECRET}--\r\n`,
    `multipart/form-data; boundary=${SECRET}`,
  ),
  'content encoding': head('POST /strict HTTP/1.1', `Content-Encoding: ${SECRET}`, ...json('{}')),
  expectation: head('GET /open/x HTTP/1.1', `Expect: ${SECRET}`),
  host: `GET /open/x HTTP/1.1\r\nHost: ${SECRET}\r\nConnection: close\r\n\r\n`,
  'invalid host': `GET /open/x HTTP/1.1\r\nHost: ${SECRET}@x\r\nConnection: close\r\n\r\n`,
  'request target with a host': `GET http://u:${SECRET}@a/open/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  upgrade: head('GET /open/x HTTP/1.1', `Upgrade: ${SECRET}`),
  connect: `CONNECT ${SECRET}:1 HTTP/1.1\r\nHost: a\r\n\r\n`,
  method: `${SECRET.toUpperCase()} /open/x HTTP/1.1\r\nHost: a\r\n\r\n`,
  version: `GET /open/x HTTP/${SECRET}\r\nHost: a\r\n\r\n`,
  'transfer coding': head('POST /open/x HTTP/1.1', `Transfer-Encoding: ${SECRET}`),
  'chunk extension': `${head('POST /open/x HTTP/1.1', 'Transfer-Encoding: chunked')}1;${SECRET}\r\nx\r\n0\r\n${SECRET}: 1\r\n\r\n`,
  'credentials at login': post('/login', `{"password":"${SECRET}"}`),
  'request to an upstream that fails': head(`GET /open/cut?${SECRET} HTTP/1.1`, `Cookie: ${SECRET}`),
  'preflight request': head(
    'OPTIONS /open/x HTTP/1.1',
    `Origin: http://${SECRET}`,
    `Access-Control-Request-Method: ${SECRET}`,
  ),
  'bytes that are not a request': `${SECRET}\r\n\r\n`,
  'bytes of TLS': Buffer.concat([Buffer.from([0x16, 3, 1, 0, 100]), Buffer.from(SECRET)]),
});

const HEADERS = { Authorization: `Bearer ${ADMIN_TOKEN}` };

/** Reads the decision stream until the gateway closes it. */
async function follow(): Promise<void> {
  const { body } = await fetch(`${admin}/decisions`, { headers: HEADERS });
  const text = new TextDecoder();
  for await (const chunk of body ?? []) decisions += text.decode(chunk, { stream: true });
}

/** Returns everything that an operator can read. */
async function readAll(): Promise<string> {
  const paths = ADMIN_ENDPOINTS.filter(({ method, path }) => method === 'GET' && path !== '/decisions');
  const responses = paths.map(({ path }) => fetch(admin + path, { headers: HEADERS }));
  const texts = await Promise.all(responses.map(async (response) => (await response).text()));
  return [cli.out(), cli.err(), decisions, ...texts].join('\n');
}

describe('a secret of a client', () => {
  it('appears in no log line, metric or admin API response, whatever part of the request contains it', async () => {
    for (const [name, bytes] of Object.entries(requests())) {
      const before = cli.out();
      await exchangeBytes(port, bytes);
      await eventually(`the log line of: ${name}`, () => cli.out() !== before);
      expect([name, (await readAll()).toLowerCase().includes(SECRET)]).toEqual([name, false]);
    }
    const [last = ''] =
      cli
        .out()
        .match(/"id":"[^"]+"/g)
        ?.slice(-1) ?? [];
    await eventually('the last decision', () => decisions.includes(last));
    const all = await readAll();
    expect(all.toLowerCase()).not.toContain(SECRET);
    for (const part of [...token.split('.'), ADMIN_TOKEN]) expect(all).not.toContain(part);
  });

  it('in the path of a public route, or of no route, appears nowhere', async () => {
    for (const [path, member] of [
      [`/open/${SECRET}`, '"route":"open"'],
      [`/typed/${SECRET}`, '"route":"typed"'],
      [`/${SECRET}`, '"refusal":"route_unknown"'],
    ] as const) {
      const before = cli.out().length;
      await exchangeBytes(port, head(`GET ${path} HTTP/1.1`));
      await eventually('the log line', () => cli.out().includes(member, before));
    }
    expect(await readAll()).not.toContain(SECRET);
  });

  it('in the path of a protected route appears only in the path member of the log line', async () => {
    const path = `/private/${SECRET}`;
    const before = cli.out().length;
    await exchangeBytes(port, head(`GET ${path} HTTP/1.1`));
    await eventually('the log line', () => cli.out().includes('"route":"private"', before));
    const line = cli.out().slice(before);
    expect(line).toContain(`"path":"${path}"`);
    expect(line.replace(`"path":"${path}"`, '')).not.toContain(SECRET);
    const all = (await readAll()).slice(cli.out().length);
    expect(all.replaceAll(/"path":"[^"]*"/g, '')).not.toContain(SECRET);
  });

  it('in a WebSocket handshake or message appears nowhere', async () => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    // A socket that is not read ends only if the gateway resets the connection.
    socket.resume();
    const before = cli.out();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    socket.end(
      head(
        'GET /open/x HTTP/1.1',
        'Upgrade: websocket',
        key,
        'Sec-WebSocket-Version: 13',
        `Sec-WebSocket-Protocol: ${SECRET}`,
      ).replace('close', 'Upgrade') + SECRET,
    );
    await closed;
    await eventually('the log line', () => cli.out() !== before);
    expect(cli.out().slice(before.length)).not.toContain(SECRET);
  });
});
