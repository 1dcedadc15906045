/**
 * Measures the memory of the gateway after many requests and with clients that stop reading.
 *
 *     npm run bench:memory
 *     npm run bench:memory -- --requests 400000
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measure } from './load.ts';
import { createKeys } from './manifest.ts';
import { type Bench, type Subject, startSubject, startUpstream, stopAll } from './subjects.ts';

const STALLED_CLIENTS = 50;

const { values } = parseArgs({ options: { requests: { type: 'string', default: '2000000' } } });

const folder = mkdtempSync(join(tmpdir(), 'memory-'));
const keys = await createKeys(folder);
const bench: Bench = { folder, keys, children: [], upstream: '' };
try {
  const running = { ...bench, upstream: await startUpstream(bench) };
  await afterManyRequests(await start(running), Number(values.requests));
  await withStalledClients(await start(running));
} finally {
  await stopAll(bench);
  rmSync(folder, { recursive: true });
}

async function start(running: Bench): Promise<Subject> {
  const subject = await startSubject('gateway', running);
  if (subject === undefined) throw new Error('the gateway did not start');
  return subject;
}

async function afterManyRequests({ url, pid }: Subject, total: number): Promise<void> {
  const load = {
    method: 'GET',
    connections: 64,
    seconds: 5,
    headers: { Authorization: `Bearer ${keys.token}` },
  } as const;
  let served = 0;
  let early: number | undefined;
  while (served < total) {
    const { requestsPerSecond } = await measure({ ...load, url: `${url}/api/protected/small` }, folder);
    served += requestsPerSecond * load.seconds;
    if (early === undefined && served >= total / 10) early = residentMb(pid);
    print(`${Math.round(served).toLocaleString('en')} requests: ${residentMb(pid).toFixed(0)} MB\n`);
  }
  print(
    `memory after ${total} requests relative to a tenth of them: ${(residentMb(pid) / (early ?? Number.NaN)).toFixed(3)}\n`,
  );
}

/** Connects clients that request 100 MB each and do not read the response. */
async function withStalledClients({ url, pid }: Subject): Promise<void> {
  const before = residentMb(pid);
  const request = 'GET /api/public/100m HTTP/1.1\r\nHost: bench\r\n\r\n';
  const sockets: Socket[] = Array.from({ length: STALLED_CLIENTS }, () =>
    connect(Number(new URL(url).port), '127.0.0.1'),
  );
  for (const socket of sockets)
    socket
      .on('error', () => undefined)
      .pause()
      .write(request);
  let max = 0;
  for (let sample = 0; sample < 20; sample += 1) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    max = Math.max(max, residentMb(pid));
  }
  for (const socket of sockets) socket.destroy();
  print(
    `${STALLED_CLIENTS} clients that stopped reading 100 MB responses: ${max.toFixed(0)} MB at most, ${before.toFixed(0)} MB before\n`,
  );
}

/** Returns the resident memory of a process, as the kernel reports it. */
function residentMb(pid: number): number {
  const [, kilobytes = 'NaN'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

function print(text: string): void {
  process.stdout.write(text);
}
