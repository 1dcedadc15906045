import { createGateway } from '../gateway/gateway.ts';
import { createCallbackLog } from '../log/log.ts';
import type { Plan } from '../plan/plan.ts';
import type { Route } from '../plan/route-definition.ts';
import type { Upstream } from '../plan/settings/upstream-definition.ts';
import type { Auth } from '../plan/tokens/auth.ts';
import type { Principal } from '../plan/tokens/verification-result.ts';
import { type OfflineResponse, sendOverSocket } from './client.ts';
import { MemorySocket } from './memory-socket.ts';
import { createRecordingUpstream, type RecordedRequest, type StubResponse } from './recording-upstream.ts';
import type { OfflineRequest } from './request-bytes.ts';
import type { StubVerifier } from './stub-verifier.ts';

/** What came of a request, as it shows from outside. */
export interface OfflineOutcome {
  readonly logEntry: OfflineLogEntry;
  /** What the client got; `undefined` when the connection was cut before it was whole. */
  readonly response: OfflineResponse | undefined;
  /** What the upstream got; `undefined` when no upstream was asked. */
  readonly upstreamRequest: RecordedRequest | undefined;
  /** Whom the tokens name that were verified on the way: the caller, at login those of the answer. */
  readonly principals: readonly Principal[];
}

/** The members of the request's line in the log that tell of the decision; docs/log.md says what each is. */
export interface OfflineLogEntry {
  readonly route?: string;
  readonly path?: string;
  readonly refusal?: string;
  readonly reason?: string;
  readonly required?: readonly string[];
  readonly reported?: readonly { readonly code: string; readonly pointers: readonly string[] }[];
}

/** Answers a request as the gateway of this plan would; one at a time. */
export type OfflineGateway = (asked: OfflineRequest, answer?: StubResponse) => Promise<OfflineOutcome>;

const OK_RESPONSE: StubResponse = { status: 200, headers: [], body: Buffer.alloc(0) };

/**
 * The gateway of a plan without a network: the same server, parser, walk and HTTP client, between a client and an upstream
 * in memory. Each request is answered by a gateway of its own, so that none has a part in the next one.
 *
 * @param tokens stand in for the tokens that the plan would verify
 */
export function createOfflineGateway(plan: Plan, tokens: StubVerifier): OfflineGateway {
  let upstream = createRecordingUpstream(OK_RESPONSE);
  const offlinePlan = offlinePlanOf(plan, tokens, (origin) => upstream.connect(origin));
  return async (asked, answer = OK_RESPONSE) => {
    upstream = createRecordingUpstream(answer);
    const { promise: line, resolve } = Promise.withResolvers<string>();
    const gateway = createGateway(offlinePlan, createCallbackLog(resolve));
    const [client, server] = MemorySocket.pair(plan.server.tls !== undefined);
    gateway.acceptConnection(server);
    const response = await sendOverSocket(client, asked);
    const logEntry = JSON.parse(await line) as OfflineLogEntry;
    await gateway.close(0);
    return { logEntry, response, upstreamRequest: upstream.requests[0], principals: tokens.takeVerified() };
  };
}

/**
 * The plan with all that goes over a network, or takes time, replaced. Nobody asks how the targets do, none is given up,
 * and none is too slow.
 */
function offlinePlanOf(plan: Plan, verifier: StubVerifier, connect: NonNullable<Upstream['connect']>): Plan {
  const upstreams = new Map(
    plan.upstreams.map((upstream) => [upstream, { ...upstream, ...OFFLINE_UPSTREAM_SETTINGS, connect }]),
  );
  const authOf = (auth: Auth | undefined) => auth && { ...auth, verifier };
  const offlineRoute = (route: Route): Route => {
    const upstream = upstreams.get(route.upstream) ?? route.upstream;
    // Who asks here has written the request: its names are told as they are.
    return { ...route, auth: authOf(route.auth), upstream, timeoutMs: undefined, isManifestName: () => true };
  };
  const match = (method: string, path: string) => {
    const route = plan.router.match(method, path);
    return route && offlineRoute(route);
  };
  // To change all routes and make another router of them would take longer than the request.
  const router = { ...plan.router, match };
  const changed = { upstreams: [...upstreams.values()], router, auth: authOf(plan.auth) };
  // The line of each request is what tells of it here.
  return { ...plan, ...changed, sample2xx: 1 };
}

const OFFLINE_UPSTREAM_SETTINGS = {
  health: undefined,
  breaker: undefined,
  totalTimeoutMs: undefined,
  // No limit at all, to the HTTP client.
  responseTimeoutMs: 0,
  idleTimeoutMs: 0,
};
