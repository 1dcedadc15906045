import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Issuer, startIssuer } from '../../support/issuer.ts';
import { head, openSocket, sendRequest } from '../../support/raw.ts';
import { eventually } from '../../support/site.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

let issuer: Issuer;
let keys: Upstream;
let upstream: Upstream;
let gateway: TestGateway;
const waiting: ServerResponse[] = [];

beforeAll(async () => {
  issuer = await startIssuer();
  keys = await startUpstream((_request, response) => void waiting.push(response));
  upstream = await startUpstream((_request, response) => {
    response.statusCode = 403;
    response.end();
  });
  const routes = `  - { id: private, method: GET, path: /private, upstream: up, access: protected, rateLimits: [caller] }
rateLimits:
  caller: { key: subject, allow: 3 per 24h, count: failures }
`;
  gateway = await startGateway(manifest(routes, { up: upstream.url, jwks: keys.url }));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
  await keys.close();
  await issuer.close();
});

it('does not count requests whose clients left while their tokens were verified', async () => {
  const bytes = head('GET /private HTTP/1.1', `Authorization: Bearer ${await issuer.token()}`);
  const sockets = await Promise.all(Array.from({ length: 5 }, () => openSocket(gateway.port)));
  for (const socket of sockets) socket.write(bytes);
  await eventually('the keys are requested', () => waiting.length > 0);
  for (const socket of sockets) socket.destroy();
  await eventually('the exchanges end', () => gateway.lines.length === 5);
  for (const response of waiting) response.end(JSON.stringify({ keys: issuer.keys }));
  for (const status of [403, 403, 403, 429]) expect((await sendRequest(gateway.port, bytes)).status).toBe(status);
  expect(upstream.requests).toHaveLength(3);
});
