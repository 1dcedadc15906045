import { randomInt, randomUUID } from 'node:crypto';
import type { PlannedRequest } from '../request/planned-request.ts';
import type { RequestTrace, RequestTracer, TraceParent } from './request-record.ts';

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ALL_ZEROS = /^0+$/;

/** Parses a `traceparent` (section 3.2). Returns `undefined` if it is not valid; the gateway then starts a new trace. */
export function readTraceparent(header: string): TraceParent | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header) ?? [];
  // Later versions may append fields, version 00 may not, and ff is invalid.
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  return ALL_ZEROS.test(traceId) || ALL_ZEROS.test(spanId) ? undefined : { traceId, spanId, flags };
}

/** Begins the trace of a request with a valid head. @param tracer `undefined`: no spans are recorded */
export function beginTrace(request: PlannedRequest, tracer: RequestTracer | undefined): RequestTrace {
  const { traceparent } = request.request.known;
  const parent = traceparent === undefined ? undefined : readTraceparent(traceparent);
  const isSampled = Math.random() < request.plan.sampledTraces;
  // The sampler of an SDK knows neither the manifest nor its reloads, so it sees only the new traces that are sampled here.
  if (tracer !== undefined && (parent !== undefined || isSampled)) return tracer.begin(request, parent);
  if (parent !== undefined) return { id: parent.traceId, flags: parent.flags, isContinued: true };
  // The digits of the request id, if the gateway generated that id.
  const id = request.forwardedInfo?.requestId === undefined ? request.id : randomUUID();
  const digits = id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);
  return { id: digits, flags: isSampled ? '01' : '00', isContinued: false };
}

/** One half of each span id, random for each process; the other half counts in decimal digits. A span id must be unique in its trace. */
const PROCESS_ID = randomUUID().slice(0, 8);
const FIRST_SPAN = 10_000_000;
const LAST_SPAN = 99_999_999;
let span = randomInt(FIRST_SPAN, LAST_SPAN);

/** Returns the `traceparent` for the upstream, with the gateway as the parent. */
export function traceparentFor(trace: RequestTrace, method: string, upstreamId: string): string {
  if (trace.traceparentFor !== undefined) return trace.traceparentFor(method, upstreamId);
  span = span === LAST_SPAN ? FIRST_SPAN : span + 1;
  return `00-${trace.id}-${PROCESS_ID}${span}-${trace.flags}`;
}
