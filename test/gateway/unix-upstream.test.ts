import { once } from 'node:events';
import { chmodSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { explain } from '../../src/prove/explain/explain-request.ts';
import { startGateway, type TestGateway, worldOf } from '../support/gateway.ts';
import { head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let path: string;
let gateway: TestGateway;
let server: Server;
const hosts: (string | undefined)[] = [];

/** Starts a service on the socket. Each connection closes with it. */
async function startService(): Promise<void> {
  server = createServer((request, response) => {
    if (request.url !== '/health') hosts.push(request.headers.host);
    request.resume().on('end', () => response.end(`got ${request.url}`));
  });
  server.listen(path);
  await once(server, 'listening');
}

async function stopService(): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

/** Waits for the log line of a request that could not reach the service. */
const unreachable = (reason: string) =>
  eventually(`the reason ${reason}`, () => {
    const { refusal, reason: logged } = gateway.lines.at(-1) ?? {};
    return refusal === 'upstream_unreachable' && logged === `upstream_${reason}`;
  });

const statusOf = async (target: string) => (await sendRequest(gateway.port, head(`GET ${target} HTTP/1.1`))).status;

beforeAll(async () => {
  path = join(temporaryFolder('unix-upstream'), 'app.sock');
  gateway = await startGateway(`version: 1
listen: 127.0.0.1:0
upstreams:
  app: { url: 'unix:${path}' }
  named: { url: 'unix:${path}', host: upstream }
  checked: { url: 'unix:${path}', health: { path: /health, interval: 1s, healthy: 1, unhealthy: 1 } }
  connected: { url: 'unix:${path}', health: { connect: true, interval: 1s, healthy: 1, unhealthy: 1 } }
routes:
  - { id: app, method: any, path: /app, access: public, upstream: app }
  - { id: named, method: any, path: /named, access: public, upstream: named }
  - { id: checked, method: any, path: /checked, access: public, upstream: checked }
  - { id: connected, method: any, path: /connected, access: public, upstream: connected }
`);
});

beforeEach(() => startService().then(() => async () => void (server.listening && (await stopService()))));

afterAll(() => gateway.close());

describe('an upstream with a unix socket', () => {
  it('gets requests with the Host of the client, or with localhost', async () => {
    hosts.length = 0;
    const wire = await Wire.open(gateway.port);
    for (const target of ['/app', '/app', '/named']) {
      wire.write(`${keepAliveHead(`PUT ${target} HTTP/1.1`, 'Content-Length: 2')}ab`);
      expect((await wire.response()).body.toString()).toBe(`got ${target}`);
    }
    wire.end();
    expect(hosts).toEqual(['gateway.test', 'gateway.test', 'localhost']);
    expect(gateway.gateway.upstreams[0]?.endpoints[0]?.url).toBe(`unix:${path}`);
  });

  it('may disappear, leave its file behind and come back', async () => {
    expect(await statusOf('/app')).toBe(200);
    await stopService();
    expect(await statusOf('/app')).toBe(502);
    await unreachable('enoent');
    await startService();
    expect(await statusOf('/app')).toBe(200);
    await stopService();
    writeFileSync(path, '');
    expect(await statusOf('/app')).toBe(502);
    await unreachable('econnrefused');
    unlinkSync(path);
    await startService();
    expect(await statusOf('/app')).toBe(200);
  });

  it.skipIf(process.getuid?.() === 0)('is unreachable without the permission to write to it', async () => {
    chmodSync(path, 0o400);
    expect(await statusOf('/named')).toBe(502);
    await unreachable('eacces');
  });

  it('has health checks', async () => {
    const healthOf = () => gateway.gateway.upstreams.slice(2).map(({ health }) => health);
    await eventually('both pass', () => healthOf().every((health) => health === 'healthy'));
    await stopService();
    await eventually('both fail', () => healthOf().every((health) => health === 'unhealthy'));
    await startService();
    await eventually('both pass again', () => healthOf().every((health) => health === 'healthy'));
    expect(await statusOf('/checked')).toBe(200);
  });

  it('is in an explanation', async () => {
    const text = `version: 1\nupstreams: { app: { url: 'unix:/run/app.sock' } }\nroutes: [{ id: app, method: GET, path: /app, access: public, upstream: app }]\n`;
    const planned = load({ path: 'gateway.yaml', text }, worldOf());
    if (planned.plan === undefined) throw new Error(JSON.stringify(planned.problems));
    const { upstream } = await explain(
      planned,
      { method: 'GET', target: '/app', headers: [], body: undefined },
      undefined,
    );
    expect(upstream).toMatchObject({ url: 'unix:/run/app.sock/app', endpoints: ['unix:/run/app.sock'] });
  });
});
