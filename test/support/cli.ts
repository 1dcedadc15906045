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

/** Starts the command line as a process in this folder. */
export function startCli(args: readonly string[], cwd: string, env: Record<string, string> = {}): CliProcess {
  const { NO_COLOR: _no, FORCE_COLOR: _force, ...inherited } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { ...inherited, ...env },
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
        if (match !== null) resolve(match);
      };
      child.stdout.on('data', check);
      child.stderr.on('data', check);
      void result.then(() => reject(new Error(`the process ended without ${pattern}:\n${out}${err}`)));
      check();
    });
  return { child, out: () => out, err: () => err, waitFor, result };
}

/** Runs the command line until it exits. */
export function runCli(args: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<CliResult> {
  return startCli(args, cwd, env).result;
}
