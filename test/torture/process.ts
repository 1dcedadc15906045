import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { MAIN } from '../support/cli.ts';
import type { ReloadEvent, Serving } from './site.ts';

const KINDS: Readonly<Record<string, ReloadEvent['kind']>> = {
  'manifest reloaded': 'accepted',
  'manifest rejected; the gateway keeps the active manifest': 'rejected',
  'manifest cannot be read; the gateway keeps the active manifest': 'unreadable',
  'manifest could not be loaded; the gateway keeps the active manifest': 'failed',
};

export interface Process extends Serving {
  /** Returns the resident memory in MB. */
  residentMb(): number;
}

/** Starts the gateway in its own process. Its log reports the reloads. */
export async function startProcess(path: string, admin: number): Promise<Process> {
  const child = spawn(process.execPath, [MAIN, 'run', path], { stdio: ['ignore', 'pipe', 'ignore'] });
  const reloads: ReloadEvent[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the gateway exited')));
    createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> }).on('line', (line) => {
      // Skips the access log.
      if (!line.includes('"msg":')) return;
      const { msg, url, hash } = JSON.parse(line);
      if (msg === 'serving') resolve(Number(new URL(url).port));
      const kind = KINDS[msg];
      if (kind !== undefined) reloads.push({ kind, hash });
    });
  });
  return {
    port,
    reloads,
    reload: async () => {
      await (await fetch(`http://127.0.0.1:${admin}/-/reload`, { method: 'POST' })).text();
    },
    residentMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    close: async () => {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
