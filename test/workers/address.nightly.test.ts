import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reserveAddress } from '../../src/process/workers/shared-port.ts';
import { type CliProcess, runProcess, startCli } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { IS_DEEP } from '../support/runs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let port: number;
const started: CliProcess[] = [];
const servers: Server[] = [];

beforeEach(async () => {
  port = await freePort();
});
afterEach(async () => {
  for (const { child, result } of started.splice(0)) {
    child.kill('SIGKILL');
    await result;
  }
  for (const server of servers.splice(0)) server.close();
});

const manifest = (address: string, workers: number) => `version: 1
listen: '${address}'
server: { workers: ${workers}, stopping: { delay: 0s } }
upstreams: { up: { url: http://127.0.0.1:9 } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;

function start(address: string, workers: number): CliProcess {
  const cli = startCli(['run'], temporaryFolder('address', { 'gateway.yaml': manifest(address, workers) }));
  started.push(cli);
  return cli;
}

async function serve(address: string, workers: number): Promise<CliProcess> {
  const cli = start(address, workers);
  await cli.waitFor(/"msg":"serving"/);
  return cli;
}

async function listen(options: object): Promise<Server> {
  const server = createServer();
  servers.push(server);
  server.listen(options);
  await once(server, 'listening');
  return server;
}

const refusal = (address: string) =>
  `signing-gateway: cannot listen on ${address}: another process listens there; change "listen" in the manifest, or use --listen\n`;

const hasIpv6 = readFileSync('/proc/net/dev', 'latin1').length > 0 && (await canListen('::1'));

async function canListen(host: string): Promise<boolean> {
  try {
    await once(createServer().listen(0, host).unref(), 'listening');
    return true;
  } catch {
    return false;
  }
}

describe('a gateway with workers', () => {
  const pairs: [first: string, second: string, firstWorkers: number, secondWorkers: number][] = [
    ['127.0.0.1', '127.0.0.1', 2, 2],
    ['127.0.0.1', '127.0.0.1', 1, 2],
    ['127.0.0.1', '127.0.0.1', 2, 1],
    ['0.0.0.0', '127.0.0.1', 2, 2],
    ['127.0.0.1', '0.0.0.0', 2, 2],
    ...(hasIpv6
      ? ([
          ['[::]', '127.0.0.1', 2, 2],
          ['127.0.0.1', '[::]', 2, 2],
          ['[::1]', '[::1]', 2, 2],
        ] satisfies [string, string, number, number][])
      : []),
  ];

  it.each(pairs)('on %s is the only one: another one on %s is refused (%i and %i workers)', async (...pair) => {
    const [first, second, firstWorkers, secondWorkers] = pair;
    await serve(`${first}:${port}`, firstWorkers);
    const folder = temporaryFolder('address', { 'gateway.yaml': manifest(`${second}:${port}`, secondWorkers) });
    expect(await runProcess(['run'], folder)).toMatchObject({ code: 2, err: refusal(`${second}:${port}`) });
  });

  it('starts again at once on the port of one that has stopped', async () => {
    for (let turn = 0; turn < 2; turn += 1) {
      const cli = await serve(`127.0.0.1:${port}`, 2);
      cli.child.kill('SIGTERM');
      expect(await cli.result).toMatchObject({ code: 0, err: '' });
    }
  });

  it('is the only one of two that start at the same time', async () => {
    for (let turn = 0; turn < (IS_DEEP ? 5 : 2); turn += 1) {
      const pair = [start(`127.0.0.1:${port}`, 2), start(`127.0.0.1:${port}`, 2)];
      const loser = await Promise.race(pair.map(async (cli) => ({ cli, ...(await cli.result) })));
      expect(loser).toMatchObject({ code: 2, err: refusal(`127.0.0.1:${port}`) });
      const winner = pair.find((cli) => cli !== loser.cli) as CliProcess;
      await winner.waitFor(/"msg":"serving"/);
      winner.child.kill('SIGTERM');
      expect((await winner.result).code).toBe(0);
    }
  });
});

describe('the reservation of an address', () => {
  it('refuses an address that another program uses', async () => {
    await listen({ host: '127.0.0.1', port });
    await expect(reserveAddress('127.0.0.1', port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('refuses an address that several listeners of another program share', async () => {
    await listen({ host: '127.0.0.1', port, reusePort: true });
    await listen({ host: '127.0.0.1', port, reusePort: true });
    await expect(reserveAddress('0.0.0.0', port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('lets one process after the other check the address', async () => {
    let holders = 0;
    const check = async () => {
      const release = await reserveAddress('127.0.0.1', port);
      holders += 1;
      expect(holders).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      holders -= 1;
      release();
    };
    await Promise.all(Array.from({ length: 10 }, check));
  });

  it('is not needed for port 0', async () => {
    (await reserveAddress('127.0.0.1', 0))();
  });

  it('is late if a stranger keeps the name of the lock', async () => {
    await listen({ path: `\0signing-gateway-port-${port}` });
    const release = await reserveAddress('127.0.0.1', port);
    release();
  });
});
