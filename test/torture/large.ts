import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Measured {
  /** From the asking until it was in force. */
  readonly ms: number;
  /** The longest time in which no callback was called. */
  readonly pauseMs: number;
}

/** Reloads a manifest of many routes, in a process that does nothing else. */
export async function reportLarge(routes: number, say: (text: string) => void): Promise<boolean> {
  const child = fork(fileURLToPath(new URL('large-process.ts', import.meta.url)), [String(routes)]);
  const [measured] = (await once(child, 'message')) as [readonly Measured[]];
  await once(child, 'exit');
  say(`| reload of ${routes} routes | in force after | longest pause |\n|---|---|---|\n`);
  for (const [index, { ms, pauseMs }] of measured.entries())
    say(`| ${index + 1} | ${Math.round(ms)} ms | ${Math.round(pauseMs)} ms |\n`);
  say('\n');
  return measured.some(({ ms, pauseMs }) => ms > 1_000 || pauseMs > 50);
}
