import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CliProcess, MAIN, runCli, startCli } from '../support/cli.ts';
import { pause } from '../support/pause.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
const started: CliProcess[] = [];
const inContainer: ChildProcess[] = [];

beforeEach(() => {
  folder = temporaryFolder('signals', { 'gateway.yaml': manifest('0s') });
});
afterEach(async () => {
  for (const { child, result } of started.splice(0)) {
    child.kill('SIGKILL');
    await result;
  }
  for (const child of inContainer.splice(0)) child.kill('SIGKILL');
});

const manifest = (delay: string) => `version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: http://127.0.0.1:9 } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
server: { stopping: { delay: ${delay} } }
`;

const SERVING = /"msg":"serving"/;

function start(args: string[], env: Record<string, string> = {}): CliProcess {
  const cli = startCli(args, folder, env);
  started.push(cli);
  return cli;
}

/** Returns an environment in which the process sends itself signals when it imports its first module. */
function signalAtFirstImport(...signals: string[]): Record<string, string> {
  const kills = signals.map((signal) => `process.kill(process.pid, '${signal}');`).join('');
  const hooks = `import { registerHooks } from 'node:module';
    import { isMainThread } from 'node:worker_threads';
    let isSent = !isMainThread;
    registerHooks({ resolve(name, context, next) {
      if (!isSent && name.startsWith('.')) { isSent = true; ${kills} }
      return next(name, context);
    } });`;
  writeFileSync(join(folder, 'hooks.mjs'), hooks);
  return { NODE_OPTIONS: `--import ${join(folder, 'hooks.mjs')}` };
}

describe('while the gateway is loading', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGQUIT'])('%s stops it before it serves', async (signal) => {
    expect(await runCli(['run'], folder, signalAtFirstImport(signal))).toEqual({ code: 0, out: '', err: '' });
  });

  it('a second signal ends it with the exit code of that signal', async () => {
    const { code } = await runCli(['run'], folder, signalAtFirstImport('SIGTERM', 'SIGINT'));
    expect([128 + 2, 128 + 15]).toContain(code);
  });

  it('SIGHUP reloads the manifest as soon as the gateway serves', async () => {
    const cli = start(['run'], signalAtFirstImport('SIGHUP'));
    await cli.waitFor(/"cause":"signal","msg":"manifest unchanged; nothing was reloaded"/);
  });

  it('SIGUSR1 is logged and does not open the inspector', async () => {
    const cli = start(['run'], signalAtFirstImport('SIGUSR1'));
    await cli.waitFor(/"signal":"SIGUSR1","msg":"signal ignored"/);
    expect(cli.err()).toBe('');
  });
});

describe('while the gateway serves', () => {
  const others = [
    'SIGUSR1',
    'SIGUSR2',
    'SIGALRM',
    'SIGVTALRM',
    'SIGPROF',
    'SIGIO',
    'SIGPWR',
    'SIGSTKFLT',
    'SIGXCPU',
  ] as const;

  it('all signals that do not stop it or reload are ignored and logged', async () => {
    const cli = start(['run']);
    await cli.waitFor(SERVING);
    for (const signal of others) {
      cli.child.kill(signal);
      const name = signal === 'SIGIO' ? 'SIG(IO|POLL)' : signal;
      await cli.waitFor(new RegExp(`"signal":"${name}","msg":"signal ignored"`));
    }
    cli.child.kill('SIGTERM');
    expect((await cli.result).code).toBe(0);
    expect(cli.err()).toBe('');
  });

  it('SIGQUIT stops it like SIGTERM', async () => {
    const cli = start(['run']);
    await cli.waitFor(SERVING);
    cli.child.kill('SIGQUIT');
    await cli.waitFor(/"signal":"SIGQUIT","delay_ms":0/);
    expect((await cli.result).code).toBe(0);
  });
});

describe('while the gateway stops', () => {
  it('SIGHUP is logged and does not reload', async () => {
    writeFileSync(join(folder, 'gateway.yaml'), manifest('2s'));
    const cli = start(['run']);
    await cli.waitFor(SERVING);
    cli.child.kill('SIGTERM');
    await cli.waitFor(/"msg":"stopping"/);
    cli.child.kill('SIGHUP');
    await cli.waitFor(/"signal":"SIGHUP","msg":"the gateway is stopping; SIGHUP is ignored"/);
    expect((await cli.result).code).toBe(0);
  });

  it('SIGHUP never kills it before its exit', async () => {
    const cli = start(['run']);
    await cli.waitFor(SERVING);
    cli.child.kill('SIGTERM');
    const sending = setInterval(() => cli.child.kill('SIGHUP'), 1);
    expect((await cli.result).code).toBe(0);
    clearInterval(sending);
  });
});

describe('while test changes the manifest', () => {
  it.each(['SIGINT', 'SIGTERM'])('%s ends it with the results so far', async (signal) => {
    const request = '{ method: GET, url: /one }';
    const cases = `version: 1\ncases: [{ name: one, request: ${request}, expect: { route: one } }]\n`;
    writeFileSync(join(folder, 'gateway.test.yaml'), cases);
    const { code, out } = await runCli(['test', '--mutate'], folder, signalAtFirstImport(signal));
    expect(code).toBe(1);
    expect(out).toContain('gateway.test.yaml: 1 passed\n');
    expect(out).toMatch(/^\d+ changes not tested, because the command was stopped$/m);
  });
});

describe('while another verb runs', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('%s ends it with exit code %i, even while it waits for standard input', async (signal, code) => {
    const shell = `"$1" "$2" lint - & pid=$!; read line; kill -${signal.slice(3)} $pid; wait $pid; echo $?`;
    const child = spawn(
      'bash',
      ['-c', `exec 3<&0; ${shell.replace('lint -', 'lint - <&4')}`, '-', process.execPath, MAIN],
      {
        cwd: folder,
        // The verb reads a pipe of its own that nobody writes to.
        stdio: ['pipe', 'pipe', 'inherit', 'pipe', 'pipe'],
      },
    );
    let out = '';
    child.stdout?.on('data', (chunk) => {
      out += chunk;
    });
    // The pipe has no room for all bytes, so the verb has begun to read when they are written.
    const input = child.stdio[4] as Writable;
    // The end of the verb may reset the pipe with the bytes that it has not read.
    input.on('error', () => undefined);
    await new Promise((resolve) => input.write(' '.repeat(1_000_000), resolve));
    child.stdin?.write('now\n');
    await once(child, 'close');
    expect(out.trim()).toBe(String(code));
  });
});

const canUnshare = (() => {
  try {
    execFileSync('unshare', ['--fork', '--pid', '--mount-proc', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** PID 1 of a container has no default actions: a signal without a handler is lost. The test needs the right to create namespaces. */
describe.skipIf(!canUnshare)('SIGTERM as PID 1', () => {
  it.each([0, 20, 60, 100, 150, 250, 400])(
    '%i ms after Node has begun to handle signals, stops the process',
    async (delayMs) => {
      const args = ['--fork', '--pid', '--mount-proc', '--kill-child', process.execPath, MAIN, 'run'];
      const child = spawn('unshare', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
      inContainer.push(child);
      const ended = once(child, 'exit');
      const inner = () => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim());
      await eventually('unshare starts the process', () => inner() !== 0);
      const pid = inner();
      // `unshare` replaces itself with Node. The kernel drops earlier signals, which no program can prevent.
      const isNode = () => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(process.execPath);
      await eventually('Node handles the signal', () => isNode() && isCaught(pid, 'SIGTERM'));
      await pause(delayMs);
      process.kill(pid, 'SIGTERM');
      const [code] = await ended;
      expect(code).toBe(0);
    },
  );
});

/** Returns true if the process has a handler for a signal. */
function isCaught(pid: number, signal: NodeJS.Signals): boolean {
  const [, mask = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}
