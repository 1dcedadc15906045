import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { adminConnectionLimit } from '../gateway/server/descriptor-limits.ts';
import type { AdminSettings } from '../plan/settings/admin.ts';
import { accessRefusal, authenticationRefusal } from './access-control.ts';
import { AdminConnections } from './admin-connections.ts';
import {
  type AdminContext,
  type AdminEndpoint,
  type AdminResources,
  type AdminResponse,
  problemDetails,
} from './admin-endpoint.ts';
import { AdminBodyReader } from './body-reader.ts';
import { CpuBudget } from './cpu-budget.ts';
import { ADMIN_ENDPOINTS } from './endpoints.ts';
import { RequestEventStreams } from './request-event-streams.ts';
import { ResponseWriter } from './response-writer.ts';
import { createTrafficHistory } from './traffic-history.ts';

export interface AdminServer {
  listen(): Promise<AddressInfo>;
  close(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 10_000;
/**
 * How long a connection may stand on which nothing moves: who does not read its answer would keep it for ever, and once all
 * are kept no probe is answered. No reload takes as long.
 */
const IDLE_TIMEOUT_MS = 180_000;
/** How often Node looks for what is late. */
const CHECK_INTERVAL_MS = 1_000;

/** The operators' listener: is the process alive, may it get traffic, how is it, and what is in force. */
export function createAdminServer(
  rules: AdminSettings,
  operated: AdminContext,
  stillMs = IDLE_TIMEOUT_MS,
): AdminServer {
  const { adminMetrics } = operated;
  const cpuBudget = new CpuBudget();
  const traffic = createTrafficHistory(operated.gateway);
  const serving: AdminResources = {
    traffic,
    cpuBudget,
    eventStreams: new RequestEventStreams(operated.gateway, adminMetrics),
  };
  const bodies = new AdminBodyReader();
  // Probes do not wait for other work; a flood of them is bounded by itself.
  const probes = new CpuBudget();
  const writer = new ResponseWriter(cpuBudget, adminMetrics);
  const server = createServer(rules);
  const connections = new AdminConnections(server, adminMetrics, adminConnectionLimit(operated.descriptors.limit));
  server.on('request', (request, response) =>
    connections.serve(request, response, () =>
      respond(request, { rules, operated, serving, probes, bodies })
        .catch((error: unknown) => problemDetails(500, error instanceof Error ? error.message : String(error)))
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
          server.on('error', (error) => adminMetrics.recordAcceptError(error));
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

function createServer({ tls }: AdminSettings): http.Server | https.Server {
  const options: http.ServerOptions = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  };
  if (tls === undefined) return http.createServer(options);
  const pem = tls.pem();
  // Who shows none is turned away behind the handshake: probes show none.
  const asks = pem.ca === undefined ? {} : { requestCert: true, rejectUnauthorized: false };
  return https.createServer({
    ...options,
    ...pem,
    ...asks,
    minVersion: 'TLSv1.2',
    handshakeTimeout: REQUEST_TIMEOUT_MS,
  });
}

interface RequestDependencies {
  readonly rules: AdminSettings;
  readonly operated: AdminContext;
  readonly serving: AdminResources;
  readonly probes: CpuBudget;
  readonly bodies: AdminBodyReader;
}

async function respond(request: http.IncomingMessage, listening: RequestDependencies): Promise<AdminResponse> {
  const { rules, operated, serving, probes, bodies } = listening;
  const endpoint = findEndpoint(request, rules);
  // A flood of requests that are refused is work as well.
  if ('status' in endpoint) return serving.cpuBudget.run(() => endpoint);
  const body = await bodies.read(request);
  if (!Buffer.isBuffer(body)) return body;
  const isKnown = authenticationRefusal(rules, request) === undefined;
  const peer = request.socket.remoteAddress ?? '';
  const query = new URLSearchParams((request.url ?? '').split('?', 2)[1]);
  const call = { isAuthenticated: isKnown, query, headers: request.headers, body, peerAddress: peer };
  const share = endpoint.isPublic ? probes : serving.cpuBudget;
  return share.run(() => endpoint.respond(call, operated, serving));
}

/** Returns the endpoint of a request, or the refusal of the request. */
function findEndpoint(request: http.IncomingMessage, rules: AdminSettings): AdminEndpoint | AdminResponse {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const known = ADMIN_ENDPOINTS.filter((endpoint) => endpoint.path === path);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const endpoint = known.find((candidate) => candidate.method === method);
  const refusal = accessRefusal(rules, request, (endpoint ?? known[0])?.isPublic ?? false);
  if (refusal !== undefined) return refusal;
  if (known.length === 0) return problemDetails(404, `there is no ${path}; there are ${PATHS}`);
  return endpoint ?? problemDetails(405, 'this takes another method', { Allow: allowHeader(known) });
}

const PATHS = ADMIN_ENDPOINTS.map(({ path }) => path)
  .filter((path) => !path.startsWith('/page/'))
  .join(', ');

function allowHeader(known: readonly AdminEndpoint[]): string {
  return known.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
}
