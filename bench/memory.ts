/**
 * Measures the memory of the gateway after many requests, and with clients that stop reading.
 *
 *     npm run bench:memory
 *     npm run bench:memory -- --requests 400000
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measure } from './load.ts';
import { makeKeys } from './manifest.ts';
import { type Bench, type Subject, startSubject, startUpstream, stopAll } from './subjects.ts';

const STALLED_CLIENTS = 50;

const { values } = parseArgs({ options: { requests: { type: 'string', default: '2000000' } } });

const folder = mkdtempSync(join(tmpdir(), 'memory-'));
const keys = await makeKeys(folder);
const bench: Bench = { folder, keys, children: [], upstream: '' };
try {
  const running = { ...bench, upstream: await startUpstream(bench) };
  await afterManyRequests(await start(running), Number(values.requests));
  await withStalledClients(await start(running));
} finally {
  await stopAll(bench);
}

async function start(running: Bench): Promise<Subject> {
  const subject = await startSubject('gateway', running);
  if (subject === undefined) throw new Error('the gateway did not start');
  return subject;
}

async function afterManyRequests({ url, pid }: Subject, wanted: number): Promise<void> {
  const load = {
    method: 'GET',
    connections: 64,
    seconds: 5,
    headers: { Authorization: `Bearer ${keys.token}` },
  } as const;
  let served = 0;
  let early: number | undefined;
  while (served < wanted) {
    const { requestsPerSecond } = await measure({ ...load, url: `${url}/api/protected/small` }, folder);
    served += requestsPerSecond * load.seconds;
    if (early === undefined && served >= wanted / 10) early = residentMb(pid);
    say(`${Math.round(served).toLocaleString('en')} requests: ${residentMb(pid).toFixed(0)} MB\n`);
  }
  say(
    `after ${wanted} requests against after a tenth of them: ${(residentMb(pid) / (early ?? Number.NaN)).toFixed(3)}\n`,
  );
}

/** Opens connections that request 100 MB each and read nothing. */
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
  let most = 0;
  for (let look = 0; look < 20; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    most = Math.max(most, residentMb(pid));
  }
  for (const socket of sockets) socket.destroy();
  say(
    `${STALLED_CLIENTS} clients that stopped reading responses of 100 MB: ${most.toFixed(0)} MB at most, ${before.toFixed(0)} MB before\n`,
  );
}

/** Returns the resident memory of a process, from `/proc`. */
function residentMb(pid: number): number {
  const [, kilobytes = 'NaN'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

function say(text: string): void {
  process.stdout.write(text);
}
