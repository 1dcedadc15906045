import { expect, it } from 'vitest';
import { forkGateway } from '../support/forked.ts';
import { manifest } from '../support/gateway.ts';
import { startIssuer } from '../support/issuer.ts';
import { keepAliveHead, Wire } from '../support/raw.ts';
import { startUpstream } from '../support/upstream.ts';

const ROUTES = `  - { id: public, method: GET, path: '/public/{id}', upstream: up, access: public }
  - { id: things, method: GET, path: '/things/{id}', upstream: up, access: protected }
`;
const WARM_UP = 100;
const COUNTED = 20;

it('passes at most 30 files and 120 calls for a protected GET with a known token', async () => {
  const issuer = await startIssuer();
  const upstream = await startUpstream((_request, response) => void response.end('ok'));
  const gateway = await forkGateway(manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl }));
  const head = keepAliveHead('GET /things/7?x=1 HTTP/1.1', `Authorization: Bearer ${await issuer.token()}`);
  const wire = await Wire.open(gateway.port);
  const request = async (times: number) => {
    for (let turn = 0; turn < times; turn += 1) expect((await wire.write(head).response()).status).toBe(200);
  };
  try {
    await request(WARM_UP);
    await gateway.calls();
    await request(COUNTED);
    // Timers run now and then.
    const walk = (await gateway.calls()).filter(({ count }) => count >= COUNTED);
    const calls = walk.map(({ count }) => Math.round(count / COUNTED));
    const list = walk.map(({ file, name }, index) => `${file} ${name} ${calls[index]}`).join('\n');
    expect(new Set(walk.map(({ file }) => file)).size, list).toBeLessThanOrEqual(30);
    expect(
      calls.reduce((sum, count) => sum + count, 0),
      list,
    ).toBeLessThanOrEqual(120);
    expect(walk.map(({ name }) => name)).toContain('authorize');
  } finally {
    wire.socket.destroy();
    await gateway.close();
    await upstream.close();
    await issuer.close();
  }
});
