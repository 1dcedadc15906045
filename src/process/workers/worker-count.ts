import { once } from 'node:events';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Log } from '../../engine/log/log.ts';
import { MAX_WORKERS } from '../../engine/shared-memory/worker-context.ts';

/** Returns the number of workers that a setting means. Warns and returns one where threads cannot share a port. */
export async function countWorkers(
  setting: number | 'auto',
  logger: Pick<Log['logger'], 'warn'>,
  canShare: () => Promise<boolean> = canSharePorts,
): Promise<number> {
  // Node counts the processors that the process may run on, or fewer if its control group limits its processor time.
  const count = setting === 'auto' ? Math.min(availableParallelism(), MAX_WORKERS) : setting;
  if (count === 1 || (await canShare())) return count;
  logger.warn({ workers: count }, 'this system does not let threads share a port, so one worker serves all requests');
  return 1;
}

/** Returns true if several threads can listen on one port, as on Linux 3.9 and later. */
async function canSharePorts(): Promise<boolean> {
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
