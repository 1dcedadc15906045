/**
 * Measures the cost and the memory of local rate limits.
 *
 *     npm run bench:rate-limits
 *     npm run bench:rate-limits -- --rounds 40
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RateLimit } from '../src/engine/rate-limits/rate-limit.ts';
import { type LimitedExchange, RateLimiter } from '../src/engine/rate-limits/rate-limiter.ts';
import { measure } from './load.ts';
import { createKeys } from './manifest.ts';
import { readCost } from './process-cost.ts';
import { type Bench, type Subject, startSubject, startUpstream, stopAll } from './subjects.ts';

const SUBJECT = 'gateway, rate limit';
const PATHS = ['/api/protected/small', '/api/limited/small'] as const;
const CONNECTIONS = 32;
const VALUES = 1_000_000;

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } });

print(`${cpus()[0]?.model}, Node ${process.version}\n`);
countInProcess();
await compareRoutes();

/** Counts requests without a server around it. */
function countInProcess(): void {
  const limit: RateLimit = {
    id: 'limit',
    key: 'limit',
    kinds: ['subject'],
    stage: 'authorize',
    readValue: ({ client }) => client,
    missing: undefined,
    requests: 600,
    periodMs: 86_400_000,
    burst: 600,
    intervalMs: 144_000,
    failures: undefined,
    store: undefined,
    mode: 'report',
    reportUntil: undefined,
  };
  const failures = { ...limit, id: 'failures', key: 'failures', failures: new Set([401]) };
  const limiter = new RateLimiter(() => performance.now());
  limiter.activate([limit, failures]);
  const texts = Array.from({ length: VALUES }, (_, index) => `user-${index}@example.com`);
  const before = process.memoryUsage.rss();
  print('\n| requests | CPU time of one, µs | of the longest 1,000, ms |\n|---|---|---|\n');
  row('of one caller', () => apply(limiter, [limit], 'user-1@example.com'));
  row('of 10,000 callers', (index) => apply(limiter, [limit], texts[index % 10_000] as string));
  row('of 1,000,000 callers', (index) => apply(limiter, [limit], texts[index] as string));
  row('of more callers than there is room for', (index) => apply(limiter, [limit], `${index}-${texts[index]}`));
  row('counted, and taken back', (index) => {
    const exchange = apply(limiter, [failures], texts[index % 10_000] as string);
    limiter.settle(exchange.appliedLimits ?? [], () => true);
  });
  const megabytes = (process.memoryUsage.rss() - before) / 1_000_000;
  print(`\nresident memory for the counters of both limits, with garbage: ${megabytes.toFixed(0)} MB\n`);
}

function apply(limiter: RateLimiter, limits: readonly RateLimit[], client: string): LimitedExchange {
  const exchange = { client, appliedLimits: undefined, addReport: () => undefined } as unknown as LimitedExchange;
  limiter.apply(limits, exchange);
  return exchange;
}

function row(name: string, count: (index: number) => void): void {
  const start = cpuMs();
  let longest = 0;
  for (let first = 0; first < VALUES; first += 1_000) {
    const blockStart = cpuMs();
    for (let index = first; index < first + 1_000; index += 1) count(index);
    longest = Math.max(longest, cpuMs() - blockStart);
  }
  const us = ((cpuMs() - start) * 1_000) / VALUES;
  print(`| ${name} | ${us.toFixed(2)} | ${longest.toFixed(1)} |\n`);
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Compares the CPU time of a protected GET with and without a limit. The routes of one process take turns, because two processes
 * of one program differ by more than a limit costs.
 */
async function compareRoutes(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rate-limits-'));
  const keys = await createKeys(folder);
  const bench: Bench = { folder, keys, children: [], upstream: '' };
  try {
    const subject = await startSubject(SUBJECT, { ...bench, upstream: await startUpstream(bench) });
    if (subject === undefined) throw new Error('the gateway did not start');
    const costs: number[][] = [[], []];
    for (let round = -2; round < Number(values.rounds); round += 1)
      for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const cost = await costOfRequest(subject, PATHS[at] as string, folder, keys.token);
        if (round >= 0) costs[at]?.push(cost);
      }
    const [without = Number.NaN, limited = Number.NaN] = costs.map(lowestDecile);
    print('\n| protected GET | CPU time, µs | rate |\n|---|---|---|\n');
    print(`| without a limit | ${without.toFixed(1)} | 1.00 |\n`);
    print(`| with a limit by subject | ${limited.toFixed(1)} | ${(without / limited).toFixed(3)} |\n`);
  } finally {
    await stopAll(bench);
    rmSync(folder, { recursive: true });
  }
}

/** Returns the CPU time of the gateway for one request, in microseconds. */
async function costOfRequest({ url, pid }: Subject, path: string, folder: string, token: string): Promise<number> {
  const seconds = 1;
  const headers = { Authorization: `Bearer ${token}` };
  const load = { method: 'GET', connections: CONNECTIONS, seconds, headers } as const;
  const before = readCost(pid).processorMs;
  const { requestsPerSecond, failed } = await measure({ ...load, url: url + path }, folder);
  if (failed > 0) throw new Error(`${failed} requests failed`);
  return ((readCost(pid).processorMs - before) * 1_000) / (requestsPerSecond * seconds);
}

/** Other load on the machine only adds to the CPU time of a request. */
function lowestDecile(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 10)] ?? Number.NaN;
}

function print(text: string): void {
  process.stdout.write(text);
}
