import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { adminShare } from '../gateway/descriptor-shares.ts';
import type { AdminRules } from '../plan/plan.ts';
import { type Answer, type Endpoint, fault, type Operated, type Serving } from './call.ts';
import { AdminConnections } from './connections.ts';
import { DecisionStreams } from './decision-streams.ts';
import { callerFault, refusalAt } from './door.ts';
import { ENDPOINTS } from './endpoints.ts';
import { BodyReader } from './read-body.ts';
import { ResponseWriter } from './response-writer.ts';
import { createTraffic } from './traffic.ts';
import { WorkShare } from './work-share.ts';

export interface Admin {
  listen(): Promise<AddressInfo>;
  close(): Promise<void>;
}

const REQUEST_MS = 10_000;
/**
 * How long a connection may stand on which nothing moves: who does not read its answer would keep it for ever, and once all
 * are kept no probe is answered. No reload takes as long.
 */
const STILL_MS = 180_000;
/** How often Node looks for what is late. */
const CHECK_MS = 1_000;

/** The operators' listener: is the process alive, may it get traffic, how is it, and what is in force. */
export function createAdmin(rules: AdminRules, operated: Operated, stillMs = STILL_MS): Admin {
  const { counts } = operated;
  const share = new WorkShare();
  const traffic = createTraffic(operated.gateway);
  const serving: Serving = { traffic, share, streams: new DecisionStreams(operated.gateway, counts) };
  const bodies = new BodyReader();
  // Probes do not wait for other work; a flood of them is bounded by itself.
  const probes = new WorkShare();
  const writer = new ResponseWriter(share, counts);
  const server = createServer(rules);
  const connections = new AdminConnections(server, counts, adminShare(operated.descriptors.limit));
  server.on('request', (request, response) =>
    connections.serve(request, response, () =>
      answerOf(request, { rules, operated, serving, probes, bodies })
        .catch((error: unknown) => fault(500, error instanceof Error ? error.message : String(error)))
        .then((answer) => writer.send(response, answer)),
    ),
  );
  server.timeout = stillMs;
  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(rules.port, rules.host, () => {
          server.off('error', reject);
          // Without a listener an error of `accept`, no free file descriptor say, would end the process.
          server.on('error', (error) => counts.acceptFailed(error));
          resolve(server.address() as AddressInfo);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        traffic.close();
        server.close(() => resolve());
        connections.close();
      }),
  };
}

function createServer({ tls }: AdminRules): http.Server | https.Server {
  const options: http.ServerOptions = {
    requestTimeout: REQUEST_MS,
    headersTimeout: REQUEST_MS,
    connectionsCheckingInterval: CHECK_MS,
  };
  if (tls === undefined) return http.createServer(options);
  const pem = tls.pem();
  // Who shows none is turned away behind the handshake: probes show none.
  const asks = pem.ca === undefined ? {} : { requestCert: true, rejectUnauthorized: false };
  return https.createServer({ ...options, ...pem, ...asks, minVersion: 'TLSv1.2', handshakeTimeout: REQUEST_MS });
}

interface Listening {
  readonly rules: AdminRules;
  readonly operated: Operated;
  readonly serving: Serving;
  readonly probes: WorkShare;
  readonly bodies: BodyReader;
}

async function answerOf(request: http.IncomingMessage, listening: Listening): Promise<Answer> {
  const { rules, operated, serving, probes, bodies } = listening;
  const endpoint = endpointOf(request, rules);
  // A flood of requests that are refused is work as well.
  if ('status' in endpoint) return serving.share.run(() => endpoint);
  const body = await bodies.read(request);
  if (!Buffer.isBuffer(body)) return body;
  const isKnown = callerFault(rules, request) === undefined;
  const peer = request.socket.remoteAddress ?? '';
  const query = new URLSearchParams((request.url ?? '').split('?', 2)[1]);
  const call = { isKnown, query, headers: request.headers, body, peer };
  const share = endpoint.isOpen ? probes : serving.share;
  return share.run(() => endpoint.answer(call, operated, serving));
}

/** Returns the endpoint of a request, or the refusal of the request. */
function endpointOf(request: http.IncomingMessage, rules: AdminRules): Endpoint | Answer {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const known = ENDPOINTS.filter((endpoint) => endpoint.path === path);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const endpoint = known.find((candidate) => candidate.method === method);
  const refusal = refusalAt(rules, request, (endpoint ?? known[0])?.isOpen ?? false);
  if (refusal !== undefined) return refusal;
  if (known.length === 0) return fault(404, `there is no ${path}; there are ${PATHS}`);
  return endpoint ?? fault(405, 'this takes another method', { Allow: allowed(known) });
}

const PATHS = ENDPOINTS.map(({ path }) => path)
  .filter((path) => !path.startsWith('/page/'))
  .join(', ');

function allowed(known: readonly Endpoint[]): string {
  return known.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
}
