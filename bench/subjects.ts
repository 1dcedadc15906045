import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Keys, type ManifestOptions, manifestText } from './manifest.ts';

/** The flags and variables that the Dockerfile sets. */
const IMAGE_FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=50'];
const IMAGE_ENV = { MALLOC_ARENA_MAX: '2' };

/** Never reached in a benchmark. */
const RATE_LIMIT = '{ key: subject, allow: 900000 per 1s }';

/** The log line of a gateway that is warm. */
const SERVING = '"msg":"serving"';

/** The subject has one CPU alone. The load and the upstream share the other one. */
const SUBJECT_CPU = '0';
const LOAD_CPU = '1';

export interface Subject {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
}

export interface Bench {
  readonly folder: string;
  readonly keys: Keys;
  readonly upstream: string;
  readonly children: ChildProcess[];
}

interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
  /** By default the CPU of the subjects. */
  readonly cpus?: string;
}

type Starter = (bench: Bench, port: number) => Command | undefined;

/** Returns the command that starts a subject on a port, or `undefined` if it is not installed. */
const SUBJECTS: Readonly<Record<string, Starter>> = {
  gateway: gateway({}),
  'gateway, 1 worker': onAllCpus(gateway({ workers: 1 })),
  'gateway, 2 workers': onAllCpus(gateway({ workers: 2 })),
  'gateway, 4 workers': onAllCpus(gateway({ workers: 4 })),
  'gateway (image)': gateway({}, { args: IMAGE_FLAGS, entry: 'dist/cli/main.js', env: IMAGE_ENV }),
  'gateway, rate limit': gateway({ rateLimit: RATE_LIMIT }),
  'gateway, 10 routes': gateway({ routes: 10 }),
  'gateway, 10,000 routes': gateway({ routes: 10_000 }),
  'http-proxy-3': server('http-proxy-3'),
  '@fastify/http-proxy': server('fastify'),
  'undici.request': server('undici'),
  'tcp pipe': server('tcp'),
  nginx,
  haproxy,
  caddy,
};

export const subjectNames = Object.keys(SUBJECTS);

export async function startUpstream(bench: Omit<Bench, 'upstream'>): Promise<string> {
  const port = await freePort();
  const { command, args, env } = server('upstream')({ ...bench, upstream: '' }, port) as Command;
  bench.children.push(
    spawn('taskset', ['-c', LOAD_CPU, command, ...args], { env: { ...process.env, ...env }, stdio: 'ignore' }),
  );
  await waitForListener(port);
  return `http://127.0.0.1:${port}`;
}

/** Starts a subject and waits until it listens; a gateway until it is warm. */
export async function startSubject(name: string, bench: Bench): Promise<Subject | undefined> {
  const subject = await launchSubject(name, bench);
  if (subject === undefined) return undefined;
  await waitForListener(Number(new URL(subject.url).port));
  if (name.startsWith('gateway')) await waitForLine(logOf(name, bench), SERVING);
  return subject;
}

/** Starts a subject on its own CPU. Its output, mainly the access log, goes to a file. */
export async function launchSubject(name: string, bench: Bench): Promise<Subject | undefined> {
  const port = await freePort();
  const command = SUBJECTS[name]?.(bench, port);
  if (command === undefined) return undefined;
  const log = openSync(logOf(name, bench), 'w');
  const { cpus = SUBJECT_CPU } = command;
  const child = spawn('taskset', ['-c', cpus, command.command, ...command.args], {
    env: { ...process.env, ...command.env },
    stdio: ['ignore', log, log],
  });
  bench.children.push(child);
  return { name, url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0 };
}

export async function stopAll({ children }: Pick<Bench, 'children'>): Promise<void> {
  for (const child of children) {
    if (child.exitCode !== null) continue;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 3000);
    await once(child, 'exit');
    clearTimeout(timer);
  }
}

export function onLoadCpu(command: string, args: readonly string[]): [string, string[]] {
  return ['taskset', ['-c', LOAD_CPU, command, ...args]];
}

interface GatewayProgram {
  readonly args?: readonly string[];
  readonly entry?: string;
  readonly env?: Record<string, string>;
}

function gateway(
  options: Partial<ManifestOptions>,
  { args = [], entry = 'src/cli/main.ts', env = {} }: GatewayProgram = {},
) {
  return ({ folder, keys: { jwks }, upstream }: Bench, port: number): Command => {
    // In a folder of its own: the gateway watches the folder of its manifest, and its log is written elsewhere.
    const file = join(mkdtempSync(join(folder, 'manifest-')), 'gateway.yaml');
    writeFileSync(file, manifestText({ port, upstream, jwks, routes: 200, ...options }));
    const program = fileURLToPath(new URL(`../${entry}`, import.meta.url));
    return { command: process.execPath, args: [...args, program, 'run', '-c', file], env };
  };
}

/** Lets a subject with several threads use the CPU of the load too. */
function onAllCpus(start: Starter): Starter {
  return (bench, port) => {
    const command = start(bench, port);
    return command && { ...command, cpus: `${SUBJECT_CPU},${LOAD_CPU}` };
  };
}

function server(name: string) {
  const file = fileURLToPath(new URL(`servers/${name}.ts`, import.meta.url));
  return ({ upstream }: Bench, port: number): Command => ({
    command: process.execPath,
    args: [file],
    env: { UPSTREAM: upstream, PORT: String(port) },
  });
}

function nginx({ folder, upstream }: Bench, port: number): Command | undefined {
  if (!isInstalled('nginx')) return undefined;
  const root = join(folder, 'nginx');
  mkdirSync(root, { recursive: true });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${root}/${name};`,
  );
  const text = `daemon off; worker_processes 1; pid ${root}/pid; error_log ${root}/error.log;
events { worker_connections 1024; }
http {
${temporary.join('\n')}
  access_log ${root}/access.log;
  keepalive_requests 100000000;
  upstream up { server ${new URL(upstream).host}; keepalive 256; keepalive_requests 100000000; }
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_max_temp_file_size 0; } }
}
`;
  writeFileSync(join(root, 'nginx.conf'), text);
  return { command: 'nginx', args: ['-p', root, '-e', join(root, 'error.log'), '-c', join(root, 'nginx.conf')] };
}

function haproxy({ folder, upstream }: Bench, port: number): Command | undefined {
  if (!isInstalled('haproxy')) return undefined;
  const file = join(folder, 'haproxy.cfg');
  const text = `global
  nbthread 1
  log stdout format raw local0
defaults
  mode http
  log global
  option httplog
  http-reuse always
  timeout connect 2s
  timeout client 30s
  timeout server 30s
frontend in
  bind 127.0.0.1:${port}
  default_backend up
backend up
  server up ${new URL(upstream).host}
`;
  writeFileSync(file, text);
  return { command: 'haproxy', args: ['-f', file] };
}

function caddy({ folder, upstream }: Bench, port: number): Command | undefined {
  if (!isInstalled('caddy')) return undefined;
  const file = join(folder, 'Caddyfile');
  writeFileSync(
    file,
    `{\n  admin off\n  auto_https off\n}\nhttp://127.0.0.1:${port} {\n  bind 127.0.0.1\n  log {\n    output file ${folder}/caddy-access.log\n  }\n  reverse_proxy ${new URL(upstream).host}\n}\n`,
  );
  return {
    command: 'caddy',
    args: ['run', '--config', file, '--adapter', 'caddyfile'],
    env: { GOMAXPROCS: '1', HOME: folder },
  };
}

function isInstalled(command: string): boolean {
  return spawnSync('which', [command]).status === 0;
}

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
}

function logOf(name: string, { folder }: Bench): string {
  return join(folder, `${name.replaceAll(/\W+/g, '-')}.log`);
}

async function waitForLine(file: string, text: string): Promise<void> {
  for (let tries = 0; tries < 200 && !readFileSync(file, 'utf8').includes(text); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

async function waitForListener(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    const isListening = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isListening) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens on port ${port}`);
}
