import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Gateway } from '../gateway/gateway.ts';
import type { Address } from '../plan/plan.ts';
import type { Reload } from '../reload.ts';

export interface Admin {
  listen(): Promise<AddressInfo>;
  close(): Promise<void>;
}

/** The operators' listener: is the process alive, may it get traffic, which manifest is in force. */
export function createAdmin(
  address: Address,
  gateway: Gateway,
  version: string,
  lastReload: () => Reload | undefined,
): Admin {
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
      last_reload: summary(lastReload()),
    }),
  };
  const server = createServer({ requestTimeout: 5_000 }, (request, response) => {
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

function summary(reload: Reload | undefined): object | null {
  if (reload === undefined) return null;
  if (reload.kind !== 'kept') return reload;
  const problems = reload.problems.map(({ file, range, rule, message }) => ({
    file,
    line: range.line,
    column: range.column,
    rule,
    message,
  }));
  return { kind: reload.kind, at: reload.at, problems };
}
