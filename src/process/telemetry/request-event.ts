import { type RequestRecord, reportedViolationOf } from '../../engine/gateway/telemetry/request-record.ts';

/** The outcome of one request as the admin API streams it. Like the access log, it has no header, query or body. */
export type RequestEvent = Readonly<ReturnType<typeof requestEventOf>>;

const MAX_POINTERS = 10;
/** A pointer may repeat long names of the manifest. */
const MAX_POINTER_LENGTH = 200;

export function requestEventOf(record: RequestRecord) {
  const { time, id, method, path, route, status, refusal, subject, durationMs = 0 } = record;
  const { forwardedAfterMs, respondedAfterMs, retries } = record;
  return {
    /** Milliseconds since the Unix epoch. */
    at: time,
    /** The request id, as in the access log. */
    id,
    method: method ?? null,
    /** As in the access log, without the query; `null` if the request target is not valid. */
    path: path ?? null,
    /** The start of a path that was refused, as in the access log. */
    refused_path: record.refusedPath ?? null,
    /** True if the path has surrogates in place of identifiers. */
    keyed: record.isPathKeyed,
    route: route?.id ?? null,
    /** `null` if the client disconnected before the response began. */
    status: status ?? null,
    /** `null` if the gateway did not refuse the request. */
    refusal: refusal?.code ?? null,
    reason: refusal?.reason ?? null,
    /** The rate limits that refused the request, or that would have refused it without `mode: report`. */
    limits: limitsOf(record),
    subject: subject ?? null,
    /** The address of the client, as a trusted proxy reports it, or of the connection. */
    client: record.client ?? record.peer ?? null,
    /** Locations of the violations, at most ten. Each name that is not in the manifest is `*`. */
    pointers: pointersOf(record),
    /** `null` if the request was not forwarded. */
    upstream: forwardedAfterMs === undefined ? null : (route?.upstream?.id ?? null),
    retries,
    ms: roundedMs(durationMs),
    /** Until the gateway forwarded the request; `null` if it did not. */
    gateway_ms: forwardedAfterMs === undefined ? null : roundedMs(forwardedAfterMs),
    /** From then until the response of the upstream began; `null` if there was none. */
    upstream_ms: respondedAfterMs === undefined ? null : roundedMs(respondedAfterMs - (forwardedAfterMs ?? 0)),
  };
}

function limitsOf({ refusal, reported = [] }: RequestRecord): string[] {
  const limits = [...reported, ...(refusal === undefined ? [] : [refusal])].map(({ limit }) => limit);
  return limits.filter((limit) => limit !== undefined);
}

/** Returns the locations of the violations that refused the request or, on a route that only reports them, of the reported ones. */
function pointersOf({ refusal, route, reported = [] }: RequestRecord): string[] {
  const violations = refusal === undefined ? reported : [reportedViolationOf(refusal, route)];
  const pointers = violations.flatMap((violation) => violation.pointers);
  return pointers.slice(0, MAX_POINTERS).map((pointer) => pointer.slice(0, MAX_POINTER_LENGTH));
}

function roundedMs(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
