/**
 * Measures the time that a rate limit in Redis adds to a request: at a constant rate, and while Redis hangs. Needs `redis-server`.
 *
 *     npm run bench:shared-rate-limits
 *     npm run bench:shared-rate-limits -- --rate 1000 --rounds 4
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '2' },
  },
});
const CONNECTIONS = 64;
const TIMEOUT_MS = 20;

/** A connection that sends one request at a time. */
interface Client {
  readonly socket: Socket;
  sentAt: number;
}

const folder = mkdtempSync(join(tmpdir(), 'shared-rate-limits-'));
const children: ChildProcess[] = [];
const upstream = createServer((_request, response) => void response.end('ok')).listen(0, '127.0.0.1');
try {
  await once(upstream, 'listening');
  const [redisPort, port] = await freePorts();
  const redis = start('redis-server', [
    '--port',
    String(redisPort),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--dir',
    folder,
  ]);
  writeFileSync(join(folder, 'gateway.yaml'), manifestText(port, (upstream.address() as AddressInfo).port));
  await untilOpen(redisPort);
  const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
  start(process.execPath, [main, 'run', '-c', join(folder, 'gateway.yaml')], {
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    SECRET: 'a secret of the benchmark',
  });
  await untilOpen(port);
  await compareRoutes(port);
  await measurePause(port, redis);
} finally {
  for (const child of children) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  upstream.closeAllConnections();
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Alternates between the routes, so that a machine that slows down affects both. */
async function compareRoutes(port: number): Promise<void> {
  const results = { plain: [] as number[][], limited: [] as number[][] };
  for (let round = 0; round <= Number(values.rounds); round += 1)
    for (const route of ['plain', 'limited'] as const) {
      const times = await sendAtRate(port, route, Number(values.seconds));
      // The first round warms up.
      if (round > 0) results[route].push(times);
    }
  print(`${values.rate} requests per second, ms, of ${values.rounds} rounds:\n`);
  print('           median p50, p99; lowest p50, p99\n');
  const figures = (rounds: readonly number[][]) =>
    [0.5, 0].flatMap((position) => [0.5, 0.99].map((share) => ofRounds(rounds, share, position)));
  const plain = figures(results.plain);
  const limited = figures(results.limited);
  const rows = { plain, limited, added: limited.map((ms, index) => ms - (plain[index] ?? 0)) };
  for (const [name, row] of Object.entries(rows))
    print(`  ${name.padEnd(8)} ${row.map((ms) => ms.toFixed(3)).join(' ')}\n`);
}

/** Stops Redis under load. */
async function measurePause(port: number, redis: ChildProcess): Promise<void> {
  redis.kill('SIGSTOP');
  const paused = await sendAtRate(port, 'limited', 3);
  const plain = await sendAtRate(port, 'plain', 3);
  const waits = paused.filter((time) => time >= TIMEOUT_MS).length;
  const later = paused.slice(Number(values.rate));
  print(
    `Redis is stopped, timeout ${TIMEOUT_MS} ms: ${waits} of ${paused.length} requests took ${TIMEOUT_MS} ms or longer, `,
  );
  print(`the longest ${Math.max(...paused).toFixed(1)} ms\n`);
  print(
    `  after the first second, p99: ${quantile(later, 0.99).toFixed(3)}; plain: ${quantile(plain, 0.99).toFixed(3)}\n`,
  );
  redis.kill('SIGCONT');
}

/** Sends requests at a constant rate, and returns their times in milliseconds in the order of their responses. */
async function sendAtRate(port: number, route: string, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const idle: Client[] = [];
  const clients = Array.from({ length: CONNECTIONS }, () => {
    const client: Client = { socket: connect(port, '127.0.0.1'), sentAt: 0 };
    client.socket.setNoDelay().on('data', () => {
      times.push(performance.now() - client.sentAt);
      idle.push(client);
    });
    return client;
  });
  await Promise.all(clients.map(({ socket }) => once(socket, 'connect')));
  idle.push(...clients);
  const request = `GET /${route} HTTP/1.1\r\nHost: bench\r\nX-Tenant: t\r\n\r\n`;
  const total = Number(values.rate) * seconds;
  const start = performance.now();
  for (let sent = 0; sent < total; await sleep(1)) {
    const due = Math.min(total, ((performance.now() - start) / 1_000) * Number(values.rate));
    for (; sent < due; sent += 1) {
      const client = idle.shift();
      if (client === undefined) break;
      client.sentAt = performance.now();
      client.socket.write(request);
    }
  }
  while (times.length < total) await sleep(5);
  for (const { socket } of clients) socket.destroy();
  return times;
}

function manifestText(port: number, upstreamPort: number): string {
  return `version: 1
listen: 127.0.0.1:${port}
upstreams: { up: { url: 'http://127.0.0.1:${upstreamPort}' } }
stores: { counters: { redis: '\${REDIS_URL}', secret: '\${SECRET}', timeout: ${TIMEOUT_MS}ms } }
rateLimits:
  tenant: { key: { header: X-Tenant }, missing: refuse, allow: 900000 per 1s, store: counters }
routes:
  - { id: plain, method: GET, path: /plain, upstream: up, access: public }
  - { id: limited, method: GET, path: /limited, upstream: up, access: public, rateLimits: [tenant] }
`;
}

function start(command: string, args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: 'ignore' });
  children.push(child);
  return child;
}

async function freePorts(): Promise<[number, number]> {
  const servers = [createTcpServer(), createTcpServer()];
  const ports = await Promise.all(
    servers.map(async (server) => {
      await once(server.listen(0, '127.0.0.1'), 'listening');
      return (server.address() as AddressInfo).port;
    }),
  );
  for (const server of servers) server.close();
  return ports as [number, number];
}

async function untilOpen(port: number): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise((resolve) =>
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false)),
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(50);
  }
  throw new Error(`nothing listens on port ${port}`);
}

/** Returns a quantile of the rounds' quantiles. The lowest is that of the least disturbed round. */
function ofRounds(rounds: readonly number[][], share: number, position: number): number {
  return quantile(
    rounds.map((times) => quantile(times, share)),
    position,
  );
}

function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function print(text: string): void {
  process.stdout.write(text);
}
