import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';

const LOG = new URL('../src/log.ts', import.meta.url).href;

/** A process that logs to what takes no lines, and ends by its own will; `null`: it had to be killed. */
async function codeOf(destination: string): Promise<number | null> {
  const code = `
    import { createLog } from '${LOG}';
    // As the command line does, which puts a pipe into the mode in which nobody waits for it.
    process.stdout.on('error', () => undefined);
    const log = createLog(${destination});
    const lines = setInterval(() => {
      for (let turn = 0; turn < 200; turn += 1) log.line('x'.repeat(5_000));
    }, 100);
    setTimeout(() => {
      clearInterval(lines);
      log.flush();
      process.exitCode = 7;
    }, 700);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 10_000,
    killSignal: 'SIGKILL',
  });
  // Not a byte of its output is read.
  const [exit] = await once(child, 'exit');
  child.stdout.destroy();
  return exit;
}

describe('the end of a process', () => {
  it.each([
    ['a reader that takes nothing any more', '1'],
    ['a full disk', "'/dev/full'"],
  ])(
    'is not held up by %s',
    async (_what, destination) => {
      expect(await codeOf(destination)).toBe(7);
    },
    15_000,
  );
});
