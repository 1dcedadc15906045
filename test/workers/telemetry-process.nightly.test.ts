import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdminStatus } from '../../src/admin/endpoints/status.ts';
import { MAIN } from '../support/cli.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

interface WorkersProcess {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly url: string;
  readonly adminUrl: string;
  /** The standard output so far. */
  output(): string;
}

/** Registers a tracer whose spans are written to a file for each thread when they are flushed. */
const TRACER = `
  import { appendFileSync } from 'node:fs';
  import { threadName } from 'node:worker_threads';
  import { INVALID_SPAN_CONTEXT, trace } from ${JSON.stringify(import.meta.resolve('@opentelemetry/api'))};
  let ended = 0;
  const span = {
    spanContext: () => INVALID_SPAN_CONTEXT, setAttribute: () => span, setAttributes: () => span,
    updateName: () => span, setStatus: () => span, end: () => { ended += 1; },
  };
  trace.setGlobalTracerProvider({
    getTracer: () => ({ startSpan: () => span }),
    forceFlush: async () => appendFileSync('spans', \`\${threadName || 'main'} \${ended}\\n\`),
  });
`;

async function startWorkers(nodeOptions: readonly string[] = []): Promise<WorkersProcess> {
  const text = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
server: { workers: 2, stopping: { delay: 0s } }
tracing: { sample: 1 }
upstreams: { up: { url: '${upstream.url}' } }
routes:
  - { id: all, method: GET, path: /**, upstream: up, access: public }
`;
  const folder = temporaryFolder('workers', { 'gateway.yaml': text, 'tracer.mjs': TRACER });
  const child = spawn(process.execPath, [...nodeOptions, MAIN, 'run'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await eventually('the gateway serves', () => output.includes('"msg":"serving"'));
  const [, url = '', adminUrl = ''] = /"url":"([^"]+)","admin":"([^"]+)"/.exec(output) ?? [];
  return { child, folder, url, adminUrl, output: () => output };
}

function send(url: string, count: number, path: string): Promise<unknown> {
  const agent = new Agent({ maxSockets: 40 });
  const one = () =>
    new Promise<void>((resolve, reject) => {
      get(`${url}${path}`, { agent }, (response) => response.resume().on('close', resolve)).on('error', reject);
    });
  return Promise.all(Array.from({ length: count }, one));
}

/** Stops the process. Returns the lines about requests. */
async function stop({ child, output }: WorkersProcess): Promise<Record<string, unknown>[]> {
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  const lines = output().trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
}

const workersOf = (lines: readonly Record<string, unknown>[]) => new Set(lines.map(({ worker }) => worker));

describe('a process with two workers', () => {
  it('writes the lines of all requests before it stops', async () => {
    for (let round = 0; round < 2; round += 1) {
      const workers = await startWorkers();
      await send(workers.url, 200, '/things');
      const lines = await stop(workers);
      expect(lines.length).toBe(200);
      expect(workersOf(lines)).toEqual(new Set([0, 1]));
    }
  });

  it('counts the lines that it loses while nothing reads the log, and writes all others', async () => {
    const workers = await startWorkers();
    workers.child.stdout?.pause();
    let sent = 0;
    const streamStatus = async () => {
      const { streams } = (await (await fetch(`${workers.adminUrl}/status`)).json()) as AdminStatus;
      return streams.stdout;
    };
    await eventually('lines are lost', async () => {
      await send(workers.url, 500, `/${'x'.repeat(8_000)}`);
      sent += 500;
      const { dropped_lines, waiting_bytes } = await streamStatus();
      expect(waiting_bytes).toBeLessThanOrEqual(16 * 1024 ** 2);
      return dropped_lines > 100;
    });
    workers.child.stdout?.resume();
    await eventually('all waiting lines are written', async () => (await streamStatus()).waiting_bytes === 0);
    const { dropped_lines } = await streamStatus();
    const lines = await stop(workers);
    expect(lines.length + dropped_lines).toBe(sent);
    expect(workersOf(lines)).toEqual(new Set([0, 1]));
  });

  it('records spans in all workers, and exports them when it stops', async () => {
    const workers = await startWorkers(['--import', './tracer.mjs']);
    await send(workers.url, 100, '/things');
    const lines = await stop(workers);
    const served = (worker: number) => lines.filter((line) => line['worker'] === worker).length;
    const spans = readFileSync(join(workers.folder, 'spans'), 'utf8').trim().split('\n').sort();
    // A span for the request, and one for the request to the upstream.
    expect(spans).toEqual([`main ${2 * served(0)}`, `worker 1 ${2 * served(1)}`]);
    expect(served(1)).toBeGreaterThan(0);
  });
});
