import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, Fault, failure } from './answer.ts';
import { type Call, createCall, type User } from './call.ts';

type Answered = Answer | Promise<Answer>;

/** Method, URLPattern path, who may ask, and the answer. A GET route answers HEAD too. */
export type Route =
  | readonly [method: string, path: string, access: 'public', answer: (call: Call) => Answered]
  | readonly [method: string, path: string, access: 'protected', answer: (call: Call, user: User) => Answered];

/** Who sent this `Authorization` header; undefined when it proves nothing. */
export type Authenticate = (authorization: string | undefined) => Promise<User | undefined>;

export interface Listener {
  readonly url: string;
  /** Ends the connections, then waits for the answers that were under way. */
  close(): Promise<void>;
}

/** Serves the routes on loopback, on the wanted port or, when that is taken, on any free one. */
export async function listen(port: number, routes: readonly Route[], authenticate: Authenticate): Promise<Listener> {
  const table = routes.map((route) => ({ route, pattern: new URLPattern({ pathname: route[1] }) }));
  const underWay = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const served = answerTo(request, table, authenticate)
      .catch(failure)
      .then((answer) => send(request, response, answer))
      .catch(() => void response.destroy());
    underWay.add(served);
    void served.then(() => underWay.delete(served));
  });
  server.requestTimeout = 60_000;
  server.headersTimeout = 10_000;
  await listenOnLoopback(server, port);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, ...underWay]);
    },
  };
}

interface Entry {
  readonly route: Route;
  readonly pattern: URLPattern;
}

async function answerTo(request: IncomingMessage, table: readonly Entry[], authenticate: Authenticate) {
  const [path = '/', query = ''] = (request.url ?? '/').split(/\?(.*)/s, 2);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const here = table.filter(({ pattern }) => pattern.test({ pathname: path }));
  if (here.length === 0) throw new Fault(404, 'no such route');
  const entry = here.find(({ route }) => route[0] === method);
  if (entry === undefined) {
    const allow = here.map(({ route }) => route[0]).join(', ');
    throw new Fault(405, `this route takes ${allow}`, { allow });
  }
  const groups = entry.pattern.exec({ pathname: path })?.pathname.groups ?? {};
  const call = createCall(request, new URLSearchParams(query), path, groups);
  const { route } = entry;
  if (route[2] === 'public') return route[3](call);
  const user = await authenticate(request.headers.authorization);
  if (user === undefined) throw new Fault(401, 'a valid bearer token is required', { 'www-authenticate': 'Bearer' });
  return route[3](call, user);
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  // what is left of an unread body must not be taken for the next request
  if (!request.complete) response.setHeader('connection', 'close');
  if (answer.body === undefined) {
    response.end();
    return;
  }
  const isBytes = answer.body instanceof Uint8Array;
  const bytes = isBytes ? (answer.body as Uint8Array) : Buffer.from(JSON.stringify(answer.body));
  if (!isBytes) response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', bytes.length);
  response.end(bytes);
}

async function listenOnLoopback(server: Server, port: number): Promise<void> {
  const attempt = (wanted: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(wanted, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  await attempt(port).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    return attempt(0);
  });
}
