import { unescapePointerStep } from '../../json-pointer.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { PlannedRequest } from '../request/planned-request.ts';
import type { Refusal, RefusalCode } from '../response/refusal.ts';

/** The facts about a request that a replay needs beside its path. They have no token, claim, value or body. */
export interface ReplayFacts {
  /** The first digits of the hash of the manifest that decided about the request. */
  readonly manifest: string;
  /** The caller's roles that `auth.role` allows; empty for other roles; `undefined` without a verified caller, or with `role: any`. */
  readonly roles: readonly string[] | undefined;
  /** The kind of `Authorization`; `undefined` if the head of the request is not valid. */
  readonly credential: 'bearer' | 'other' | 'none' | undefined;
  readonly mediaType: string | undefined;
  /** `undefined` if the request target is not valid. */
  readonly queryNames: readonly string[] | undefined;
  readonly host: string | undefined;
  readonly kind: 'websocket' | 'preflight' | 'server-options' | undefined;
}

/** A refusal that a route with `validation: report`, or a rate limit with `mode: report`, only reports. */
export interface ReportedViolation {
  readonly code: RefusalCode;
  /** The locations of the violations: JSON Pointers into the body, or to parameters. A name that is not in the manifest is `*`. */
  readonly pointers: readonly string[];
  /** The id of the rate limit. */
  readonly limit?: string;
}

/** The outcome of one request, built once at its end for the log, metrics, trace and subscribers. It has no header, query or body. */
export interface RequestRecord {
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly id: string;
  readonly traceId?: string | undefined;
  readonly method?: string | undefined;
  /** Without the query, and with surrogates if `log.paths` says so: a path may be a secret. `undefined` if the target is not valid. */
  readonly path?: string | undefined;
  /** The start of a path that was refused, as sent, with `*` for what may be an identifier if paths are keyed. */
  readonly refusedPath?: string | undefined;
  /** True if the path has surrogates. */
  readonly isPathKeyed: boolean;
  readonly route?: Route | undefined;
  /** The hash that identifies the caller. */
  readonly subject?: string | undefined;
  /** The method that verified the caller's token; `undefined` if the manifest has only one. */
  readonly issuer?: string | undefined;
  /** 101 for a tunnel; `undefined` if the client disconnected before the response began. */
  readonly status: number | undefined;
  readonly refusal: Refusal | undefined;
  /** The violations of a route with `validation: report`, and the refusals of rate limits with `mode: report`. */
  readonly reported?: readonly ReportedViolation[] | undefined;
  readonly isRequestComplete: boolean;
  /** True if the response ended early. */
  readonly isAborted: boolean;
  /** True if the gateway closed the connection because the client stalled. */
  readonly isStalled: boolean;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** Milliseconds from the request head to the end of the exchange; `undefined` if there was no request head. */
  readonly durationMs?: number | undefined;
  /** Milliseconds from the request head until the gateway forwarded the request. */
  readonly forwardedAfterMs?: number | undefined;
  /** Milliseconds from the request head until the response of the upstream began. */
  readonly respondedAfterMs?: number | undefined;
  readonly retries: number;
  /** The endpoint of the last attempt, without secrets; `undefined` if none was chosen. */
  readonly endpoint?: string | undefined;
  /** The address of the connection's other end. */
  readonly peer: string | undefined;
  /** The client's address as a trusted proxy reports it. */
  readonly client?: string | undefined;
  /** `undefined` without `log.replay`, and without a request head. */
  readonly replay?: ReplayFacts | undefined;
}

/** Matches a list index. A longer number may be a name that the client chose. */
const INDEX = /^\d{1,6}$/;

/** Replaces each name that is not in the manifest with `*`, because a client may have chosen it. */
export function reportedViolationOf({ code, pointers, limit }: Refusal, route: Route | undefined): ReportedViolation {
  const isSafe = (step: string) =>
    step === '' || INDEX.test(step) || route?.isManifestName(unescapePointerStep(step)) === true;
  const redact = (pointer: string) =>
    pointer
      .split('/')
      .map((step) => (isSafe(step) ? step : '*'))
      .join('/');
  return { code, pointers: pointers.map(redact), ...(limit !== undefined && { limit }) };
}

/** The trace that a request belongs to (W3C Trace Context, level 1). */
export interface RequestTrace {
  /** 32 hex digits. */
  readonly id: string;
  /** True if the client sent the trace id. Only then does the client's `tracestate` belong to the trace. */
  readonly isContinued: boolean;
  /** Two hex digits, for a trace without spans. */
  readonly flags?: string;
  /** Begins the span of the upstream request. Returns the `traceparent` for the upstream, with this span as the parent. */
  readonly traceparentFor?: (method: string, upstreamId: string) => string;
  /** Ends the recording of spans with the outcome of the request. */
  readonly end?: (record: RequestRecord) => void;
}

/** The trace of a client, from its `traceparent`. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  /** Two hex digits. */
  readonly flags: string;
}

/** Records spans. Without a tracer, the gateway passes traces on. */
export interface RequestTracer {
  /** @param parent `undefined` for a new trace, which is sampled */
  begin(request: PlannedRequest, parent: TraceParent | undefined): RequestTrace;
  /** Exports the recorded spans before the process exits. Never rejects. */
  flush(): Promise<void>;
}
