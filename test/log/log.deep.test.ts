import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import type { LogStatus } from '../../src/process/log/process-log.ts';
import { eventually } from '../support/site.ts';
import { scaledMs } from '../support/slowness.ts';

const LOG = new URL('../../src/process/log/process-log.ts', import.meta.url).href;

/** Returns the exit code of a process whose log destination accepts no lines; `null` if the process had to be killed. */
async function exitCodeOf(destination: string): Promise<number | null> {
  const code = `
    import { createProcessLog } from '${LOG}';
    // Like the command line: the listener makes writes to a pipe non-blocking.
    process.stdout.on('error', () => undefined);
    const log = createProcessLog(${destination});
    for (let round = 0; round < 7; round += 1) {
      for (let turn = 0; turn < 200; turn += 1) log.writeLine('x'.repeat(5_000));
      await new Promise((resolve) => setImmediate(resolve));
    }
    while (log.status().error === undefined) await new Promise((resolve) => setImmediate(resolve));
    log.flush();
    process.exitCode = 7;`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: scaledMs(10_000),
    killSignal: 'SIGKILL',
  });
  // Nothing reads the output.
  const [exit] = await once(child, 'exit');
  child.stdout.destroy();
  return exit;
}

describe('a process with a log', () => {
  it.each([
    ['a reader that has stalled', '1'],
    ['a full disk', "'/dev/full'"],
  ])('exits in time in spite of %s', async (_case, destination) => {
    expect(await exitCodeOf(destination)).toBe(7);
  });
});

/**
 * Starts a process that logs to a pipe. For each number on standard input it writes that many lines, then prints the status of
 * the log to standard error.
 */
function startLogger() {
  const code = `
    import { createInterface } from 'node:readline';
    import { createProcessLog } from '${LOG}';
    process.stdout.on('error', () => undefined);
    const log = createProcessLog(1);
    for await (const count of createInterface({ input: process.stdin })) {
      for (let turn = 0; turn < Number(count); turn += 1) log.writeLine('{"msg":"line","text":"' + 'x'.repeat(1_000) + '"}');
      process.stderr.write(JSON.stringify(log.status()) + '\\n');
    }
    log.flush();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: 'pipe' });
  const statuses = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  return {
    child,
    /** Makes the process write lines. */
    async write(count: number): Promise<LogStatus> {
      child.stdin.write(`${count}\n`);
      return JSON.parse((await statuses.next()).value ?? 'null');
    },
  };
}

describe('lost lines', () => {
  it('are counted while the reader has stalled, and reported in the log once it reads again', async () => {
    const { child, write } = startLogger();
    child.stdout.pause();
    const full = await write(30_000);
    expect(full.waitingBytes).toBeGreaterThan(15 * 1024 ** 2);
    expect(full.droppedLines).toBeGreaterThan(5_000);
    let lines = 0;
    const reports: { count: number }[] = [];
    const reading = (async () => {
      for await (const line of createInterface({ input: child.stdout })) {
        const { msg, count } = JSON.parse(line);
        if (msg === 'line') lines += 1;
        else reports.push({ count });
        expect(['line', 'log lines were lost, because they could not be written or were not read in time']).toContain(
          msg,
        );
      }
    })();
    const reportedCount = () => reports.reduce((sum, { count }) => sum + count, 0);
    await eventually('each line is written or reported', () => lines + reportedCount() === 30_000);
    const status = await write(0);
    child.stdin.end();
    await reading;
    expect(reports).toEqual([{ count: status.droppedLines }]);
    // The log may have lost its last block of lines after the first status.
    expect(status.droppedLines).toBeGreaterThanOrEqual(full.droppedLines);
  });

  it('of a reader that has closed the pipe are counted, with the error EPIPE', async () => {
    const { child, write } = startLogger();
    child.stdout.destroy();
    await eventually('a write fails', async () => (await write(1)).error !== undefined);
    expect((await write(1)).error).toBe('EPIPE');
    expect((await write(30_000)).droppedLines).toBeGreaterThan(5_000);
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
