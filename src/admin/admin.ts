import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Gateway } from '../gateway/gateway.ts';
import type { Address } from '../plan/plan.ts';
import type { Reload, Reloader } from '../reload.ts';
import { answerReload, reloadEntry } from './reload.ts';

export interface Admin {
  listen(): Promise<AddressInfo>;
  close(): Promise<void>;
}

/** The operators' listener: is the process alive, may it get traffic, which manifest is in force. */
export function createAdmin(
  address: Address,
  gateway: Gateway,
  version: string,
  reloader: () => Reloader | undefined,
): Admin {
  const lastReload = () => reloader()?.last;
  const startedAt = new Date();
  const answers: Readonly<Record<string, () => object>> = {
    '/livez': () => ({ status: 'alive' }),
    '/readyz': () => ({ status: isDegraded(lastReload()) ? 'degraded' : 'ready' }),
    '/status': () => ({
      version,
      started_at: startedAt,
      manifest: { hash: gateway.plan.hash, routes: gateway.plan.routes.length },
      upstreams: gateway.upstreams,
      reported: Object.fromEntries(gateway.reported),
      ...reloadEntry(reloader()),
    }),
  };
  const server = createServer({ requestTimeout: 5_000 }, (request, response) => {
    if (request.method === 'POST' && request.url === '/-/reload') {
      void answerReload(reloader(), response);
      request.resume();
      return;
    }
    const answer = request.method === 'GET' ? answers[request.url ?? ''] : undefined;
    response.writeHead(answer === undefined ? 404 : 200, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
    });
    response.end(`${JSON.stringify(answer?.() ?? { status: 'unknown' })}\n`);
    request.resume();
  });
  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(address.port, address.host, () => resolve(server.address() as AddressInfo));
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The last good plan serves on, so the process stays ready; but somebody should look. */
function isDegraded(reload: Reload | undefined): boolean {
  return reload !== undefined && reload.kind !== 'loaded';
}
