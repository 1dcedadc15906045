import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { MAIN } from '../support/cli.ts';
import type { Serving, Telling } from './site.ts';

const KINDS: Readonly<Record<string, Telling['kind']>> = {
  'manifest reloaded': 'accepted',
  'manifest rejected; the gateway keeps the active manifest': 'rejected',
  'manifest cannot be read; the gateway keeps the active manifest': 'unreadable',
};

export interface Process extends Serving {
  /** Megabytes that it holds now. */
  residentMb(): number;
}

/** The gateway as it is run, in a process of its own; what it tells is read from its log. */
export async function startProcess(path: string, admin: number): Promise<Process> {
  const child = spawn(process.execPath, [MAIN, 'run', path], { stdio: ['ignore', 'pipe', 'ignore'] });
  const tellings: Telling[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the gateway ended')));
    createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> }).on('line', (line) => {
      // A line for each request is not looked into.
      if (!line.includes('"msg":')) return;
      const { msg, url, hash } = JSON.parse(line);
      if (msg === 'serving') resolve(Number(new URL(url).port));
      const kind = KINDS[msg];
      if (kind !== undefined) tellings.push({ kind, hash });
    });
  });
  return {
    port,
    tellings,
    ask: async () => {
      await (await fetch(`http://127.0.0.1:${admin}/-/reload`, { method: 'POST' })).text();
    },
    residentMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    close: async () => {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
