import type { Log } from '../../log/log.ts';
import type { LogSettings } from '../../log/log-settings.ts';
import { loggedPath, withoutIdentifiers } from '../../log/logged-path.ts';
import type { Exchange } from '../exchange.ts';
import { isBearer } from '../request/planned-request.ts';
import { isServerOptions, type RequestHead } from '../request/request-head.ts';
import { isPreflight } from '../response/cors.ts';
import type { Refusal } from '../response/refusal.ts';
import { accessLogLine, sampleRateOf } from './access-log.ts';
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

function createRequestRecord(exchange: Exchange): RequestRecord {
  const { plan, request, response, connection, target, route, isTunnel } = exchange;
  const path = target && loggedPath(plan, request.method, target.path, route);
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
    durationMs: exchange.elapsedMs(),
    forwardedAfterMs: exchange.forwardedAfterMs,
    respondedAfterMs: exchange.respondedAfterMs,
    retries: exchange.retries,
    endpoint: exchange.endpoint,
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
