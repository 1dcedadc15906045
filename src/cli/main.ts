#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
/** The process: signals, streams and exit. Its signal handlers come before the rest of the project, which is imported below them. */
import type { ExitCode, Terminal } from './terminal.ts';

/** The verbs that serve use parts of Node that older versions do not have. */
const MIN_NODE_VERSION = 22;
const MIN_SERVING_NODE_VERSION = 26;
/** Added to the number of a signal, this is the exit code of a process that the signal ended, as in shells. */
const SIGNAL_EXIT_BASE = 128;
/** Time limit for the last write to standard error, whose reader may have stalled. */
const STDERR_FLUSH_TIMEOUT_MS = 1_000;
/** Interval of the check whether the parent process still exists. */
const PARENT_CHECK_MS = 200;
/** Long enough to write one line of the log. */
const LOG_WRITE_WAIT_MS = 100;

/** Signals whose default action ends the process, except crash and job control. In Node that of `SIGUSR1` opens the inspector. */
const SIGNALS = {
  SIGTERM: 'stop',
  SIGINT: 'stop',
  SIGQUIT: 'stop',
  SIGHUP: 'reload',
  SIGUSR1: 'ignore',
  SIGUSR2: 'ignore',
  SIGALRM: 'ignore',
  SIGVTALRM: 'ignore',
  SIGPROF: 'ignore',
  SIGIO: 'ignore',
  SIGPWR: 'ignore',
  SIGSTKFLT: 'ignore',
  SIGXCPU: 'ignore',
} as const satisfies Partial<Record<NodeJS.Signals, string>>;

type Signal = keyof typeof SIGNALS;

const [verb = '', ...options] = process.argv.slice(2);
const isServing = verb === 'run' || verb === 'dev';
const isWaiting = verb === 'candidate' && options.includes('wait');
const isLongRunning =
  isServing || isWaiting || (verb === 'test' && ['--watch', '--mutate'].some((name) => options.includes(name)));
/** The default action of a signal ends a short verb even while a file blocks it. PID 1 has no default actions, so it handles signals. */
const isHandlingSignals = isLongRunning || process.pid === 1;

const stop = new AbortController();
const abruptExitListeners: ((error?: unknown) => void)[] = [];
/** Signals that arrived before the verb called `onSignal`. */
const earlySignals = new Set<Signal>();
let onSignal: ((signal: Signal) => void) | undefined;
let isThreadHung = () => false;

const lostSignals = process.pid === 1 ? findLostSignals() : [];
if (isHandlingSignals) for (const signal of Object.keys(SIGNALS) as Signal[]) process.on(signal, handleSignal);
for (const signal of lostSignals) handleSignal(signal);
if (isServing && process.env['npm_command'] !== undefined) stopWithParent();

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (isServing) return;
  // A reader that stops early, such as `| head`, is not an error. The verb ends by itself.
  if (error.code === 'EPIPE') return stop.abort(error.code);
  process.stderr.write(`signing-gateway: cannot write to standard output: ${error.code}\n`);
  process.exit(2);
});
// Without a listener, a full disk or a closed pipe would end the process.
process.stderr.on('error', () => undefined);

const nodeVersion = Number.parseInt(process.versions.node, 10);
if (nodeVersion < (isServing ? MIN_SERVING_NODE_VERSION : MIN_NODE_VERSION)) {
  const remedy =
    nodeVersion < MIN_NODE_VERSION
      ? `use Node ${MIN_NODE_VERSION} or later, and for "run" and "dev" ${MIN_SERVING_NODE_VERSION} or later`
      : `use Node ${MIN_SERVING_NODE_VERSION} or later for "run" and "dev"; the other commands run on this version`;
  const beside = findNodeBeside(process.cwd());
  const command = beside === undefined ? '' : `; "npx signing-gateway ${verb}" runs it with ${beside}`;
  process.stderr.write(`signing-gateway: Node ${process.versions.node} is too old; ${remedy}${command}\n`);
  process.exit(2);
}

// Linux keeps 15 characters as the name of a process, which are all that `pidof` and `pgrep` compare.
if (isServing) process.title = ['signing-gateway', ...process.argv.slice(2)].join(' ');

const nodeOptions = `${process.execArgv} ${process.env['NODE_OPTIONS']}`;
if (isServing) (await import('./run/v8-flags.ts')).setV8Flags('loading', nodeOptions);

// Later starts read compiled code from a cache, which saves a quarter of their time. In Node's own folder, others may store code.
const { findCacheFolder, pruneCacheFolder } = await import('./compile-cache.ts');
const chosenFolder = process.env['NODE_COMPILE_CACHE'];
const cacheFolder = chosenFolder ?? findCacheFolder(process.env, process.getuid?.());
if (cacheFolder !== undefined) {
  module.enableCompileCache(cacheFolder);
  // Threads use the cache only if the environment names it. V8 rejects compiled code in those of a gateway, not TypeScript without types.
  if (isServing && !import.meta.url.endsWith('.ts')) delete process.env['NODE_COMPILE_CACHE'];
  else process.env['NODE_COMPILE_CACHE'] = cacheFolder;
}

// The YAML parser reads an environment variable for each token. As a system call each time, that takes a sixth of the
// parsing time.
process.env = { ...process.env };

const { main } = await import('./command-line.ts');
const code = await main(process.argv.slice(2), createTerminal());
if (chosenFolder === undefined && cacheFolder !== undefined) pruneCacheFolder(cacheFolder, module.getCompileCacheDir());
// A gateway exits explicitly. If Node exited by itself, it would first restore the default actions of signals, and a late
// signal would end the process.
if (isServing) exitAfterStderrFlush(code);
else process.exitCode = code;

/** Returns the Node that is installed in the folder or in one above it, which npx runs. */
function findNodeBeside(folder: string): string | undefined {
  const path = join(folder, 'node_modules/.bin/node');
  if (existsSync(path)) return path;
  return dirname(folder) === folder ? undefined : findNodeBeside(dirname(folder));
}

/**
 * Returns the signals that arrived before our handlers were registered. Until then Node handles SIGINT and SIGTERM once each:
 * its handler removes itself and raises the signal again for the default action, which PID 1 does not have. So if only one of
 * the two handlers is left, the signal of the other one was lost.
 */
function findLostSignals(): Signal[] {
  // Systems without /proc do not report lost signals.
  const path = '/proc/self/status';
  const status = existsSync(path) ? readFileSync(path, 'latin1') : '';
  const caught = BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? 0}`);
  const isMissed = (signal: Signal) => ((caught >> BigInt(constants.signals[signal] - 1)) & 1n) === 0n;
  const missed = (['SIGINT', 'SIGTERM'] as const).filter(isMissed);
  return missed.length === 1 ? missed : [];
}

function handleSignal(signal: Signal): void {
  const action = SIGNALS[signal];
  if (action === 'stop' || (action === 'reload' && !isServing)) {
    // A second signal ends the process at once.
    if (stop.signal.aborted || !isLongRunning) exitNow(SIGNAL_EXIT_BASE + constants.signals[signal]);
    stop.abort(signal);
  } else if (onSignal === undefined) earlySignals.add(signal);
  else onSignal(signal);
}

/** Stops when the parent process ends: a shell of npm that a signal ends does not pass it on, and the gateway would keep its ports. */
function stopWithParent(): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    if (!stop.signal.aborted) handleSignal('SIGTERM');
  }, PARENT_CHECK_MS).unref();
}

function createTerminal(): Terminal {
  return {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    outColour: hasColour(process.stdout),
    errColour: hasColour(process.stderr),
    outIsTerminal: process.stdout.isTTY === true,
    errIsTerminal: process.stderr.isTTY === true,
    openStreams: () => ({ input: process.stdin, output: process.stdout }),
    stop: stop.signal,
    onAbruptExit: (listener) => {
      // Unhandled rejections arrive here too. After an unexpected error the process never continues.
      if (abruptExitListeners.length === 0) process.on('uncaughtException', (error) => exitNow(1, error));
      abruptExitListeners.push(listener);
    },
    onSignal: (listener) => {
      onSignal = listener;
      for (const signal of earlySignals) listener(signal);
      earlySignals.clear();
    },
    setHungThreadCheck: (check) => {
      isThreadHung = check;
    },
  };
}

/** True if the stream shows colour: FORCE_COLOR has precedence over NO_COLOR (https://force-color.org, https://no-color.org). */
function hasColour(stream: NodeJS.WriteStream): boolean {
  const forced = process.env['FORCE_COLOR'];
  if (forced) return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
}

function exitNow(exitCode: number, ...error: unknown[]): void {
  for (const listener of abruptExitListeners) listener(...error);
  exit(exitCode);
}

/** Exits when all output to standard error is written, or after a timeout if its reader has stalled. */
function exitAfterStderrFlush(exitCode: ExitCode): void {
  setTimeout(() => exit(exitCode), STDERR_FLUSH_TIMEOUT_MS);
  process.stderr.write('', () => exit(exitCode));
}

function exit(exitCode: number): void {
  if (isThreadHung()) replaceProcess(exitCode);
  process.exit(exitCode);
}

/** Replaces this process: `process.exit` would wait for every thread, and one that hangs in the kernel never ends. */
function replaceProcess(exitCode: number): void {
  // Lets another thread finish the log line that it may be writing.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, LOG_WRITE_WAIT_MS);
  process.execve?.(process.execPath, [process.execPath, '--eval', `process.exit(${exitCode})`], {});
}
