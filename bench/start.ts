/**
 * Measures a start, from the process to its first 200, and the memory of the process: idle, and under load.
 *
 *     npm run build && npm run bench:start
 *     npm run bench:start -- --rounds 3 --subjects gateway,nginx
 */
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Load, measure } from './load.ts';
import { createKeys, notificationBody } from './manifest.ts';
import { readCost } from './process-cost.ts';
import { type Bench, launchSubject, type Subject, startUpstream, stopAll } from './subjects.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '5' },
    idle: { type: 'string', default: '5' },
    subjects: { type: 'string', default: 'gateway (image),gateway,http-proxy-3,nginx,haproxy,caddy' },
  },
});
const POLL_MS = 2;

const folder = mkdtempSync(join(tmpdir(), 'start-'));
// The gateway fills this cache in the first round, as an installed one does.
process.env['NODE_COMPILE_CACHE'] = join(folder, 'cache');
const keys = await createKeys(folder);
const authorization = { Authorization: `Bearer ${keys.token}` };
const upstreamBench: Bench = { folder, keys, children: [], upstream: '' };

interface Result {
  readonly startMs: number;
  readonly startProcessorMs: number;
  readonly idleMb: number;
  readonly loadedMb: number;
  readonly maxMb: number;
}

try {
  const upstream = await startUpstream(upstreamBench);
  const results = new Map<string, Result[]>();
  // Subjects take turns, so a machine that slows down affects all of them. The first round warms up.
  for (let round = 0; round <= Number(values.rounds); round += 1)
    for (const name of values.subjects.split(',')) {
      const bench: Bench = { folder, keys, children: [], upstream };
      const result = await run(name, bench).finally(() => stopAll(bench));
      if (result !== undefined && round > 0) results.set(name, [...(results.get(name) ?? []), result]);
    }
  print(`${cpus()[0]?.model}, ${cpus().length} processors, Node ${process.version}, ${values.rounds} rounds\n\n`);
  print('| subject | start ms, min | start ms, median | start CPU ms | idle MB | after load MB | highest MB |\n');
  print('|---|---|---|---|---|---|---|\n');
  for (const [name, rounds] of results) print(row(name, rounds));
} finally {
  await stopAll(upstreamBench);
  rmSync(folder, { recursive: true });
}

async function run(name: string, bench: Bench): Promise<Result | undefined> {
  if (name === 'gateway (image)' && !existsSync(fileURLToPath(new URL('../dist', import.meta.url)))) return undefined;
  const start = performance.now();
  const subject = await launchSubject(name, bench);
  if (subject === undefined) return undefined;
  while ((await statusOf(subject)) !== 200) await sleep(POLL_MS);
  const startMs = performance.now() - start;
  const { processorMs: startProcessorMs } = readCost(subject.pid);
  await sleep(Number(values.idle) * 1000);
  const { residentMb: idleMb } = readCost(subject.pid);
  for (const load of loads(subject)) await measure({ ...load, seconds: Number(values.seconds) }, folder);
  const { residentMb: loadedMb, maxResidentMb: maxMb } = readCost(subject.pid);
  return { startMs, startProcessorMs, idleMb, loadedMb, maxMb };
}

function loads({ url }: Subject): Omit<Load, 'seconds'>[] {
  const json = { ...authorization, 'Content-Type': 'application/json' };
  return [
    { url: `${url}/api/protected/small`, method: 'GET', connections: 64, headers: authorization },
    { url: `${url}/api/checked`, method: 'POST', connections: 64, headers: json, body: notificationBody() },
  ];
}

/** Returns the status of a public GET, or `undefined` while nothing listens. */
async function statusOf({ url }: Subject): Promise<number | undefined> {
  const request = get(`${url}/api/public/small`, { agent: false });
  try {
    const [response] = await once(request, 'response');
    response.resume();
    return response.statusCode;
  } catch {
    return undefined;
  }
}

function row(name: string, rounds: readonly Result[]): string {
  const of = (key: keyof Result) => rounds.map((result) => result[key]).sort((a, b) => a - b);
  const median = (key: keyof Result) => of(key)[Math.floor(rounds.length / 2)];
  const figures = [
    of('startMs')[0],
    median('startMs'),
    median('startProcessorMs'),
    median('idleMb'),
    median('loadedMb'),
    median('maxMb'),
  ];
  return `| ${[name, ...figures.map((figure) => figure?.toFixed(0))].join(' | ')} |\n`;
}

function print(text: string): void {
  process.stdout.write(text);
}
