import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { MANIFEST } from '../support/platform.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

let upstream: Upstream;
let issuer: Issuer;
let gateway: TestGateway;
let token: string;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    response.writeHead(500, 'Broken', ['Content-Type', 'application/json', 'X-Trace', 'a', 'X-Trace', 'b']);
    response.end('{"status":"error","message":"the upstream says so"}');
  });
  issuer = await startIssuer();
  const env = {
    LISTEN: '127.0.0.1:0',
    JWKS_URL: issuer.jwksUrl,
    WORKFLOWS_URL: upstream.url,
    NOTIFICATIONS_URL: upstream.url,
  };
  gateway = await startGateway(readFileSync(MANIFEST, 'utf8'), env);
  token = await issuer.token({ iss: 'https://identity.signing.example', aud: 'signing-gateway' });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  await issuer.close();
});

const mail = '{ "email": "signer@partner.example", "subject": "s", "body": "b" }';

describe('forwarding', () => {
  it.each([
    ['GET', '/api/workflows/completed/documents/list', undefined],
    ['POST', '/api/notifications/email', mail],
  ])('forwards an error of the upstream unchanged: %s %s', async (method, path, body) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const response = await fetch(gateway.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    expect([response.status, response.statusText]).toEqual([500, 'Broken']);
    expect(response.headers.get('x-trace')).toBe('a, b');
    expect(await response.text()).toBe('{"status":"error","message":"the upstream says so"}');
  });
});

describe('a forwarded request', () => {
  it('forwards token, query, Accept, Accept-Language and body unchanged', async () => {
    const query = '?page=1&page=2&search=%20a+b&empty=';
    const sent = { Authorization: `Bearer ${token}`, Accept: 'application/json', 'Accept-Language': 'et, en;q=0.5' };
    const headers = { ...sent, 'Content-Type': 'application/json' };
    await fetch(`${gateway.url}/api/notifications/email${query}`, { method: 'POST', headers, body: mail });
    const recorded = upstream.requests.at(-1);
    expect(recorded?.url).toBe(`/api/notifications/email${query}`);
    expect(recorded?.body.toString()).toBe(mail);
    const received = new Headers();
    for (let index = 0; index < (recorded?.headers.length ?? 0); index += 2) {
      received.append(recorded?.headers[index] ?? '', recorded?.headers[index + 1] ?? '');
    }
    for (const [name, value] of Object.entries(sent)) expect([name, received.get(name)]).toEqual([name, value]);
  });
});
