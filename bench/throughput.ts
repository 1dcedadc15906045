/**
 * Compares the gateway with other proxies on one CPU. README.md in this folder describes the method.
 *
 *     npm run bench -- --rounds 5 --seconds 4
 *     npm run bench -- --only get --subjects gateway,http-proxy-3
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generator, type Load, type Measurement, measure } from './load.ts';
import { createKeys, notificationBody } from './manifest.ts';
import { type Bench, type Subject, startSubject, startUpstream, stopAll, subjectNames } from './subjects.ts';

interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly subjects: readonly string[];
  readonly load: (subject: string) => Omit<Load, 'url' | 'seconds'> & { path: string };
}

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
    subjects: { type: 'string', default: '' },
    json: { type: 'string', default: join(tmpdir(), 'signing-gateway-bench.json') },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const keys = await createKeys(folder);
const authorization = { Authorization: `Bearer ${keys.token}` };
const OTHERS = ['http-proxy-3', '@fastify/http-proxy', 'undici.request', 'tcp pipe', 'nginx', 'haproxy', 'caddy'];
const ROUTES = ['gateway, 10 routes', 'gateway, 10,000 routes'];

const get = (path: string, connections: number) => () => ({
  method: 'GET' as const,
  path,
  connections,
  headers: authorization,
});

const SCENARIOS: readonly Scenario[] = [
  {
    id: 'get-protected',
    title: 'GET 0.3 kB, protected, everything on, 64 connections',
    subjects: ['gateway', ...OTHERS],
    load: get('/api/protected/small', 64),
  },
  {
    id: 'get-protected-10',
    title: 'the same, 10 connections',
    subjects: ['gateway', 'http-proxy-3'],
    load: get('/api/protected/small', 10),
  },
  {
    id: 'get-public',
    title: 'GET 0.3 kB, public, 64 connections',
    subjects: ['gateway', ...OTHERS],
    load: get('/api/public/small', 64),
  },
  {
    id: 'post',
    title: 'POST 1 kB, protected, with a schema (the others: without), 64 connections',
    subjects: ['gateway', 'http-proxy-3', '@fastify/http-proxy', 'undici.request', 'nginx'],
    load: () => ({
      method: 'POST',
      path: '/api/checked',
      connections: 64,
      headers: { ...authorization, 'Content-Type': 'application/json' },
      body: notificationBody(),
    }),
  },
  {
    id: 'get-64k',
    title: 'GET 64 kB, public, 64 connections',
    subjects: ['gateway', 'http-proxy-3', 'undici.request', 'nginx'],
    load: get('/api/public/64k', 64),
  },
  {
    id: 'get-1m',
    title: 'GET 1 MB, public, 10 connections',
    subjects: ['gateway', 'http-proxy-3', 'undici.request', 'nginx'],
    load: get('/api/public/1m', 10),
  },
  {
    id: 'routes',
    title: 'GET 0.3 kB, protected, by the number of routes, 64 connections',
    subjects: ROUTES,
    load: get('/api/protected/small', 64),
  },
];

const WARM_UP_SECONDS = 3;
const selectedSubjects = new Set(values.subjects === '' ? subjectNames : values.subjects.split(','));
const selected = SCENARIOS.filter(({ id }) => id.startsWith(values.only));
const bench: Bench = { folder, keys, children: [], upstream: '' };
try {
  await main();
} finally {
  await stopAll(bench);
  rmSync(folder, { recursive: true });
}

async function main(): Promise<void> {
  const running: Bench = { ...bench, upstream: await startUpstream(bench) };
  const subjects = new Map<string, Subject>();
  for (const name of new Set(selected.flatMap((scenario) => scenario.subjects)).intersection(selectedSubjects)) {
    const subject = await startSubject(name, running);
    if (subject !== undefined) subjects.set(name, subject);
  }
  print(`${generator}, ${values.rounds} rounds of ${values.seconds} s, ${cpus()[0]?.model}, Node ${process.version}\n`);
  const results: Record<string, Record<string, Measurement[]>> = {};
  for (const scenario of selected) results[scenario.id] = await runScenario(scenario, subjects);
  writeFileSync(
    values.json,
    JSON.stringify({ node: process.version, cpu: cpus()[0]?.model, generator, results }, null, 2),
  );
  print(`all measurements: ${values.json}\n`);
}

/** Subjects take turns in each round, so a machine that slows down affects all of them. The first round warms up. */
async function runScenario({ title, subjects: names, load }: Scenario, subjects: Map<string, Subject>) {
  const measurements: Record<string, Measurement[]> = {};
  const available = names.flatMap((name) => subjects.get(name) ?? []);
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const { name, url } of available) {
      const { path, ...rest } = load(name);
      const seconds = round === 0 ? WARM_UP_SECONDS : Number(values.seconds);
      const result = await measure({ ...rest, url: url + path, seconds }, folder);
      if (round > 0) measurements[name] = [...(measurements[name] ?? []), result];
    }
  }
  print(table(title, measurements));
  return measurements;
}

function table(title: string, measurements: Record<string, Measurement[]>): string {
  const rate = (name: string) => median((measurements[name] ?? []).map(({ requestsPerSecond }) => requestsPerSecond));
  const base = 'http-proxy-3' in measurements ? 'http-proxy-3' : Object.keys(measurements)[0];
  const lines = Object.entries(measurements).map(([name, rounds]) => {
    const failed = rounds.reduce((sum, round) => sum + round.failed, 0);
    const p99 = median(rounds.map(({ p99Ms }) => p99Ms)).toFixed(2);
    const ratio = (rate(name) / rate(base ?? name)).toFixed(2);
    return `| ${name} | ${Math.round(rate(name)).toLocaleString('en')} | ${ratio} | ${p99} | ${failed} |`;
  });
  return `\n### ${title}\n\n| subject | req/s (median) | to ${base} | p99 ms | failed |\n|---|---|---|---|---|\n${lines.join('\n')}\n`;
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function print(text: string): void {
  process.stdout.write(text);
}
