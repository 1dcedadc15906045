import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server on 127.0.0.1. */
export type LocalServer = Awaited<ReturnType<typeof startLocalServer>>;

/** Starts a server on this port or, if it is in use, on a free one. */
export async function startLocalServer(
  port: number,
  respond: (...exchange: Parameters<RequestListener>) => Promise<void>,
) {
  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    await once(server.listen(0, '127.0.0.1'), 'listening');
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Closes all connections, including those with requests in progress. */
    close: async () => {
      const closed = once(server, 'close');
      server.close().closeAllConnections();
      await closed;
    },
  };
}
