import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CliProcess } from './cli.ts';

/**
 * The hooks that every thread of a gateway loads first. They run code in all workers at their start, and in one worker when the process
 * receives SIGUSR2.
 */
const HOOKS = `
import { readFileSync } from 'node:fs';
import { BroadcastChannel, isMainThread, threadName, workerData } from 'node:worker_threads';
const channel = new BroadcastChannel('hooks of the test');
channel.unref();
if (isMainThread) process.on('SIGUSR2', () => {
  channel.postMessage(JSON.parse(readFileSync(process.env.HOOKS_COMMAND, 'utf8')));
});
else if (workerData?.index > 0) (0, eval)(process.env.HOOKS_START);
if (!isMainThread) channel.onmessage = ({ data: { index, code } }) => {
  // In a turn of its own, where an error is not caught.
  if (workerData?.index === index || threadName === index) setImmediate(() => (0, eval)(code));
};
`;

/**
 * Returns the environment in which `runInWorker` reaches the workers of a gateway.
 *
 * @param atStart code that each worker runs before it loads the gateway
 */
export function workerHooks(folder: string, { options = '', atStart = '' } = {}): Record<string, string> {
  const file = join(folder, 'hooks.mjs');
  writeFileSync(file, HOOKS);
  return {
    NODE_OPTIONS: `--import ${file} ${options}`,
    HOOKS_COMMAND: join(folder, 'command.json'),
    HOOKS_START: atStart,
  };
}

/** Runs code in a worker, or in the thread with this name, of a gateway that has these hooks. */
export function runInWorker({ child }: CliProcess, folder: string, index: number | string, code: string): void {
  writeFileSync(join(folder, 'command.json'), JSON.stringify({ index, code }));
  child.kill('SIGUSR2');
}
