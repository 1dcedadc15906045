import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface ReloadMeasurement {
  /** Time from the request until the manifest is active. */
  readonly ms: number;
  /** Processor time of all threads meanwhile. On a busy machine it is more accurate than the elapsed time. */
  readonly processorMs: number;
  /** The longest time without a callback. */
  readonly pauseMs: number;
  /** The most processor time that the main thread used between two callbacks. */
  readonly ownPauseMs: number;
}

/** Measures reloads of a manifest with many routes, in a process that does nothing else. Returns true if they are too slow. */
export async function reportLarge(routes: number, print: (text: string) => void): Promise<boolean> {
  const child = fork(fileURLToPath(new URL('large-process.ts', import.meta.url)), [String(routes)]);
  const [measurements] = (await once(child, 'message')) as [readonly ReloadMeasurement[]];
  await once(child, 'exit');
  print(
    `| reload of ${routes} routes | active after | processor time | longest pause | of the main thread |\n|---|---|---|---|---|\n`,
  );
  for (const [index, measurement] of measurements.entries()) {
    const { ms, processorMs, pauseMs, ownPauseMs } = measurement;
    const cells = [ms, processorMs, pauseMs, ownPauseMs].map((figure) => `${Math.round(figure)} ms`);
    print(`| ${index + 1} | ${cells.join(' | ')} |\n`);
  }
  print('\n');
  return measurements.some(({ ms, pauseMs }) => ms > 1_000 || pauseMs > 50);
}
