#!/usr/bin/env node
import module from 'node:module';
import { constants } from 'node:os';
import { suggestion } from '../problem/did-you-mean.ts';
import { type ExitCode, type Terminal, UsageError, type Verb, WorkError } from './terminal.ts';
import { formatUsage } from './usage.ts';
import { version } from './version.ts';

interface Entry {
  readonly summary: string;
  /** Each verb is read when it is asked for: checking a manifest needs no server. */
  readonly load: () => Promise<Verb>;
}

const VERBS: Readonly<Record<string, Entry>> = {
  run: {
    summary: 'serve a manifest, and reload it when the file changes',
    load: async () => (await import('./run.ts')).run,
  },
  dev: {
    summary: 'serve a manifest in front of the sandbox, a local stand-in for the upstream services',
    load: async () => (await import('./dev.ts')).dev,
  },
  health: {
    summary: 'ask a running gateway how it is, for a probe',
    load: async () => (await import('./health.ts')).health,
  },
  lint: { summary: 'check a manifest without serving it', load: async () => (await import('./lint.ts')).lint },
  explain: {
    summary: 'tell what becomes of a request and why, without a network',
    load: async () => (await import('./explain.ts')).explain,
  },
  test: {
    summary: 'ask a manifest what a test file asks, without a network, and hold it to what is expected',
    load: async () => (await import('./test.ts')).test,
  },
  diff: {
    summary: 'tell what differs between two manifests, by what it means',
    load: async () => (await import('./diff.ts')).diff,
  },
  routes: { summary: 'print the compiled table of routes', load: async () => (await import('./routes.ts')).routes },
  init: {
    summary: 'write a first manifest, and tests of it',
    load: async () => (await import('./init.ts')).init,
  },
  schema: { summary: "print the manifest's JSON Schema", load: async () => (await import('./schema.ts')).schema },
  fmt: { summary: 'lay a manifest out, comments kept', load: async () => (await import('./fmt.ts')).fmt },
  completion: {
    summary: "print a shell's completion of this command",
    load: async () => (await import('./completion.ts')).completionOf(VERBS),
  },
};

/** What shells add to a signal's number. */
const ENDED_BY = 128;

const NODE = 26;

// What is read from here on needs it, and would fail without saying why.
if (Number.parseInt(process.versions.node, 10) < NODE) {
  process.stderr.write(`signing-gateway: this is Node ${process.versions.node}; it needs Node ${NODE} or later\n`);
  process.exit(2);
}

// From the second start on, what was compiled is read from a cache: a third of the time is saved.
module.enableCompileCache();

// A reader that has seen enough, `| head` say, is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 2));

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<ExitCode> {
  const [name = '', ...args] = argv;
  if (name === '--version' || name === '-v') return say(`${version}\n`);
  if (name === '--help' || name === '-h' || name === 'help') return say(help());
  const entry = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (entry === undefined)
    return complain(
      name === '' ? 'name a verb' : `there is no verb "${name}"${suggestion(name, Object.keys(VERBS))}`,
      help(),
    );
  const verb = await entry.load();
  const usage = formatUsage(verb, entry.summary);
  if (args.includes('--help') || args.includes('-h')) return say(usage);
  try {
    return await verb.run(terminal(args));
  } catch (error) {
    if (error instanceof WorkError) return complain(error.message);
    if (error instanceof UsageError || isArgumentError(error)) return complain((error as Error).message, usage);
    throw error;
  }
}

function terminal(args: readonly string[]): Terminal {
  const stop = new AbortController();
  const listeners: ((fault?: unknown) => void)[] = [];
  const endNow = (code: number, ...fault: unknown[]) => {
    for (const listener of listeners) listener(...fault);
    process.exit(code);
  };
  const ask = (signal: NodeJS.Signals) => {
    // The second time is meant.
    if (stop.signal.aborted) endNow(ENDED_BY + constants.signals[signal]);
    stop.abort(signal);
  };
  process.on('SIGTERM', ask).on('SIGINT', ask);
  return {
    args,
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    outColour: showsColour(process.stdout),
    errColour: showsColour(process.stderr),
    outIsTerminal: process.stdout.isTTY === true,
    stop: stop.signal,
    onSuddenEnd: (listener) => {
      // A rejection that nobody handles comes here too. What goes on after a fault nobody knows the state of.
      if (listeners.length === 0) process.on('uncaughtException', (fault) => endNow(1, fault));
      listeners.push(listener);
    },
    onReload: (listener) => {
      process.on('SIGHUP', listener);
      return () => void process.off('SIGHUP', listener);
    },
  };
}

/** See https://no-color.org for NO_COLOR. */
function showsColour(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
}

function isArgumentError(error: unknown): boolean {
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

function say(text: string): ExitCode {
  process.stdout.write(text);
  return 0;
}

function complain(message: string, usage = ''): ExitCode {
  process.stderr.write(`signing-gateway: ${message}\n${usage === '' ? '' : `\n${usage}`}`);
  return 2;
}

function help(): string {
  const width = Math.max(...Object.keys(VERBS).map(({ length }) => length));
  const verbs = Object.entries(VERBS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `${[
    'A declarative API gateway: one YAML manifest, checked, compiled and served.',
    '',
    'Usage: signing-gateway VERB [OPTIONS]',
    '',
    ...verbs,
    '',
    '  VERB --help shows its options and examples; --version prints the version.',
    '  Exit codes: 0 clean, 1 problems found, 2 wrong usage or the work could not be done.',
  ].join('\n')}\n`;
}
