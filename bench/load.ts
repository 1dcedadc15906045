import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onLoadCpu } from './subjects.ts';

export interface Load {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly connections: number;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Measurement {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  /** Responses other than 2xx, and broken connections. */
  readonly failed: number;
}

export const generator = spawnSync('which', ['wrk']).status === 0 ? 'wrk' : 'autocannon';

/** Runs one round of load on the other CPU. */
export function measure(load: Load, folder: string): Promise<Measurement> {
  return generator === 'wrk' ? measureByWrk(load, folder) : measureByAutocannon(load);
}

const run = promisify(execFile);

async function measureByWrk(load: Load, folder: string): Promise<Measurement> {
  const script = join(folder, 'load.lua');
  const done = `done = function(s, l) io.write(string.format("RESULT %f %f %d\\n", s.requests / s.duration * 1e6, l:percentile(99) / 1000, s.errors.status + s.errors.connect + s.errors.read + s.errors.timeout)) end`;
  const body = load.body === undefined ? '' : `wrk.body = ${JSON.stringify(load.body)}\n`;
  writeFileSync(script, `wrk.method = "${load.method}"\n${body}${done}\n`);
  const headers = Object.entries(load.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-t1', `-c${load.connections}`, `-d${load.seconds}s`, '-s', script, ...headers, load.url];
  const { stdout } = await run(...onLoadCpu('wrk', args));
  const [, rate = '0', p99 = '0', failed = '0'] = /RESULT (\S+) (\S+) (\d+)/.exec(stdout) ?? [];
  return { requestsPerSecond: Number(rate), p99Ms: Number(p99), failed: Number(failed) };
}

async function measureByAutocannon(load: Load): Promise<Measurement> {
  const file = createRequire(import.meta.url).resolve('autocannon');
  const headers = Object.entries(load.headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const body = load.body === undefined ? [] : ['-b', load.body];
  const args = [
    file,
    '--json',
    '-m',
    load.method,
    '-c',
    `${load.connections}`,
    '-d',
    `${load.seconds}`,
    ...headers,
    ...body,
    load.url,
  ];
  const { stdout } = await run(...onLoadCpu(process.execPath, args));
  const { requests, latency, errors, non2xx } = JSON.parse(stdout);
  return { requestsPerSecond: requests.average, p99Ms: latency.p99, failed: errors + non2xx };
}
