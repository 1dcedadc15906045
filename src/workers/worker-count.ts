import { once } from 'node:events';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { MAX_WORKERS } from '../shared-memory/worker-context.ts';

/** Returns the number of workers that a setting means. `auto` is the number of processors that this process may use, up to 64. */
export function workerCount(setting: number | 'auto'): number {
  return setting === 'auto' ? Math.min(availableParallelism(), MAX_WORKERS) : setting;
}

/** Returns true if several threads can listen on one port, as on Linux 3.9 and later. */
export async function canSharePorts(): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ host: '127.0.0.1', port: 0, reusePort: true });
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
