import { constants } from 'node:crypto';
import * as http from 'node:http';
import type * as https from 'node:https';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { plainAddress } from '../engine/gateway/fairness/client-key.ts';
import { adminConnectionLimit } from '../engine/gateway/server/descriptor-limits.ts';
import { type AdminListener, accessRefusal, authenticationRefusal } from './access-control.ts';
import { createAdminConnections } from './admin-connections.ts';
import {
  type AdminContext,
  type AdminEndpoint,
  type AdminResources,
  type AdminResponse,
  createRunningLimit,
  problemDetails,
} from './admin-endpoint.ts';
import { CpuBudget } from './cpu-budget.ts';
import { ADMIN_ENDPOINTS } from './endpoints.ts';
import { ManifestDisplays } from './manifest-display.ts';
import { createRequestEventStreams } from './request-event-streams.ts';
import { createResponseWriter } from './response-writer.ts';
import { createTrafficHistory } from './traffic-history.ts';

const REQUEST_TIMEOUT_MS = 10_000;
/** Closes a connection without progress: clients that do not read could otherwise hold all connections. No reload takes this long. */
const IDLE_TIMEOUT_MS = 180_000;
/** How often Node checks the timeouts. */
const CHECK_INTERVAL_MS = 1_000;

export function createAdminServer(settings: AdminListener, context: AdminContext, idleTimeoutMs = IDLE_TIMEOUT_MS) {
  const { adminMetrics } = context;
  const cpuBudget = new CpuBudget();
  const traffic = createTrafficHistory(context.gateway);
  const resources: AdminResources = {
    traffic,
    cpuBudget,
    eventStreams: createRequestEventStreams(context.workers.telemetry, adminMetrics),
    displays: new ManifestDisplays(),
    explanations: createRunningLimit(4),
    candidateLoads: createRunningLimit(1),
  };
  // Probes have a separate budget, so that they do not wait for other work.
  const probeBudget = new CpuBudget();
  const writer = createResponseWriter(cpuBudget, adminMetrics);
  const respond = async (request: http.IncomingMessage): Promise<AdminResponse> => {
    const endpoint = findEndpoint(request, settings);
    // Refusals count too: a flood of them would take processor time from the gateway.
    if ('status' in endpoint) return cpuBudget.run(() => endpoint);
    const body = await readBody(request);
    if (!Buffer.isBuffer(body)) return body;
    const isAuthenticated = authenticationRefusal(settings, request) === undefined;
    const peerAddress = plainAddress(request.socket.remoteAddress ?? '');
    const query = new URLSearchParams((request.url ?? '').split('?', 2)[1]);
    const adminRequest = { isAuthenticated, query, headers: request.headers, body, peerAddress };
    return (endpoint.isPublic ? probeBudget : cpuBudget).run(() => endpoint.respond(adminRequest, context, resources));
  };
  const server = createServer(settings);
  const connections = createAdminConnections(server, adminMetrics, adminConnectionLimit(context.descriptors.limit));
  server.on('request', (request, response) =>
    connections.serve(request, response, () =>
      respond(request)
        .catch((error: unknown) => problemDetails(500, error instanceof Error ? error.message : String(error)))
        .then((adminResponse) => writer.send(response, adminResponse)),
    ),
  );
  server.timeout = idleTimeoutMs;
  return {
    listen: () =>
      new Promise<AddressInfo>((resolve, reject) => {
        server.once('error', reject);
        server.listen(settings.port, settings.host, () => {
          server.off('error', reject);
          // Without a listener, an error of `accept` would end the process, for example when no file descriptor is free.
          server.on('error', ({ code: reason }: NodeJS.ErrnoException) => adminMetrics.unaccepted.add({ reason }));
          resolve(server.address() as AddressInfo);
        });
      }),
    close: () =>
      new Promise<void>((resolve) => {
        traffic.close();
        server.close(() => resolve());
        connections.close();
      }),
  };
}

/** Loads the TLS library only for an admin API with a certificate: it takes 6 MB. */
const require = createRequire(import.meta.url);
const loadHttps = (): typeof https => require('node:https');

function createServer({ tls }: AdminListener): http.Server | https.Server {
  const options: http.ServerOptions = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  };
  if (tls === undefined) return http.createServer(options);
  const pem = tls.pem();
  // The handshake accepts clients without a certificate, because probes have none. `authenticationRefusal` refuses such
  // clients at all other endpoints.
  const clientAuth = pem.ca === undefined ? {} : { requestCert: true, rejectUnauthorized: false };
  return loadHttps().createServer({
    ...options,
    ...pem,
    ...clientAuth,
    minVersion: 'TLSv1.2',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    handshakeTimeout: REQUEST_TIMEOUT_MS,
  });
}

function findEndpoint(request: http.IncomingMessage, settings: AdminListener): AdminEndpoint | AdminResponse {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const candidates = ADMIN_ENDPOINTS.filter((endpoint) => endpoint.path === path);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const endpoint = candidates.find((candidate) => candidate.method === method);
  const refusal = accessRefusal(settings, request, (endpoint ?? candidates[0])?.isPublic ?? false);
  if (refusal !== undefined) return refusal;
  if (candidates.length === 0) return problemDetails(404, `there is no ${path}; the paths are ${PATHS}`);
  return (
    endpoint ??
    problemDetails(405, 'the method is not allowed; see the Allow header', { Allow: allowHeader(candidates) })
  );
}

const PATHS = [...new Set(ADMIN_ENDPOINTS.map(({ path }) => path))]
  .filter((path) => !path.startsWith('/page/'))
  .join(', ');

function allowHeader(endpoints: readonly AdminEndpoint[]): string {
  return endpoints.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
}

const MAX_BODY_BYTES = 1024 ** 2;
/** The limit for all bodies that are being read at the same time. */
const MAX_BUFFERED_BYTES = 8 * 1024 ** 2;

let bufferedBytes = 0;

async function readBody(request: http.IncomingMessage): Promise<Buffer | AdminResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      bufferedBytes += chunk.length;
      if (bytes > MAX_BODY_BYTES)
        return problemDetails(413, `the body is too large; send at most ${MAX_BODY_BYTES} bytes`);
      if (bufferedBytes > MAX_BUFFERED_BYTES)
        return problemDetails(503, 'too many request bodies are being read; send the request again later', {
          'Retry-After': '1',
        });
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    bufferedBytes -= bytes;
  }
}
