import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { AdminRules } from '../plan/plan.ts';
import { type Answer, type Endpoint, fault, type Operated } from './call.ts';
import { callerFault, refusalAt } from './door.ts';
import { ENDPOINTS } from './endpoints.ts';
import { createTraffic, type Traffic } from './traffic.ts';

export interface Admin {
  listen(): Promise<AddressInfo>;
  close(): Promise<void>;
}

const REQUEST_MS = 10_000;
const MAX_BODY_BYTES = 1024 ** 2;
const MAX_CONNECTIONS = 256;
/**
 * How long a connection may stand on which nothing moves: who does not read its answer would keep it for ever, and once all
 * are kept no probe is answered. No reload takes as long.
 */
const STILL_MS = 180_000;
/** How often Node looks for what is late. */
const CHECK_MS = 1_000;

/** The operators' listener: is the process alive, may it get traffic, how is it, and what is in force. */
export function createAdmin(rules: AdminRules, operated: Operated, stillMs = STILL_MS): Admin {
  const traffic = createTraffic(operated.gateway);
  const server = createServer(rules, (request, response) => {
    answerOf(request, rules, operated, traffic)
      .catch((error: unknown) => fault(500, error instanceof Error ? error.message : String(error)))
      .then((answer) => send(response, answer));
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.timeout = stillMs;
  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(rules.port, rules.host, () => resolve(server.address() as AddressInfo));
      }),
    close: () =>
      new Promise((resolve) => {
        traffic.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function createServer({ tls }: AdminRules, listener: http.RequestListener): http.Server | https.Server {
  const options: http.ServerOptions = {
    requestTimeout: REQUEST_MS,
    headersTimeout: REQUEST_MS,
    connectionsCheckingInterval: CHECK_MS,
  };
  if (tls === undefined) return http.createServer(options, listener);
  const pem = tls.pem();
  // Who shows none is turned away behind the handshake: probes show none.
  const asks = pem.ca === undefined ? {} : { requestCert: true, rejectUnauthorized: false };
  return https.createServer({ ...options, ...pem, ...asks, minVersion: 'TLSv1.2' }, listener);
}

async function answerOf(
  request: http.IncomingMessage,
  rules: AdminRules,
  operated: Operated,
  traffic: Traffic,
): Promise<Answer> {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const known = ENDPOINTS.filter((endpoint) => endpoint.path === path);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const endpoint = known.find((candidate) => candidate.method === method);
  const refusal = refusalAt(rules, request, (endpoint ?? known[0])?.isOpen ?? false);
  if (refusal !== undefined) return refusal;
  if (known.length === 0) return fault(404, `there is no ${path}; there are ${PATHS}`);
  if (endpoint === undefined) return fault(405, 'this takes another method', { Allow: allowed(known) });
  const body = await readBody(request);
  if (body === undefined) return fault(413, `a body has no more than ${MAX_BODY_BYTES} bytes here`);
  const isKnown = callerFault(rules, request) === undefined;
  const call = { isKnown, query: new URLSearchParams(query), headers: request.headers, body };
  return endpoint.answer(call, operated, traffic);
}

const PATHS = ENDPOINTS.map(({ path }) => path)
  .filter((path) => !path.startsWith('/page/'))
  .join(', ');

function allowed(known: readonly Endpoint[]): string {
  return known.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
}

/** `undefined`: it is too long. */
async function readBody(request: http.IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function send(response: http.ServerResponse, { status, headers, body }: Answer): void {
  if (response.destroyed) return;
  // What came with a request that was refused unread must not be taken for the next one.
  if (!response.req.complete) response.shouldKeepAlive = false;
  response.writeHead(status, { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', ...headers });
  if (typeof body === 'function' && response.req.method !== 'HEAD') body(response);
  else response.end(typeof body === 'function' ? undefined : body);
}
