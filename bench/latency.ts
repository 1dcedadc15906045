/**
 * Measures the time that a proxy adds to each request at fixed rates, right after its start and warm. It needs h2load.
 *
 *     npm run bench -- latency
 *     npm run bench -- latency --rates 1000 --subjects gateway,nginx --rounds 3
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createKeys } from './manifest.ts';
import { isOpenLoopAvailable, type Latency, measureLatency } from './open-loop.ts';
import { type Bench, startSubject, startUpstream, stopAll } from './subjects.ts';

const CONNECTIONS = 10;
const FIRST_REQUESTS = 1_000;
/** The subject without a proxy. */
const DIRECT = 'upstream alone';
const SUBJECTS = ['gateway', 'gateway, 2 workers', 'nginx', 'haproxy', 'caddy', 'http-proxy-3'];

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    rates: { type: 'string', default: '200,1000,5000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '5' },
    subjects: { type: 'string', default: SUBJECTS.join(',') },
  },
});
const rates = values.rates.split(',').map(Number);

if (!isOpenLoopAvailable()) throw new Error('h2load is not installed; on Debian: apt install nghttp2-client');
const folder = mkdtempSync(join(tmpdir(), 'latency-'));
const keys = await createKeys(folder);
const upstreamBench: Bench = { folder, keys, children: [], upstream: '' };
try {
  await main(await startUpstream(upstreamBench));
} finally {
  await stopAll(upstreamBench);
  rmSync(folder, { recursive: true });
}

/** The measurements of one subject: of its first requests by rate, and warm by rate. */
interface Results {
  readonly first: Map<number, Latency[]>;
  readonly warm: Map<number, Latency[]>;
}

async function main(upstream: string): Promise<void> {
  const names = [DIRECT, ...splitSubjects(values.subjects)];
  const results = new Map(names.map((name): [string, Results] => [name, { first: new Map(), warm: new Map() }]));
  print(`h2load, ${CONNECTIONS} connections, ${values.rounds} rounds, ${cpus()[0]?.model}, Node ${process.version}\n`);
  // Subjects take turns, so a machine that slows down affects all of them.
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const [name, found] of results) {
      const bench: Bench = { folder, keys, children: [], upstream };
      await measureSubject(name, bench, found).finally(() => stopAll(bench));
    }
  const titled = [
    [`the first ${FIRST_REQUESTS} requests after a start`, 'first'],
    [`after ${values['warm-up']} s`, 'warm'],
  ] as const;
  for (const [title, key] of titled)
    for (const rate of rates) print(table(`${rate} requests per second, ${title}`, results, key, rate));
}

/** The name of a subject may contain a comma before a space. */
function splitSubjects(text: string): string[] {
  return text.split(/,(?! )/);
}

async function measureSubject(name: string, bench: Bench, { first, warm }: Results): Promise<void> {
  for (const rate of rates) {
    const url = name === DIRECT ? bench.upstream : (await startSubject(name, bench))?.url;
    if (url === undefined) return;
    const load = (requests: number) =>
      measureLatency(
        {
          url: `${url}/api/protected/small`,
          headers: { Authorization: `Bearer ${keys.token}` },
          connections: CONNECTIONS,
          rate,
          requests,
        },
        folder,
      );
    add(first, rate, await load(FIRST_REQUESTS));
    await load(rate * Number(values['warm-up']));
    add(warm, rate, await load(rate * Number(values.seconds)));
    await stopAll(bench);
    bench.children.length = 0;
  }
}

function add(results: Map<number, Latency[]>, rate: number, latency: Latency): void {
  results.set(rate, [...(results.get(rate) ?? []), latency]);
}

function table(title: string, results: Map<string, Results>, key: keyof Results, rate: number): string {
  const medians = (name: string) => {
    const rounds = results.get(name)?.[key].get(rate) ?? [];
    return {
      p50: median(rounds.map(({ p50Us }) => p50Us)),
      p99: median(rounds.map(({ p99Us }) => p99Us)),
      failed: rounds.reduce((sum, { failed }) => sum + failed, 0),
      isMeasured: rounds.length > 0,
    };
  };
  const direct = medians(DIRECT);
  const lines = [...results.keys()].flatMap((name) => {
    const { p50, p99, failed, isMeasured } = medians(name);
    if (!isMeasured) return [];
    return [`| ${name} | ${p50} | ${p99} | ${p50 - direct.p50} | ${p99 - direct.p99} | ${failed} |`];
  });
  return `\n### ${title}\n\n| subject | p50 µs | p99 µs | added p50 | added p99 | failed |\n|---|---|---|---|---|---|\n${lines.join('\n')}\n`;
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function print(text: string): void {
  process.stdout.write(text);
}
