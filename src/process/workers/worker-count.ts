import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Log } from '../../engine/log/log.ts';
import { MAX_WORKERS } from '../../engine/shared-memory/worker-context.ts';
import { processorCount } from './processor-count.ts';

/** Returns the number of workers that a setting means. Warns and returns one where threads cannot share a port. */
export async function countWorkers(
  setting: number | 'auto',
  logger: Pick<Log['logger'], 'warn'>,
  canShare: () => Promise<boolean> = canSharePorts,
): Promise<number> {
  const count = setting === 'auto' ? Math.min(processorCount(), MAX_WORKERS) : setting;
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
