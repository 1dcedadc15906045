import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createGateway, type Gateway } from '../../engine/gateway/gateway.ts';
import type { RequestRecord } from '../../engine/gateway/telemetry/request-record.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import { createNullLog } from '../../engine/log/log.ts';
import { loadHttp } from '../../engine/node-internals/built-in-modules.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { ForwardingRoute, Route } from '../../engine/plan/route-definition.ts';
import type { Principal, Verifier } from '../../engine/tokens/verifier.ts';
import { type OfflineResponse, sendOverSocket } from './client.ts';
import { MemorySocket } from './memory-socket.ts';
import { headBytes, headerValue, type OfflineRequest } from './request-bytes.ts';
import type { StubVerifier } from './stub-verifier.ts';

/** The outcome of a request: the record of the gateway, and the messages at both ends. */
export interface OfflineOutcome {
  readonly record: RequestRecord;
  /** `undefined` if the connection closed before the response was complete. */
  readonly response: OfflineResponse | undefined;
  /** `undefined` if the gateway did not forward the request. */
  readonly upstreamRequest: RecordedRequest | undefined;
  /** The principals of the tokens that were verified: the caller, and at login those in the response. */
  readonly principals: readonly Principal[];
}

/** Serves one request at a time. @param upstreamResponse the response of the upstream; default: 200 without a body */
export type OfflineGateway = (
  request: OfflineRequest,
  upstreamResponse?: OfflineResponse,
  repetition?: Repetition,
) => Promise<OfflineOutcome>;

/** Sends a request several times, so that rate limits refuse it. The outcome is that of the last time. */
export interface Repetition {
  readonly times: number;
  /** The time that passes before the last request, by the clock of the rate limits. */
  readonly waitMs: number;
  /** Sent in place of the request, except for the last time. */
  readonly first?: OfflineRequest | undefined;
}

const ONCE: Repetition = { times: 1, waitMs: 0 };
const OK_RESPONSE: OfflineResponse = { status: 200, headers: [], body: Buffer.alloc(0) };

/**
 * Runs the gateway of a plan without a network: the same server, parser, steps and HTTP client, between an in-memory
 * client and upstream. Each call has its own gateway, so that no call affects the next one. No time passes for rate limits,
 * except between the requests of a repetition. A gateway that never listens connects to no store, so all limits count locally.
 *
 * @param tokens replaces the verifier of the plan
 */
export function createOfflineGateway(plan: Plan, tokens: StubVerifier): OfflineGateway {
  let upstream = createRecordingUpstream(OK_RESPONSE);
  const offlinePlan = offlinePlanOf(plan, tokens, (origin) => upstream.connect(origin));
  const log = createNullLog();
  return async (request, upstreamResponse = OK_RESPONSE, { times, waitMs, first = request } = ONCE) => {
    let now = 0;
    const gateway = createGateway(offlinePlan, log, { now: () => now });
    for (let count = 1; ; count += 1) {
      if (count === times) now += waitMs;
      upstream = createRecordingUpstream(upstreamResponse);
      const { record, response } = await sendRequest(gateway, count === times ? request : first);
      const principals = tokens.takeVerified();
      if (count < times) continue;
      await gateway.close(0);
      return { record, response, upstreamRequest: upstream.requests[0], principals };
    }
  };
}

/** Sends a request over a new connection, and waits until the gateway has recorded it. */
async function sendRequest(gateway: Gateway, request: OfflineRequest) {
  const { promise: recorded, resolve } = Promise.withResolvers<RequestRecord>();
  const unsubscribe = gateway.subscribe(resolve);
  const [client, server] = MemorySocket.pair(gateway.plan.server.tls !== undefined, request.peer);
  gateway.acceptConnection(server);
  const response = await sendOverSocket(client, request);
  const record = await recorded;
  unsubscribe();
  return { record, response };
}

/** Returns the plan without anything that needs a network or a timer: no health checks, breaker or time limits. */
function offlinePlanOf(plan: Plan, verifier: Verifier, connect: NonNullable<ForwardingRoute['upstream']['connect']>) {
  const upstreams = new Map(
    plan.upstreams.map((upstream) => [upstream, { ...upstream, ...OFFLINE_UPSTREAM_SETTINGS, connect }]),
  );
  const authOf = (auth: Plan['auth']) => auth && { ...auth, verifier };
  const offlineRoute = (route: Route): Route => {
    const upstream = route.upstream && (upstreams.get(route.upstream) ?? route.upstream);
    return { ...route, auth: authOf(route.auth), upstream, timeoutMs: undefined };
  };
  const match = (method: string, path: string) => {
    const route = plan.router.match(method, path);
    return route && offlineRoute(route);
  };
  // Only the matched route is replaced: another router of all routes would cost more than the request.
  const router = { ...plan.router, match };
  // The outcome describes the request as sent, and nobody logs it.
  const log = { ...plan.log, keyedPaths: undefined, replay: undefined };
  // The outcome does not depend on the process.
  const server = { ...plan.server, via: plan.server.via ?? '<random>' };
  return { ...plan, server, upstreams: [...upstreams.values()], router, auth: authOf(plan.auth), log };
}

const OFFLINE_UPSTREAM_SETTINGS = {
  health: undefined,
  breaker: undefined,
  totalTimeoutMs: undefined,
  // The HTTP client reads 0 as no limit.
  responseTimeoutMs: 0,
  idleTimeoutMs: 0,
};

/** Returns the URL of an upstream request in a form that is safe to print: parts of it may come from the environment. */
export function redactedUrl(
  { plan, manifest, secrets }: Pick<PlannedManifest, 'plan' | 'manifest' | 'secrets'>,
  route: string | undefined,
  { origin, url }: Pick<RecordedRequest, 'origin' | 'url'>,
): { readonly origin: string; readonly path: string } {
  const index = plan.routes.findIndex(({ id }) => id === route);
  const endpoint = plan.routes[index]?.upstream?.endpoints.find(
    ({ url: { origin: own, href } }) => origin === own || origin === href,
  );
  const prefix = manifest.routes[index]?.upstreamPath?.with;
  const isPrefixed = prefix !== undefined && url.startsWith(prefix);
  const redacted = isPrefixed ? secrets.redactValue(prefix, ['routes', index, 'upstreamPath', 'with']) : '';
  return { origin: endpoint?.label ?? origin, path: redacted + url.slice(isPrefixed ? prefix.length : 0) };
}

/** A request as the upstream receives it. */
interface RecordedRequest {
  /** The chosen endpoint: scheme, host and port. */
  readonly origin: string;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** The largest request head that the gateway can forward. */
const MAX_HEAD_BYTES = 2_097_152;

/** Creates a stub for every upstream. It records requests and sends the response exactly as given. */
function createRecordingUpstream(response: OfflineResponse) {
  /** All received requests, in order. */
  const requests: RecordedRequest[] = [];
  const record = async (origin: string, request: IncomingMessage) => {
    const { method = '', url = '', rawHeaders: headers, socket } = request;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The gateway aborted the request.
      return;
    }
    requests.push({ origin, method, url, headers, body: Buffer.concat(chunks) });
    // `node:http` cannot write a malformed response, and after a truncated one the connection must close.
    socket.end(responseBytes(response, method));
  };
  return {
    requests,
    /** Opens a connection that stands for one to the endpoint of this origin. */
    connect(origin: string): Duplex {
      const options = { requireHostHeader: false, maxHeaderSize: MAX_HEAD_BYTES };
      const server = loadHttp().createServer(options, (request) => void record(origin, request));
      server.maxHeadersCount = 0;
      const [client, serverSide] = MemorySocket.pair();
      server.emit('connection', serverSide);
      return client;
    },
  };
}

/** Statuses without a body (RFC 9110 section 6.4.1). */
const BODILESS = new Set([204, 304]);

function responseBytes({ status, headers, body }: OfflineResponse, method: string): Buffer {
  const isFramed = ['content-length', 'transfer-encoding'].some((name) => headerValue(headers, name) !== undefined);
  const length = isFramed || BODILESS.has(status) ? [] : ['Content-Length', String(body.length)];
  const head = headBytes(`HTTP/1.1 ${status} ${loadHttp().STATUS_CODES[status] ?? ''}`, [...headers, ...length]);
  return method === 'HEAD' ? head : Buffer.concat([head, body]);
}
