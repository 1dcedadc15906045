import { once } from 'node:events';
import { createServer, type ListenOptions, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

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
