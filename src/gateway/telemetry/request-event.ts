import type { RefusalCode } from '../response/refusal.ts';
import type { RequestRecord } from './request-record.ts';

/** The outcome of one request as the admin API streams it. Like the access log, it has no header, query or body. */
export interface RequestEvent {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** The request id, as in the access log. */
  readonly id: string;
  readonly method: string | null;
  /** As sent, without the query; `null` if the request target is not valid. */
  readonly path: string | null;
  readonly route: string | null;
  /** `null` if the client disconnected before the response began. */
  readonly status: number | null;
  /** `null` if the gateway did not refuse the request. */
  readonly refusal: RefusalCode | null;
  readonly reason: string | null;
  readonly subject: string | null;
  readonly ms: number;
}

export function requestEventOf(record: RequestRecord): RequestEvent {
  const { time, id, method, path, route, status, refusal, subject, durationMs = 0 } = record;
  return {
    at: time,
    id,
    method: method ?? null,
    path: path ?? null,
    route: route?.id ?? null,
    status: status ?? null,
    refusal: refusal?.code ?? null,
    reason: refusal?.reason ?? null,
    subject: subject ?? null,
    ms: Math.round(durationMs * 1_000) / 1_000,
  };
}
