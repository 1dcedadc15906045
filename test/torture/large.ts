import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Measured {
  /** From the asking until it was in force. */
  readonly ms: number;
  /** What all threads of the process had of the processors meanwhile: on a busy machine it says more than the time. */
  readonly processorMs: number;
  /** The longest time in which no callback was called. */
  readonly pauseMs: number;
  /** What the serving thread itself had of a processor between two callbacks, at most. */
  readonly ownPauseMs: number;
}

/** Reloads a manifest of many routes, in a process that does nothing else. */
export async function reportLarge(routes: number, say: (text: string) => void): Promise<boolean> {
  const child = fork(fileURLToPath(new URL('large-process.ts', import.meta.url)), [String(routes)]);
  const [measured] = (await once(child, 'message')) as [readonly Measured[]];
  await once(child, 'exit');
  say(
    `| reload of ${routes} routes | in force after | of processor time | longest pause | of its own making |\n|---|---|---|---|---|\n`,
  );
  for (const [index, figures] of measured.entries()) {
    const { ms, processorMs, pauseMs, ownPauseMs } = figures;
    const cells = [ms, processorMs, pauseMs, ownPauseMs].map((figure) => `${Math.round(figure)} ms`);
    say(`| ${index + 1} | ${cells.join(' | ')} |\n`);
  }
  say('\n');
  return measured.some(({ ms, pauseMs }) => ms > 1_000 || pauseMs > 50);
}
