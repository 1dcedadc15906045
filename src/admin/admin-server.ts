import { attempt } from '../engine/attempt.ts';
import { readRequestHead } from '../engine/gateway/request/request-head.ts';
import { adminConnectionLimit } from '../engine/gateway/server/client-server.ts';
import { GrowingBuffer } from '../engine/http1/growing-buffer.ts';
import { accessRefusal, authenticationRefusal } from './access-control.ts';
import {
  type AdminContext,
  type AdminEndpoint,
  type AdminResources,
  type AdminResponse,
  createRunningLimit,
  problemDetails,
} from './admin-endpoint.ts';
import { type AdminExchange, type AdminListener, createAdminListener } from './admin-listener.ts';
import { CpuBudget } from './cpu-budget.ts';
import { ADMIN_ENDPOINTS } from './endpoints.ts';
import { ManifestDisplays } from './manifest-display.ts';
import { createRequestEventStreams } from './request-event-streams.ts';
import { createResponseWriter } from './response-writer.ts';
import { createTrafficHistory } from './traffic-history.ts';

/** A client that reads nothing for longer is disconnected, so that it does not hold a connection. */
const STALLED_CLIENT_MS = 30_000;

export function createAdminServer(settings: AdminListener, context: AdminContext, stalledMs = STALLED_CLIENT_MS) {
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
  const respond = async (exchange: AdminExchange): Promise<AdminResponse> => {
    const endpoint = findEndpoint(exchange, settings);
    // Refusals count too: a flood of them would take processor time from the gateway.
    if ('status' in endpoint) return cpuBudget.run(() => endpoint);
    const body = await readBody(exchange);
    if (!Buffer.isBuffer(body)) return body;
    const isAuthenticated = authenticationRefusal(settings, exchange) === undefined;
    const query = new URLSearchParams(exchange.request.url.split('?', 2)[1]);
    const adminRequest = { isAuthenticated, query, body, peerAddress: exchange.connection.peer ?? '' };
    return (endpoint.isPublic ? probeBudget : cpuBudget).run(() => endpoint.respond(adminRequest, context, resources));
  };
  const serve = (exchange: AdminExchange) =>
    respond(exchange)
      .catch((error: unknown) => problemDetails(500, error instanceof Error ? error.message : String(error)))
      .then((response) => writer.send(exchange, response));
  const limit = adminConnectionLimit(context.descriptors.limit);
  const { listen, close } = createAdminListener(settings, adminMetrics, serve, limit, stalledMs);
  return {
    listen,
    close: () => {
      traffic.close();
      return close();
    },
  };
}

function findEndpoint(exchange: AdminExchange, settings: AdminListener): AdminEndpoint | AdminResponse {
  const { request, response } = exchange;
  if (attempt(() => readRequestHead(request, Number.POSITIVE_INFINITY)) === undefined) {
    response.isPersistent = false;
    return problemDetails(400, 'the head of the request is malformed');
  }
  const [path = ''] = request.url.split('?', 1);
  const candidates = ADMIN_ENDPOINTS.filter((endpoint) => endpoint.path === path);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const endpoint = candidates.find((candidate) => candidate.method === method);
  const refusal = accessRefusal(settings, exchange, (endpoint ?? candidates[0])?.isPublic ?? false);
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

/** Returns the body, or a refusal. */
function readBody({ request, response }: AdminExchange): Promise<Buffer | AdminResponse> {
  if (request.httpVersion === '1.1' && !request.isComplete && request.known.expect?.toLowerCase() === '100-continue')
    response.writeInformation(100, 'Continue', []);
  const body = new GrowingBuffer(MAX_BODY_BYTES);
  const { promise, resolve } = Promise.withResolvers<Buffer | AdminResponse>();
  const refuse = (...refusal: Parameters<typeof problemDetails>) => {
    request.pause();
    resolve(problemDetails(...refusal));
  };
  request.readBody({
    onBodyData(chunk) {
      if (!body.add(chunk)) return refuse(413, `the body is too large; send at most ${MAX_BODY_BYTES} bytes`);
      bufferedBytes += chunk.length;
      if (bufferedBytes > MAX_BUFFERED_BYTES)
        refuse(503, 'too many request bodies are being read; send the request again later', { 'Retry-After': '1' });
    },
    onBodyEnd: () => resolve(body.bytes()),
    onBodyClose: () => refuse(400, 'the client disconnected before the end of the body'),
  });
  return promise.finally(() => {
    bufferedBytes -= body.size;
  });
}
