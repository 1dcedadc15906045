import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AnyRequest } from './any-request.ts';
import { ComparedGateways, type Surroundings, startSurroundings } from './compared-gateways.ts';

let surroundings: Surroundings;
beforeAll(async () => {
  surroundings = await startSurroundings();
});
afterAll(() => surroundings.close());

const ACTIVE = {
  version: 1,
  listen: '127.0.0.1:0',
  upstreams: { up: { url: 'http://127.0.0.1:9' } },
  auth: {
    tokens: {
      jwt: {
        jwks: 'http://127.0.0.1:9/jwks.json',
        algorithms: ['ES256'],
        issuer: 'https://issuer.test',
        audience: 'signing-gateway',
      },
    },
    role: { claim: '/company_role', allow: ['admin'], message: 'no' },
  },
  rateLimits: { few: { key: 'client', allow: '5 per 1m' } },
  routes: [
    { id: 'read', method: 'GET', path: '/a', upstream: 'up', access: 'protected', rateLimits: ['few'] },
    { id: 'write', method: 'POST', path: '/a', upstream: 'up', access: 'public' },
    { id: 'ended', method: 'PUT', path: '/a', access: 'public', respond: { status: 410 }, rateLimits: ['few'] },
  ],
};

it.each([
  ['challenge', 'GET', { ...ACTIVE, auth: { ...ACTIVE.auth, realm: 'another' } }],
  ['list of methods', 'DELETE', { ...ACTIVE, routes: ACTIVE.routes.slice(0, 1) }],
  ['policy of its rate limits', 'GET', { ...ACTIVE, server: { rateLimitHeaders: 'draft-11' } }],
  ['permission for pages', 'GET', { ...ACTIVE, cors: { origins: ['https://app.example'] } }],
  ['header of all responses', 'PUT', { ...ACTIVE, server: { responseHeaders: { 'X-A': 'a' } } }],
  ['policy of its rate limits', 'PUT', { ...ACTIVE, server: { rateLimitHeaders: 'draft-11' } }],
  ['permission for pages', 'PUT', { ...ACTIVE, cors: { origins: ['https://app.example'] } }],
])('a response of the gateway itself with another %s (%s) is no same result', async (_part, method, candidate) => {
  const gateways = await ComparedGateways.start({ active: ACTIVE, candidate } as never, surroundings, 'request', true);
  const request = { method, headers: ['Origin: https://app.example'], form: 'plain' } as unknown as AnyRequest;
  const { from, to, candidate: result } = (await gateways?.send(request, '/a')) ?? {};
  await gateways?.close();
  expect([from?.status, from?.code]).toEqual([to?.status, to?.code]);
  expect(result?.result).toBe('other-status');
});
