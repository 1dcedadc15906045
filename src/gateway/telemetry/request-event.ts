import type { Exchange } from '../exchange.ts';
import type { Refusal, RefusalCode } from '../response/refusal.ts';

/**
 * What became of one request, for who looks on. No header, no query and no body is ever put in; of the caller,
 * what the log has.
 */
export interface RequestEvent {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The request's, by which the log has it too. */
  readonly id: string;
  readonly method: string | null;
  /** As sent, without the query; `null` where none could be read. */
  readonly path: string | null;
  readonly route: string | null;
  /** `null`: the client left before there was an answer. */
  readonly status: number | null;
  /** `null`: it was not refused. */
  readonly refusal: RefusalCode | null;
  readonly reason: string | null;
  readonly subject: string | null;
  readonly ms: number;
}

export function requestEventOf(exchange: Exchange, ms: number): RequestEvent {
  const { id, request, response, target, route, refusal, principal, isTunnel } = exchange;
  return {
    at: Date.now(),
    id,
    method: request.method ?? null,
    path: target?.path ?? null,
    route: route?.id ?? null,
    status: isTunnel ? 101 : response.headersSent ? response.statusCode : null,
    refusal: refusal?.code ?? null,
    reason: refusal?.reason ?? null,
    subject: principal?.subject ?? null,
    ms: Math.round(ms * 1_000) / 1_000,
  };
}

/** Of bytes that were no request. */
export function refusedConnectionEvent(id: string, { code, status, reason }: Refusal): RequestEvent {
  const unread = { method: null, path: null, route: null, subject: null };
  return { at: Date.now(), id, ...unread, status, refusal: code, reason, ms: 0 };
}
