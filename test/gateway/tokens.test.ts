import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { head, sendRequest } from '../support/raw.ts';
import { startTokenServices, TABLE, TOKEN_ENV, type TokenServices } from './token-table.ts';

let services: TokenServices;
const gateways: Partial<Record<string, TestGateway>> = {};

beforeAll(async () => {
  services = await startTokenServices();
  for (const [method, manifest] of Object.entries(services.manifests))
    gateways[method] = await startGateway(manifest, TOKEN_ENV);
});

afterAll(async () => {
  for (const gateway of Object.values(gateways)) await gateway?.close();
  await services.close();
});

describe.each(['jwt', 'introspection', 'userinfo'] as const)('token verification by %s', (method) => {
  it('is tested with every kind of token', () => {
    expect(Object.keys(TABLE).sort()).toEqual(['none', ...Object.keys(services.tokens)].sort());
  });

  it.each(Object.keys(TABLE))('returns the expected statuses for a token: %s', async (kind) => {
    const token = kind === 'none' ? '' : (services.tokens[kind]?.[method === 'jwt' ? 'jwt' : 'opaque'] ?? '');
    const credentials = token === '' ? [] : [`Authorization: Bearer ${token}`];
    const status = async (line: string, headers: string[], body = '') =>
      (await sendRequest(gateways[method]?.port ?? 0, head(`${line} HTTP/1.1`, ...headers) + body)).status;
    services.up.requests.length = 0;
    const statuses = [
      await status('GET /open', credentials),
      await status('GET /closed', credentials),
      await status('POST /login', [`Content-Length: ${token.length}`], token),
    ];
    expect(statuses).toEqual(TABLE[kind]?.[method]);
    const forwarded = services.up.requests.map(({ url }) => url);
    expect(forwarded.includes('/closed')).toBe(TABLE[kind]?.[method][1] === 200);
  });

  it('sends at most one request for many concurrent ones, and logs no token or secret', async () => {
    const gateway = gateways[method];
    services.identity.requests.length = 0;
    const token = method === 'jwt' ? await services.issuer.token({ sub: 'many' }) : 'opaque-valid';
    const line = head('GET /closed HTTP/1.1', `Authorization: Bearer ${token}`);
    const responses = await Promise.all(Array.from({ length: 20 }, () => sendRequest(gateway?.port ?? 0, line)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(services.identity.requests.length).toBeLessThanOrEqual(1);
    const log = JSON.stringify(gateway?.lines);
    for (const { jwt, opaque } of Object.values(services.tokens)) {
      if (jwt.length > 10) expect(log).not.toContain(jwt);
      if (opaque.length > 10) expect(log).not.toContain(opaque);
    }
  });
});

it.each(['introspection', 'userinfo'])(
  'the access log has the reason of an unreachable %s endpoint',
  async (method) => {
    const token = services.tokens['of an unreachable issuer']?.opaque;
    await sendRequest(gateways[method]?.port ?? 0, head('GET /closed HTTP/1.1', `Authorization: Bearer ${token}`));
    expect(gateways[method]?.lines.at(-1)).toMatchObject({ refusal: 'keys_unavailable', reason: 'connection_closed' });
  },
);
