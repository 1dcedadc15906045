/**
 * Compares one worker with several: the processor time of a request, the rate on the CPUs of this machine, and the connections that
 * each worker got. The load, the upstream and the gateway share all CPUs.
 *
 *     npm run bench -- workers
 *     npm run bench -- workers --rounds 3 --workers 1,2,4
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generator, measure } from './load.ts';
import { createKeys } from './manifest.ts';
import { readCost } from './process-cost.ts';
import { type Bench, startSubject, startUpstream, stopAll } from './subjects.ts';

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 3;

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    workers: { type: 'string', default: '1,2,4' },
  },
});

interface Round {
  readonly requestsPerSecond: number;
  readonly microsecondsPerRequest: number;
  readonly residentMb: number;
  readonly failed: number;
}

const folder = mkdtempSync(join(tmpdir(), 'workers-'));
const keys = await createKeys(folder);
const bench: Bench = { folder, keys, children: [], upstream: '' };
try {
  await main({ ...bench, upstream: await startUpstream(bench) });
} finally {
  await stopAll(bench);
  rmSync(folder, { recursive: true });
}

async function main(running: Bench): Promise<void> {
  const counts = values.workers.split(',').map(Number);
  const rounds = new Map(counts.map((count): [number, Round[]] => [count, []]));
  const subjects = new Map<number, { readonly url: string; readonly pid: number }>();
  for (const count of counts) {
    const subject = await startSubject(count === 1 ? 'gateway, 1 worker' : `gateway, ${count} workers`, running);
    if (subject !== undefined) subjects.set(count, subject);
  }
  // Subjects take turns, so a machine that slows down affects all of them. The first round warms up.
  for (let round = 0; round <= Number(values.rounds); round += 1)
    for (const [count, { url, pid }] of subjects) {
      const result = await measureRound(url, pid, round === 0 ? WARM_UP_SECONDS : Number(values.seconds));
      if (round > 0) rounds.get(count)?.push(result);
    }
  print(
    `${generator}, ${values.rounds} rounds of ${values.seconds} s, GET 0.3 kB, protected, ${CONNECTIONS} connections, `,
  );
  print(`${cpus()[0]?.model}, ${cpus().length} processors, Node ${process.version}\n\n`);
  print(
    '| workers | req/s (median) | processor µs per request | resident MB after load | failed |\n|---|---|---|---|---|\n',
  );
  for (const [count, results] of rounds) print(row(count, results));
}

async function measureRound(url: string, pid: number, seconds: number): Promise<Round> {
  const before = readCost(pid).processorMs;
  const { requestsPerSecond, failed } = await measure(
    {
      url: `${url}/api/protected/small`,
      method: 'GET',
      connections: CONNECTIONS,
      seconds,
      headers: { Authorization: `Bearer ${keys.token}` },
    },
    folder,
  );
  const { processorMs, residentMb } = readCost(pid);
  const requests = requestsPerSecond * seconds;
  return { requestsPerSecond, microsecondsPerRequest: ((processorMs - before) / requests) * 1000, residentMb, failed };
}

function row(count: number, rounds: readonly Round[]): string {
  const of = (key: keyof Round) => median(rounds.map((round) => round[key]));
  const failed = rounds.reduce((sum, round) => sum + round.failed, 0);
  const rate = Math.round(of('requestsPerSecond')).toLocaleString('en');
  return `| ${count} | ${rate} | ${of('microsecondsPerRequest').toFixed(1)} | ${of('residentMb').toFixed(0)} | ${failed} |\n`;
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function print(text: string): void {
  process.stdout.write(text);
}
