import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, Fault, failure } from './answer.ts';
import { type Route, readCall } from './call.ts';
import type { Store } from './store.ts';
import { userOf } from './tokens.ts';

/** Serves the routes on loopback, on the wanted port or, when that is taken, on any free one. */
export async function listen(port: number, routes: readonly Route[], store: Store) {
  const table = routes.map(entryOf);
  const server = createServer((request, response) => {
    answerTo(request, table, store)
      .catch(failure)
      .then((answer) => send(request, response, answer))
      .catch(() => response.destroy());
  });
  await listenOnLoopback(server, port);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Ends the connections, whatever is under way. */
    close: async () => {
      const closed = once(server, 'close');
      server.close().closeAllConnections();
      await closed;
    },
  };
}

type Entry = ReturnType<typeof entryOf>;

function entryOf(route: Route) {
  const [method = '', pathname = ''] = route[0].split(' ');
  return { route, method, pattern: new URLPattern({ pathname }) };
}

async function answerTo(request: IncomingMessage, table: readonly Entry[], store: Store): Promise<Answer> {
  const [path = '/', query = ''] = (request.url ?? '/').split(/\?(.*)/s, 2);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const entry = table.find((each) => each.method === method && each.pattern.test({ pathname: path }));
  if (entry === undefined) throw new Fault(404, `there is no ${method} ${path}`);
  const id = entry.pattern.exec({ pathname: path })?.pathname.groups['id'] ?? '';
  const target = { store, path, id, query: new URLSearchParams(query) };
  const { route } = entry;
  if (route[1] === 'public') return route[2](await readCall(request, target));
  const user = await userOf(store, request.headers.authorization);
  if (user === undefined) throw new Fault(401, 'a valid bearer token is required', { 'www-authenticate': 'Bearer' });
  return route[2](Object.assign(await readCall(request, target), { user }));
}

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Answer): void {
  const isJson = body !== undefined && !(body instanceof Uint8Array);
  const bytes = isJson ? Buffer.from(JSON.stringify(body)) : (body ?? Buffer.of());
  if (isJson) response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', bytes.length);
  // what is left of an unread body must not be taken for the next request
  if (!request.complete) response.setHeader('connection', 'close');
  response.writeHead(status, headers).end(bytes);
}

async function listenOnLoopback(server: Server, port: number): Promise<void> {
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    await once(server.listen(0, '127.0.0.1'), 'listening');
  }
}
