import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onLoadCpu } from './subjects.ts';

/** Requests that are sent at a fixed rate, however long their responses take. */
export interface OpenLoad {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  /** Requests per second on all connections together. */
  readonly rate: number;
  readonly requests: number;
}

export interface Latency {
  readonly p50Us: number;
  readonly p99Us: number;
  /** Responses other than 2xx, and broken connections. */
  readonly failed: number;
}

const run = promisify(execFile);

export function isOpenLoopAvailable(): boolean {
  return spawnSync('which', ['h2load']).status === 0;
}

/** Sends the requests with h2load from the load's CPU, and reads the time of each of them from its log. */
export async function measureLatency(load: OpenLoad, folder: string): Promise<Latency> {
  const { url, headers, connections, rate, requests } = load;
  const log = join(folder, 'h2load.log');
  // h2load appends to its log.
  rmSync(log, { force: true });
  const options = ['--h1', '-m1', '-t1', `-c${connections}`, `--rps=${rate / connections}`, `-n${requests}`];
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  await run(...onLoadCpu('h2load', [...options, `--log-file=${log}`, ...fields, url]));
  // Each line has the start of a request, its status, and its time in microseconds.
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  const rows = lines.map((line) => line.split('\t').map(Number));
  const times = rows.map(([, , us = 0]) => us).sort((a, b) => a - b);
  const succeeded = rows.filter(([, status = 0]) => status >= 200 && status < 300).length;
  return { p50Us: percentile(times, 0.5), p99Us: percentile(times, 0.99), failed: requests - succeeded };
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
