/**
 * Starts the sandbox, and then `signing-gateway dev` in front of it, which serves `gateway.yaml` of the working folder.
 *
 *     npm start
 *     npm start -- --listen 127.0.0.1:8081 --sandbox-ports 7101,7102 --job-time 500ms --reset
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createSandbox, type Sandbox } from './sandbox.ts';
import { platformWelcome, SERVED } from './welcome.ts';

const GATEWAY = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const MANIFEST = 'gateway.yaml';
const DATABASE = '.sandbox/sandbox.db';
const FOLDER = dirname(DATABASE);
/** With other values, the gateway does not accept the tokens of the accounts. */
const TOKEN_VARIABLES = ['IDENTITY_URL', 'JWKS_URL', 'TOKEN_ISSUER', 'TOKEN_AUDIENCE'];
const DURATIONS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const PARENT_CHECK_MS = 200;
const USAGE =
  'Usage: npm start -- [--listen ADDRESS] [--admin ADDRESS] [--sandbox-ports PORTS] [--job-time DURATION] [--reset]';

type Options = ReturnType<typeof readOptions>;

let isServing = false;
try {
  process.exitCode = await start(readOptions());
} catch (error) {
  process.stderr.write(`npm start: ${(error as Error).message}\n${USAGE}\n`);
  process.exitCode = 2;
}

async function start(options: Options): Promise<number> {
  const hadFolder = existsSync(FOLDER);
  // `dev` prints the problems of a manifest. Nothing is deleted for it.
  if (options.reset && !(await hasValidManifest())) return serve(options.gateway, process.env);
  if (options.reset) for (const suffix of ['', '-wal', '-shm']) rmSync(DATABASE + suffix, { force: true });
  mkdirSync(FOLDER, { recursive: true });
  let sandbox: Sandbox | undefined;
  try {
    const running = await createSandbox({ file: DATABASE, ...options.sandbox });
    sandbox = running;
    checkPorts(running, options.sandbox);
    // An empty variable counts as not set, as in a manifest.
    const isUnset = (name: string) => !process.env[name];
    const variables = Object.keys(running.environment).filter(isUnset);
    const addresses = Object.fromEntries(variables.map((name) => [name, running.environment[name]]));
    return await serve(options.gateway, { ...process.env, ...addresses }, (text) => {
      const [, , , url] = SERVED.exec(text) ?? [];
      if (isServing || url === undefined) return text;
      isServing = true;
      running.setGatewayUrl(url);
      return platformWelcome(text, running, variables, TOKEN_VARIABLES.every(isUnset));
    });
  } finally {
    await sandbox?.close();
    if (!isServing && !hadFolder) rmSync(FOLDER, { recursive: true, force: true });
  }
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      listen: { type: 'string' },
      admin: { type: 'string' },
      'sandbox-ports': { type: 'string' },
      'job-time': { type: 'string', default: '3s' },
      reset: { type: 'boolean', default: false },
    },
  });
  const { listen, admin, reset } = values;
  const gateway = Object.entries({ listen, admin }).flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
  const jobTimeMs = readJobTime(values['job-time']);
  return { gateway, reset, sandbox: { ...readPorts(values['sandbox-ports']), jobTimeMs } };
}

function readPorts(text: string | undefined) {
  if (text === undefined) return {};
  const [identityPort, platformPort] = /^(\d{1,5}),(\d{1,5})$/.exec(text)?.slice(1).map(Number) ?? [];
  if (identityPort === undefined || platformPort === undefined || Math.max(identityPort, platformPort) > 65_535)
    throw new Error(`--sandbox-ports ${text}: write two ports, for identity and platform, for example 7101,7102`);
  return { identityPort, platformPort };
}

function readJobTime(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,6})(ms|s|m)$/.exec(text) ?? [];
  if (amount === undefined) throw new Error(`--job-time ${text}: write a duration, for example 500ms or 3s`);
  return Number(amount) * (DURATIONS_MS[unit] ?? 0);
}

async function hasValidManifest(): Promise<boolean> {
  // Only here: loading the gateway would delay every start.
  const { createFileEnvironment, load } = await import('../../src/index.ts');
  const environment = createFileEnvironment(MANIFEST, process.env);
  return load({ path: MANIFEST, text: environment.readFile(MANIFEST) }, environment).plan !== undefined;
}

function checkPorts(sandbox: Sandbox, { identityPort = 0, platformPort = 0 }: Options['sandbox']): void {
  for (const [url, port] of [
    [sandbox.identityUrl, identityPort],
    [sandbox.platformUrl, platformPort],
  ] as const)
    if (port !== 0 && Number(new URL(url).port) !== port)
      throw new Error(`port ${port} is in use; choose other ports with --sandbox-ports`);
}

/** Runs `dev` until it ends, and returns its exit code. `edit` changes its messages. */
async function serve(args: readonly string[], env: NodeJS.ProcessEnv, edit = (text: string) => text): Promise<number> {
  const parent = process.ppid;
  const flags = ['--disable-sigusr1', '--disable-warning=ExperimentalWarning'];
  const gateway = spawn(process.execPath, [...flags, GATEWAY, 'dev', ...args], {
    // With this variable `dev` stops when this process ends, however it ends.
    env: { npm_command: 'start', ...(process.stderr.hasColors?.() && { FORCE_COLOR: '1' }), ...env },
    stdio: ['inherit', 'inherit', 'pipe'],
    // A terminal would otherwise send Ctrl+C to `dev` too, which then gets it twice, and a second signal ends it at once.
    detached: true,
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)
    process.on(signal, () => gateway.kill(signal));
  // npm may end without passing its signal on.
  const check = () => process.ppid !== parent && gateway.kill('SIGTERM');
  if (process.env['npm_command'] !== undefined) setInterval(check, PARENT_CHECK_MS).unref();
  gateway.stderr.setEncoding('utf8').on('data', (text: string) => process.stderr.write(edit(text)));
  const [code] = await once(gateway, 'close');
  return code ?? 1;
}
