import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import type { LogStatus } from '../../src/log/log.ts';

const LOG = new URL('../../src/log/log.ts', import.meta.url).href;

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

/**
 * A process that writes many lines to a pipe, and says on standard error how that went: each time that it gets a line on
 * standard input, which makes it write so many lines.
 */
function startLogger() {
  const code = `
    import { createInterface } from 'node:readline';
    import { createLog } from '${LOG}';
    process.stdout.on('error', () => undefined);
    const log = createLog(1);
    for await (const count of createInterface({ input: process.stdin })) {
      for (let turn = 0; turn < Number(count); turn += 1) log.line('{"msg":"line","text":"' + 'x'.repeat(1_000) + '"}');
      await new Promise((resolve) => setTimeout(resolve, 150));
      process.stderr.write(JSON.stringify(log.status()) + '\\n');
    }
    log.flush();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: 'pipe' });
  const answers = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  return {
    child,
    /** Has it write lines. */
    async write(count: number): Promise<LogStatus> {
      child.stdin.write(`${count}\n`);
      return JSON.parse((await answers.next()).value ?? 'null');
    },
  };
}

describe('lines that are lost', () => {
  it('are counted while nobody reads, and reported in the log once somebody does', async () => {
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
        expect(['line', 'lines of the log were lost: they were not read, or could not be written']).toContain(msg);
      }
    })();
    let status = full;
    // Each line of standard input has one line written.
    for (let asked = 1; status.waitingBytes > 0 || reports.length === 0; asked += 1) {
      status = await write(1);
      lines -= 1;
      expect(asked).toBeLessThan(200);
    }
    child.stdin.end();
    await reading;
    expect(status.droppedLines).toBe(full.droppedLines);
    expect(reports).toEqual([{ count: full.droppedLines }]);
    expect(lines + full.droppedLines).toBe(30_000);
  }, 60_000);

  it('are told from those of a reader that has gone', async () => {
    const { child, write } = startLogger();
    child.stdout.destroy();
    let status = await write(1);
    for (let asked = 0; status.error === undefined && asked < 100; asked += 1) status = await write(1);
    expect(status.error).toBe('EPIPE');
    expect((await write(30_000)).droppedLines).toBeGreaterThan(5_000);
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  }, 60_000);
});
