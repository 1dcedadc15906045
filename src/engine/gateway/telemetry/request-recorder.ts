import type { Log } from '../../log/log.ts';
import type { LogSettings } from '../../log/log-settings.ts';
import { loggedPath, withoutIdentifiers } from '../../log/logged-path.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { Exchange } from '../exchange.ts';
import { isBearer } from '../request/planned-request.ts';
import { isServerOptions, type RequestHead } from '../request/request-head.ts';
import { isPreflight } from '../response/plan-headers.ts';
import type { Refusal } from '../response/refusal.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { type ReplayFacts, type RequestRecord, reportedViolationOf } from './request-record.ts';

export type RequestSubscriber = (record: RequestRecord) => void;

/** Records every finished request in the access log, the metrics and the trace, and publishes it to subscribers. */
export class RequestRecorder {
  readonly metrics: RequestMetrics;
  readonly #subscribers = new Set<RequestSubscriber>();
  readonly #log: Log;
  readonly #worker: number | undefined;

  /** @param worker the index of this worker if the process has several */
  constructor(log: Log, metrics: RequestMetrics, worker?: number) {
    this.#log = log;
    this.metrics = metrics;
    this.#worker = worker;
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  /** @returns a function that ends the subscription */
  subscribe(subscriber: RequestSubscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => void this.#subscribers.delete(subscriber);
  }

  record(exchange: Exchange, { sample2xx }: LogSettings): void {
    const record = createRequestRecord(exchange);
    const share = sample2xx === 1 ? 1 : sampleRateOf(record, sample2xx);
    if (share === 1 || Math.random() < share) this.#log.writeLine(accessLogLine(record, share, this.#worker));
    this.metrics.record(record);
    for (const subscriber of this.#subscribers) subscriber(record);
    exchange.trace?.end?.(record);
  }

  /** Records the refusal of bytes that the gateway could not parse as a request. */
  recordUnparsed(id: string, refusal: Refusal, peer: string | undefined): void {
    const record = createUnparsedRecord(id, refusal, peer);
    this.#log.writeLine(accessLogLine(record, 1, this.#worker));
    this.metrics.countRefusal(refusal.code);
    for (const subscriber of this.#subscribers) subscriber(record);
  }
}

/**
 * Returns the JSON line of a request. Concatenating strings is 25 times as fast as calling the logger with an object.
 *
 * The record has no header, query or body, so no secret can reach the log. A parsed method, a validated path and an
 * address contain no character that JSON escapes; every other text from a client is escaped here.
 *
 * @param sampled the share of requests like this one that are logged
 * @param worker the index of the worker if the process has several
 */
export function accessLogLine(record: RequestRecord, sampled: number, worker?: number): string {
  const { route, subject, issuer, status, refusal, reported, durationMs, forwardedAfterMs, respondedAfterMs } = record;
  let line = `{"level":30,"time":${record.time},"msg":"request","id":"${record.id}"`;
  if (record.traceId !== undefined) line += `,"trace":"${record.traceId}"`;
  if (record.method !== undefined) line += `,"method":"${record.method}"`;
  if (record.path !== undefined) line += `,"path":"${record.path}"`;
  if (record.refusedPath !== undefined) line += `,"refusedPath":${JSON.stringify(record.refusedPath)}`;
  if (record.isPathKeyed) line += ',"keyed":true';
  if (route !== undefined) line += `,"route":"${route.id}"`;
  if (route?.upstream !== undefined) line += `,"upstream":"${route.upstream.id}"`;
  if (subject !== undefined) line += `,"subject":"${subject}"`;
  if (issuer !== undefined) line += `,"issuer":"${issuer}"`;
  if (status !== undefined) line += `,"status":${status}`;
  if (refusal !== undefined) line += refusalMembers(refusal, route);
  if (reported !== undefined) line += `,"reported":${JSON.stringify(reported)}`;
  if (record.isAborted) line += record.isStalled ? ',"aborted":true,"stalled":true' : ',"aborted":true';
  if (record.receivedBytes > 0) line += `,"bytesIn":${record.receivedBytes}`;
  if (record.sentBytes > 0) line += `,"bytesOut":${record.sentBytes}`;
  if (durationMs !== undefined) line += `,"ms":${Math.round(durationMs * 1000) / 1000}`;
  if (forwardedAfterMs !== undefined) line += `,"gatewayMs":${Math.round(forwardedAfterMs * 1000) / 1000}`;
  if (respondedAfterMs !== undefined)
    line += `,"upstreamMs":${Math.round((respondedAfterMs - (forwardedAfterMs ?? 0)) * 1000) / 1000}`;
  if (record.retries > 0) line += `,"retries":${record.retries}`;
  line += record.peer === undefined ? ',"peer":null' : `,"peer":"${record.peer}"`;
  if (record.client !== undefined) line += `,"client":${JSON.stringify(record.client)}`;
  if (worker !== undefined) line += `,"worker":${worker}`;
  if (record.replay !== undefined) line += replayMembers(record.replay);
  return sampled < 1 ? `${line},"sampled":${sampled}}` : `${line}}`;
}

/** A valid host and a name of a media type contain no character that JSON escapes. */
function replayMembers(facts: ReplayFacts): string {
  const { manifest, roles, credential, mediaType, queryNames, host, kind } = facts;
  let members = `,"manifest":"${manifest}"`;
  if (roles !== undefined) members += `,"role":${roleMember(roles)}`;
  if (credential !== undefined) members += `,"credential":"${credential}"`;
  if (mediaType !== undefined) members += `,"type":"${mediaType}"`;
  if (queryNames !== undefined)
    members += queryNames.length === 0 ? ',"query":[]' : `,"query":${JSON.stringify(queryNames)}`;
  if (host !== undefined) members += `,"host":"${host}"`;
  if (kind !== undefined) members += `,"kind":"${kind}"`;
  return members;
}

/** The role itself if there is one. A role of the manifest that is named `other` is in a list. */
function roleMember(roles: readonly string[]): string {
  if (roles.length === 0) return '"other"';
  return JSON.stringify(roles.length === 1 && roles[0] !== 'other' ? roles[0] : roles);
}

/** Returns the share of requests like this one to log: 1 unless the response is a complete 2xx without a reported refusal. */
function sampleRateOf(record: RequestRecord, sample2xx: number): number {
  const { status = 0, isAborted, isRequestComplete, reported } = record;
  const isSampled = !isAborted && isRequestComplete && reported === undefined && status >= 200 && status < 300;
  return isSampled ? sample2xx : 1;
}

/** Returns the members for a refusal. Only the log has the reason and the required roles, never the response. */
function refusalMembers({ code, reason, limit }: Refusal, route: Route | undefined): string {
  const named = limit === undefined ? '' : `,"limit":"${limit}"`;
  const members = `,"decision":"refused","refusal":"${code}","reason":${JSON.stringify(reason)}${named}`;
  return route?.auth === undefined ? members : `${members},"required":${JSON.stringify(route.auth.role.redactedRoles)}`;
}

function createRequestRecord(exchange: Exchange): RequestRecord {
  const { plan, request, response, connection, target, route, isTunnel, startedAt, forwarding } = exchange;
  // The paths of most routes are logged as sent.
  const isKeyed = route === undefined || plan.log.keyedPaths?.routes.has(route) === true;
  const path = target && isKeyed ? loggedPath(plan, request.method, target.path, route) : target?.path;
  return {
    time: Date.now(),
    id: exchange.id,
    traceId: exchange.trace?.id,
    method: request.method,
    path,
    refusedPath: target === undefined ? refusedPathOf(exchange) : undefined,
    isPathKeyed: path !== target?.path,
    route,
    subject: exchange.principal?.subject,
    issuer: exchange.principal?.issuer,
    status: isTunnel ? 101 : response.status || undefined,
    refusal: exchange.refusal,
    reported: exchange.reportedRefusals?.map((refusal) => reportedViolationOf(refusal, route)),
    isRequestComplete: request.isComplete,
    isAborted: !response.isFinished && !isTunnel,
    isStalled: connection.isStalled,
    receivedBytes: exchange.receivedBytes,
    sentBytes: exchange.sentBytes,
    durationMs: performance.now() - startedAt,
    forwardedAfterMs: forwarding && forwarding.forwardedAt - startedAt,
    respondedAfterMs: forwarding?.respondedAt && forwarding.respondedAt - startedAt,
    retries: forwarding?.retries ?? 0,
    endpoint: forwarding?.endpoint?.url,
    peer: connection.peer,
    client: exchange.forwardedInfo?.client,
    replay: plan.log.replay && replayFactsOf(exchange, plan.log.replay),
  };
}

const MAX_REFUSED_PATH = 200;

/** Without its query, which may have a secret, and without what may be an identifier. An absolute target may have a password. */
function refusedPathOf({ plan, request, refusal }: Exchange): string | undefined {
  const { url } = request;
  if (refusal?.code !== 'path_ambiguous' || !url.startsWith('/')) return undefined;
  const path = withoutIdentifiers(plan.log.keyedPaths, url.replace(/[?#].*$/s, ''));
  return path.length > MAX_REFUSED_PATH ? `${path.slice(0, MAX_REFUSED_PATH)}…` : path;
}

/** Returns the record of a CONNECT, or of bytes that the gateway could not parse as a request. */
export function createUnparsedRecord(id: string, refusal: Refusal, peer: string | undefined): RequestRecord {
  return {
    time: Date.now(),
    id,
    isPathKeyed: false,
    status: refusal.status,
    refusal,
    isRequestComplete: false,
    isAborted: false,
    isStalled: false,
    receivedBytes: 0,
    sentBytes: 0,
    retries: 0,
    peer,
  };
}

/** The longest domain name (RFC 1035 section 2.3.4) with a port. */
const MAX_HOST = 259;

function replayFactsOf(exchange: Exchange, replay: NonNullable<LogSettings['replay']>): ReplayFacts {
  const { plan, principal, head, target } = exchange;
  const host = exchange.forwardedInfo?.host ?? head?.host;
  return {
    manifest: replay.manifest,
    roles: principal && plan.auth?.role.heldBy(principal),
    credential: head && credentialOf(head),
    mediaType: head?.contentType === undefined ? undefined : replay.mediaType(head.contentType),
    queryNames: target && replay.queryNames(target.query),
    host: host === undefined || host.length > MAX_HOST ? undefined : host.toLowerCase(),
    kind: head && kindOf(exchange, head),
  };
}

function credentialOf({ authorization }: RequestHead): ReplayFacts['credential'] {
  if (authorization === undefined) return 'none';
  return isBearer(authorization) ? 'bearer' : 'other';
}

function kindOf({ isHandshake, request, plan, target, route }: Exchange, head: RequestHead): ReplayFacts['kind'] {
  if (isHandshake) return 'websocket';
  if (isServerOptions(request)) return 'server-options';
  const isDecidedWithoutRoute = plan.cors !== undefined && target !== undefined && route === undefined;
  return isDecidedWithoutRoute && isPreflight({ request, head }) ? 'preflight' : undefined;
}
