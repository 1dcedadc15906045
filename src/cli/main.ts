#!/usr/bin/env node
/**
 * The process: its signals, its standard streams, its end. The signal handlers stand before anything of the project is
 * loaded, so the command line itself is imported below them.
 */
import { readFileSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import type { ExitCode, Terminal } from './terminal.ts';

const NODE = 26;
/** Shells add this to a signal's number. */
const SIGNAL_EXIT_BASE = 128;
/** A reader of the standard error that takes nothing must not hold up the end of a gateway for longer. */
const STDERR_FLUSH_TIMEOUT_MS = 1_000;
/** A line of the log is written by then. */
const LOG_WRITE_WAIT_MS = 100;

/** Signals whose default action ends the process or, of `SIGUSR1`, opens the inspector. Faults and job control keep their actions. */
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

const [verb = '', ...others] = process.argv.slice(2);
const isServing = verb === 'run' || verb === 'dev';
const isLongRunning = isServing || (verb === 'test' && others.includes('--watch'));
/** Other verbs end by the default action, even while they wait for a file. The kernel denies PID 1 any default action. */
const isHandlingSignals = isLongRunning || process.pid === 1;

const stop = new AbortController();
const abruptExitListeners: ((fault?: unknown) => void)[] = [];
/** Signals that arrived before anybody listened. */
const earlySignals = new Set<Signal>();
let onSignal: ((signal: Signal) => void) | undefined;
let isThreadHung = () => false;

const lostSignals = process.pid === 1 ? findLostSignals() : [];
if (isHandlingSignals) for (const signal of Object.keys(SIGNALS) as Signal[]) process.on(signal, handleSignal);
for (const signal of lostSignals) handleSignal(signal);

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (isServing) return;
  // A reader that has seen enough, `| head` for example, is no fault: the verb ends by itself.
  if (error.code === 'EPIPE') return stop.abort(error.code);
  process.stderr.write(`signing-gateway: the standard output cannot be written: ${error.code}\n`);
  process.exit(2);
});
// Without a listener, a full disk or a reader that left would end the process.
process.stderr.on('error', () => undefined);

if (Number.parseInt(process.versions.node, 10) < NODE) {
  process.stderr.write(`signing-gateway: this is Node ${process.versions.node}; it needs Node ${NODE} or later\n`);
  process.exit(2);
}

// From the second start on, compiled code is read from a cache: that saves a third of the time.
module.enableCompileCache();

const { main } = await import('./command-line.ts');
const code = await main(process.argv.slice(2), terminalOf);
// A gateway ends at once, since a process that ends by itself gives signals their default actions first.
if (isServing) exitAfterStderrFlush(code);
else process.exitCode = code;

/**
 * Until here Node's own handlers take SIGINT and SIGTERM, each once: they raise the signal again for its default action,
 * which the kernel denies PID 1. So where only one of the two handlers still stands, the other one's signal was lost.
 */
function findLostSignals(): Signal[] {
  const caught = BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)$/m.exec(readStatus())?.[1] ?? 0}`);
  const isMissed = (signal: Signal) => ((caught >> BigInt(constants.signals[signal] - 1)) & 1n) === 0n;
  const found = (['SIGINT', 'SIGTERM'] as const).filter(isMissed);
  return found.length === 1 ? found : [];
}

function readStatus(): string {
  try {
    return readFileSync('/proc/self/status', 'latin1');
  } catch {
    // Without /proc nothing is known.
    return '';
  }
}

function handleSignal(signal: Signal): void {
  const action = SIGNALS[signal];
  if (action === 'stop' || (action === 'reload' && !isServing)) {
    // A second signal means: now.
    if (stop.signal.aborted || !isLongRunning) exitNow(SIGNAL_EXIT_BASE + constants.signals[signal]);
    stop.abort(signal);
  } else if (onSignal === undefined) earlySignals.add(signal);
  else onSignal(signal);
}

function terminalOf(args: readonly string[]): Terminal {
  return {
    args,
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    outColour: showsColour(process.stdout),
    errColour: showsColour(process.stderr),
    outIsTerminal: process.stdout.isTTY === true,
    stop: stop.signal,
    onAbruptExit: (listener) => {
      // An unhandled rejection arrives here too. After an unknown fault the process never continues.
      if (abruptExitListeners.length === 0) process.on('uncaughtException', (fault) => exitNow(1, fault));
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

/** See https://no-color.org for NO_COLOR. */
function showsColour(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
}

function exitNow(exitCode: number, ...fault: unknown[]): void {
  for (const listener of abruptExitListeners) listener(...fault);
  end(exitCode);
}

/** Ends once the standard error is written, or its reader has had its time. */
function exitAfterStderrFlush(exitCode: ExitCode): void {
  setTimeout(() => end(exitCode), STDERR_FLUSH_TIMEOUT_MS);
  process.stderr.write('', () => end(exitCode));
}

function end(exitCode: number): void {
  if (isThreadHung()) replaceProcess(exitCode);
  process.exit(exitCode);
}

/**
 * `process.exit` waits for every thread, and one that hangs in the kernel never ends. Another program in this process's place
 * ends with the same code.
 */
function replaceProcess(exitCode: number): void {
  // Another thread may be in the middle of writing the log, and would be cut off.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, LOG_WRITE_WAIT_MS);
  process.execve?.(process.execPath, [process.execPath, '--eval', `process.exit(${exitCode})`], {});
}
