import { loggedPath } from '../../log/logged-path.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { Exchange } from '../exchange.ts';
import type { Refusal } from '../response/refusal.ts';
import { type ReplayFacts, replayFactsOf } from './replay-facts.ts';
import { type ReportedViolation, reportedViolationOf } from './reported-violation.ts';

/**
 * The outcome of one request, built once when its exchange ends. The access log, the metrics, the trace and every
 * subscriber read it. It has no header, query or body.
 */
export interface RequestRecord {
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly id: string;
  readonly traceId: string | undefined;
  readonly method: string | undefined;
  /**
   * Without the query, and with surrogates in place of identifiers if `log.paths` says so; `undefined` if the request target is not
   * valid. The path as sent may be a secret.
   */
  readonly path: string | undefined;
  /** True if the path has surrogates. */
  readonly isPathKeyed: boolean;
  readonly route: Route | undefined;
  /** The hash that identifies the caller. */
  readonly subject: string | undefined;
  /** 101 for a tunnel; `undefined` if the client disconnected before the response began. */
  readonly status: number | undefined;
  readonly refusal: Refusal | undefined;
  /** The violations of a route with `validation: report`, and the refusals of rate limits with `mode: report`. */
  readonly reported: readonly ReportedViolation[] | undefined;
  readonly isRequestComplete: boolean;
  /** True if the response ended early. */
  readonly isAborted: boolean;
  /** True if the gateway closed the connection because the client stalled. */
  readonly isStalled: boolean;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** Milliseconds from the request head to the end of the exchange; `undefined` if there was no request head. */
  readonly durationMs: number | undefined;
  /** Milliseconds from the request head until the gateway forwarded the request. */
  readonly forwardedAfterMs: number | undefined;
  /** Milliseconds from the request head until the response of the upstream began. */
  readonly respondedAfterMs: number | undefined;
  readonly retries: number;
  /** The endpoint of the last attempt, without secrets; `undefined` if none was chosen. */
  readonly endpoint: string | undefined;
  /** The address of the connection's other end. */
  readonly peer: string | undefined;
  /** The client's address as a trusted proxy reports it. */
  readonly client: string | undefined;
  /** `undefined` without `log.replay`, and without a request head. */
  readonly replay: ReplayFacts | undefined;
}

export function createRequestRecord(exchange: Exchange): RequestRecord {
  const { request, response, connection, isTunnel } = exchange;
  const path = loggedPathOf(exchange);
  return {
    time: Date.now(),
    id: exchange.id,
    traceId: exchange.trace?.id,
    method: request.method,
    path,
    isPathKeyed: path !== exchange.target?.path,
    route: exchange.route,
    subject: exchange.principal?.subject,
    status: isTunnel ? 101 : response.headersSent ? response.statusCode : undefined,
    refusal: exchange.refusal,
    reported: exchange.reportedRefusals?.map((refusal) => reportedViolationOf(refusal, exchange.route)),
    isRequestComplete: request.complete,
    isAborted: !response.writableFinished && !isTunnel,
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
    replay: replayFactsOf(exchange),
  };
}

/** Returns the path of a request as logs, events and spans have it. */
export function loggedPathOf({ plan, request, target, route }: Exchange): string | undefined {
  return target && loggedPath(plan, request.method ?? '', target.path, route);
}

/** Returns the record of a CONNECT, or of bytes that the gateway could not parse as a request. */
export function createUnparsedRecord(id: string, refusal: Refusal, peer: string | undefined): RequestRecord {
  return {
    time: Date.now(),
    id,
    traceId: undefined,
    method: undefined,
    path: undefined,
    isPathKeyed: false,
    route: undefined,
    subject: undefined,
    status: refusal.status,
    refusal,
    reported: undefined,
    isRequestComplete: false,
    isAborted: false,
    isStalled: false,
    receivedBytes: 0,
    sentBytes: 0,
    durationMs: undefined,
    forwardedAfterMs: undefined,
    respondedAfterMs: undefined,
    retries: 0,
    endpoint: undefined,
    peer,
    client: undefined,
    replay: undefined,
  };
}
