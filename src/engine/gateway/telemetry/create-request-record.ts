import { loggedPath } from '../../log/logged-path.ts';
import type { Exchange } from '../exchange.ts';
import type { Refusal } from '../response/refusal.ts';
import { replayFactsOf } from './replay-facts.ts';
import { reportedViolationOf } from './reported-violation.ts';
import type { RequestRecord } from './request-record.ts';

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
function loggedPathOf({ plan, request, target, route }: Exchange): string | undefined {
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
