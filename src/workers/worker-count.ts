import { once } from 'node:events';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';

/** Returns the number of workers that a setting means. `auto` is the number of processors that this process may use. */
export function workerCount(setting: number | 'auto'): number {
  return setting === 'auto' ? availableParallelism() : setting;
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
