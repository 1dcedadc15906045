import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readRequest, type SandboxRoute } from './request.ts';
import { errorResponse, SandboxError, type SandboxResponse } from './response.ts';
import type { Store } from './store.ts';
import { authenticate } from './tokens.ts';

/** Serves the routes on loopback, on the given port or, if it is in use, on a free one. */
export async function listen(port: number, routes: readonly SandboxRoute[], store: Store) {
  const table = routes.map(routeEntry);
  const server = createServer((request, response) => {
    handleRequest(request, table, store)
      .catch(errorResponse)
      .then((content) => send(request, response, content))
      .catch(() => response.destroy());
  });
  await listenOnLoopback(server, port);
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

type Entry = ReturnType<typeof routeEntry>;

function routeEntry(route: SandboxRoute) {
  const [method = '', pathname = ''] = route[0].split(' ');
  return { route, method, pattern: new URLPattern({ pathname }) };
}

async function handleRequest(
  request: IncomingMessage,
  table: readonly Entry[],
  store: Store,
): Promise<SandboxResponse> {
  const [path = '/', query = ''] = (request.url ?? '/').split(/\?(.*)/s, 2);
  const { method = '' } = request;
  const routed = method === 'HEAD' ? 'GET' : method;
  const entry = table.find((candidate) => candidate.method === routed && candidate.pattern.test({ pathname: path }));
  if (entry === undefined) throw new SandboxError(404, `no route for ${method} ${path}; GET / lists the flows`);
  const id = entry.pattern.exec({ pathname: path })?.pathname.groups['id'] ?? '';
  const context = { store, method, path, id, query: new URLSearchParams(query) };
  const { route } = entry;
  if (route[1] === 'public') return route[2](await readRequest(request, context));
  const user = await authenticate(store, request.headers.authorization);
  if (user === undefined)
    throw new SandboxError(401, 'a valid bearer token is required', { 'www-authenticate': 'Bearer' });
  if (route[1] === 'admin' && user.role !== 'admin')
    throw new SandboxError(403, `only the role admin may do this, not ${user.role}`);
  return route[2](Object.assign(await readRequest(request, context), { user }));
}

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: SandboxResponse): void {
  const isJson = body !== undefined && !(body instanceof Uint8Array);
  const bytes = isJson ? Buffer.from(`${JSON.stringify(body)}\n`) : (body ?? Buffer.of());
  if (isJson) response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', bytes.length);
  // The unread rest of a body would corrupt the next request on this connection.
  if (!request.complete) response.setHeader('connection', 'close');
  response.writeHead(status, headers).end(bytes);
}

/** Listens on this port of 127.0.0.1 or, if it is in use, on a free one. */
async function listenOnLoopback(server: Server, port: number): Promise<void> {
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    await once(server.listen(0, '127.0.0.1'), 'listening');
  }
}
