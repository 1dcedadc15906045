import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { FunctionCalls, Usage } from './gateway-process.ts';
import { pause, turns } from './pause.ts';

export interface ForkedGateway {
  readonly port: number;
  usage(): Promise<Usage>;
  /** Returns the functions that ran since the latest call of this one. The first call begins to count. */
  calls(): Promise<readonly FunctionCalls[]>;
  /** Writes a heap snapshot of the process to a file. */
  snapshot(file: string): Promise<void>;
  /** Blocks the event loop of the process for a time. Resolves when it begins. */
  block(blockMs: number): Promise<void>;
  /** Stops the process for a time, as a paused virtual machine does. @param meanwhile called once it does not run */
  pause(ms: number, meanwhile: () => void): Promise<void>;
  /** Returns true while the process runs. */
  isAlive(): boolean;
  close(): Promise<void>;
}

/** Starts a gateway in its own process. */
export async function forkGateway(manifest: string): Promise<ForkedGateway> {
  const child = fork(new URL('./gateway-process.ts', import.meta.url), [manifest], { execArgv: [] });
  const [{ port }] = await once(child, 'message');
  return {
    port,
    usage: async () => {
      child.send({});
      return (await once(child, 'message'))[0];
    },
    calls: async () => {
      child.send({ countsCalls: true });
      return (await once(child, 'message'))[0];
    },
    snapshot: async (snapshot) => {
      child.send({ snapshot });
      await once(child, 'message');
    },
    block: async (blockMs) => {
      child.send({ blockMs });
      await once(child, 'message');
    },
    pause: async (ms, meanwhile) => {
      child.kill('SIGSTOP');
      while (!readFileSync(`/proc/${child.pid}/stat`, 'utf8').includes(') T')) await turns(1);
      meanwhile();
      await pause(ms);
      child.kill('SIGCONT');
    },
    isAlive: () => child.exitCode === null && child.signalCode === null,
    close: async () => {
      child.kill();
      await once(child, 'close');
    },
  };
}
