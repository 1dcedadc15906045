/**
 * Measures the memory and the event loop delay that the validation of a body costs.
 *
 *     npm run bench:validation
 *     npm run bench:validation -- --mb 20 --only strings --rounds 1
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type CreateBody, HOSTILE } from './hostile.ts';

const MB = 1024 * 1024;
/** Longer bodies are validated in a thread. */
const LOOP_BYTES = 32_768;
const PORT = 18_080;

const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
  },
});
const bytes = Number(values.mb) * MB;

const VALID: Readonly<Record<string, CreateBody>> = {
  'a mail with an attachment': (size) => mail(size),
  'orders, up to the limit': (size) => JSON.stringify(Array(Math.floor(size / 430)).fill(order(430))),
};

const folder = mkdtempSync(join(tmpdir(), 'validation-'));
const upstream = createServer((incoming, response) => {
  incoming.resume().on('end', () => response.end('ok'));
});
upstream.listen(0, '127.0.0.1');
await once(upstream, 'listening');

print(`${cpus()[0]?.model}, ${cpus().length} processors, Node ${process.version}\n`);
print(
  `\n### Bodies of ${values.mb} MB\n\n| body | status | memory / body size | event loop delay, ms | response after, ms |\n|---|---|---|---|---|\n`,
);
for (const [name, createBody] of selectedBodies()) {
  const rounds = await medianOfRounds(() => measure(createBody(bytes)));
  const [status, times, delay, ms] = rounds;
  print(`| ${name} | ${status} | ${times?.toFixed(1)} | ${delay?.toFixed(0)} | ${ms?.toFixed(0)} |\n`);
}
print(
  `\n### Bodies of ${LOOP_BYTES} bytes, validated on the event loop\n\n| body | status | event loop delay, ms |\n|---|---|---|\n`,
);
for (const [name, createBody] of selectedBodies()) {
  const [status, delay] = await medianOfRounds(() => measureOnLoop(createBody(LOOP_BYTES)));
  print(`| ${name} | ${status} | ${delay?.toFixed(0)} |\n`);
}
upstream.close();
rmSync(folder, { recursive: true });

/** Returns the median of each figure over all rounds. */
async function medianOfRounds(once: () => Promise<number[]>): Promise<number[]> {
  const rounds: number[][] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) rounds.push(await once());
  const [first = []] = rounds;
  return first.map((_, at) => rounds.map((figures) => figures[at] ?? 0).sort((a, b) => a - b)[rounds.length >> 1] ?? 0);
}

function selectedBodies() {
  return Object.entries({ ...VALID, ...HOSTILE }).filter(([name]) => name.includes(values.only));
}

/** Starts a new process for each body, so that garbage of one does not affect the next. */
async function measure(body: string): Promise<number[]> {
  const gateway = await startGateway();
  // Starts the validation thread, which begins with the first long body.
  await post('/any', JSON.stringify(['a'.repeat(2 * LOOP_BYTES)]));
  await pause(300);
  writeFileSync(`/proc/${gateway.pid}/clear_refs`, '5');
  const before = kilobytes(gateway, 'VmRSS');
  await maxDelayMs(gateway);
  const start = performance.now();
  const status = await post('/any', body);
  const ms = performance.now() - start;
  const delay = await maxDelayMs(gateway);
  const times = ((kilobytes(gateway, 'VmHWM') - before) * 1024) / Buffer.byteLength(body);
  await stop(gateway);
  return [status, times, delay, ms];
}

async function measureOnLoop(body: string): Promise<number[]> {
  const gateway = await startGateway();
  await maxDelayMs(gateway);
  let status = 0;
  for (let round = 0; round < 5; round += 1) status = await post('/any', body);
  await pause(20);
  const delay = await maxDelayMs(gateway);
  await stop(gateway);
  return [status, delay];
}

async function startGateway(): Promise<ChildProcess> {
  const file = join(folder, 'gateway.yaml');
  const { port } = upstream.address() as AddressInfo;
  writeFileSync(
    file,
    `version: 1
listen: 127.0.0.1:${PORT}
upstreams: { up: { url: 'http://127.0.0.1:${port}' } }
routes:
  - { id: any, method: POST, path: /any, upstream: up, access: public, body: { maxBytes: 100MB, schema: {} } }
`,
  );
  const probe = new URL('servers/loop-delay.ts', import.meta.url).href;
  const program = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
  const log = openSync(join(folder, 'gateway.log'), 'w');
  const child = spawn(process.execPath, ['--import', probe, program, 'run', file], {
    stdio: ['ignore', log, log, 'ipc'],
  });
  for (let tries = 0; tries < 500; tries += 1) {
    try {
      if ((await post('/any', '{}')) === 200) return child;
    } catch {
      await pause(20);
    }
  }
  throw new Error(`the gateway did not start: ${readFileSync(join(folder, 'gateway.log'), 'utf8')}`);
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Returns the longest event loop delay since the last call. */
async function maxDelayMs(child: ChildProcess): Promise<number> {
  child.send('report');
  const [ms] = (await once(child, 'message')) as [number];
  return ms;
}

async function post(path: string, body: string): Promise<number> {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const outgoing = request({ port: PORT, host: '127.0.0.1', path, method: 'POST', headers, agent: false });
  // The gateway may refuse the request before the body is sent.
  outgoing.on('error', () => undefined);
  outgoing.end(body);
  const [response] = await Promise.race([once(outgoing, 'response'), once(outgoing, 'close')]);
  response?.resume();
  return response?.statusCode ?? Promise.reject(new Error('no response'));
}

/** Returns a memory figure of the process, as the kernel reports it. */
function kilobytes({ pid }: ChildProcess, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
}

function mail(size: number): string {
  const attachment = { filename: 'contract.pdf', content: '' };
  const empty = {
    email: 'signer@partner.example',
    subject: 'Please sign',
    body: '<p>Hello</p>',
    attachments: [attachment],
  };
  attachment.content = 'A'.repeat(size - JSON.stringify(empty).length);
  return JSON.stringify(empty);
}

function order(size: number): object {
  const empty = { id: 1, item: '', price: 12.5 };
  return { ...empty, item: 'x'.repeat(Math.max(0, Math.floor(size) - JSON.stringify(empty).length - 1)) };
}

function print(text: string): void {
  process.stdout.write(text);
}
