import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Usage } from './gateway-process.ts';

export interface ForkedGateway {
  readonly port: number;
  usage(): Promise<Usage>;
  /** Writes a heap snapshot of the process to a file. */
  snapshot(file: string): Promise<void>;
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
    snapshot: async (snapshot) => {
      child.send({ snapshot });
      await once(child, 'message');
    },
    isAlive: () => child.exitCode === null && child.signalCode === null,
    close: async () => {
      child.kill();
      await once(child, 'close');
    },
  };
}
