import { once } from 'node:events';
import { createServer, type ListenOptions, type Server } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
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
  const server = await listen({ host: '127.0.0.1', port: 0, reusePort: true }).catch(() => undefined);
  server?.close();
  return server !== undefined;
}

/** How long to wait for another process that starts on the same port. */
const WAIT_MS = 2_000;
const RETRY_MS = 20;

/**
 * Checks that no other process listens on an address, and keeps other gateways from listening on its port until the returned function
 * is called. Listeners of several workers share a port, so without this check two gateways of one user could share it too, and each
 * would get a part of the connections.
 *
 * Rejects with `EADDRINUSE` or another error of `net`.
 */
export async function reserveAddress(host: string, port: number): Promise<() => void> {
  if (port === 0) return () => undefined;
  const lock = await lockPort(port);
  try {
    // Without `reusePort` the kernel refuses an address that another process uses, also through a wildcard address.
    (await listen({ host, port })).close();
  } catch (error) {
    lock?.close();
    throw error;
  }
  return () => lock?.close();
}

/**
 * Takes a socket name that only one process of a network namespace can have (abstract sockets, unix(7)). Returns `undefined` if
 * another process keeps it: any local process can, and the check above still refuses gateways that have started.
 */
async function lockPort(port: number): Promise<Server | undefined> {
  for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += RETRY_MS) {
    try {
      return await listen({ path: `\0signing-gateway-port-${port}` });
    } catch {
      await sleep(RETRY_MS);
    }
  }
  return undefined;
}

async function listen(options: ListenOptions): Promise<Server> {
  const server = createServer().unref();
  server.listen(options);
  await once(server, 'listening');
  return server;
}
