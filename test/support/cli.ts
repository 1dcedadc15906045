import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CliProcess {
  readonly child: ChildProcess;
  /** The output so far. */
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves when the output matches. Rejects if the process ends first. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  result: Promise<CliResult>;
}

/** Starts the command line, or another program, as a process in this folder. */
export function startCli(
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
  program = MAIN,
): CliProcess {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...inheritedEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const result = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }));
  const waitFor = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const check = () => {
        const match = pattern.exec(out + err);
        if (match === null) return;
        for (const stream of [child.stdout, child.stderr]) stream.off('data', check);
        resolve(match);
      };
      child.stdout.on('data', check);
      child.stderr.on('data', check);
      void result.then(() => reject(new Error(`the process ended without ${pattern}:\n${out}${err}`)));
      check();
    });
  return { child, out: () => out, err: () => err, waitFor, result };
}

/** Runs the command line as a process in this folder until it exits. */
export function runProcess(args: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<CliResult> {
  return startCli(args, cwd, env).result;
}

/**
 * The verbs that end by themselves and use nothing of the process but its working directory.
 * `test/cli/process.deep.test.ts` checks that they give the same result in a process of their own.
 */
export const OFFLINE_VERBS = [
  'lint',
  'explain',
  'test',
  'diff',
  'replay',
  'surrogate',
  'routes',
  'schema',
  'fmt',
  'init',
  'completion',
  'record',
  'openapi',
  'import',
  'drift',
  'prove',
  'help',
  '--help',
  '--version',
];

/** The last run in this process. The runs take turns, since a process has one working directory. */
let lastRun: Promise<unknown> = Promise.resolve();

/** Runs the command line until it exits: in this process, or in a new one where the process makes a difference. */
export function runCli(args: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<CliResult> {
  const isOffline = OFFLINE_VERBS.includes(args[0] ?? '') || args.includes('--help');
  return isOffline && !('NODE_OPTIONS' in env) ? runInThisProcess(args, cwd, env) : runProcess(args, cwd, env);
}

/** Runs the command line in this process: a verb that ends by itself, or `run` where it refuses to start. */
export function runInThisProcess(
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<CliResult> {
  const run = lastRun.then(() => runHere(args, cwd, env));
  lastRun = run.catch(() => undefined);
  return run;
}

async function runHere(argv: readonly string[], cwd: string, env: Record<string, string>): Promise<CliResult> {
  const before = process.cwd();
  let out = '';
  let err = '';
  process.chdir(cwd);
  try {
    const { main } = await import('../../src/cli/command-line.ts');
    const code = await main(argv, {
      env: { ...inheritedEnvironment(), ...env },
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      outColour: false,
      errColour: false,
      outIsTerminal: false,
      errIsTerminal: false,
      stop: new AbortController().signal,
      onAbruptExit: () => undefined,
      onSignal: () => undefined,
      setHungThreadCheck: () => undefined,
      openStreams: () => {
        throw new Error('no command of this test serves a protocol');
      },
    });
    return { code, out, err };
  } finally {
    process.chdir(before);
  }
}

function inheritedEnvironment(): NodeJS.ProcessEnv {
  const { NO_COLOR: _no, FORCE_COLOR: _force, ...inherited } = process.env;
  return inherited;
}
