import { randomInt, randomUUID } from 'node:crypto';
import type { Exchange, ExchangeServer, RequestTrace, RequestTracer, TraceParent } from '../exchange.ts';

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ALL_ZEROS = /^0+$/;

/** Parses a `traceparent` (section 3.2). Returns `undefined` if it is not valid; the gateway then starts a new trace. */
export function readTraceparent(header: string | undefined): TraceParent | undefined {
  if (header === undefined) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header) ?? [];
  // Later versions may append fields, version 00 may not, and ff is invalid.
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  return ALL_ZEROS.test(traceId) || ALL_ZEROS.test(spanId) ? undefined : { traceId, spanId, flags };
}

/** Returns the function that begins the trace of an exchange. @param tracer `undefined`: no spans are recorded */
export function traceStarter(tracer: RequestTracer | undefined): ExchangeServer['beginTrace'] {
  return (exchange, traceparent) => {
    const parent = readTraceparent(traceparent);
    const isSampled = Math.random() < exchange.plan.sampledTraces;
    // The sampler of an SDK knows neither the manifest nor its reloads, so it sees only the new traces that are sampled here.
    if (tracer !== undefined && (parent !== undefined || isSampled)) return tracer.begin(exchange, parent);
    if (parent !== undefined) return new PassThroughTrace(parent.traceId, parent.flags, true);
    return new PassThroughTrace(newTraceId(exchange), isSampled ? '01' : '00', false);
  };
}

/** One half of each span id, random for each process; the other half counts in decimal digits. A span id must be unique in its trace. */
const PROCESS_ID = randomUUID().slice(0, 8);
const FIRST_SPAN = 10_000_000;
const LAST_SPAN = 99_999_999;
let span = randomInt(FIRST_SPAN, LAST_SPAN);

class PassThroughTrace implements RequestTrace {
  readonly id: string;
  readonly isContinued: boolean;
  readonly #flags: string;

  constructor(id: string, flags: string, isContinued: boolean) {
    this.id = id;
    this.isContinued = isContinued;
    this.#flags = flags;
  }

  traceparentFor(): string {
    span = span === LAST_SPAN ? FIRST_SPAN : span + 1;
    return `00-${this.id}-${PROCESS_ID}${span}-${this.#flags}`;
  }

  end(): void {}
}

/** Returns a trace id: the digits of the request id, if the gateway generated that id. */
function newTraceId({ id, forwardedInfo }: Exchange): string {
  const uuid = forwardedInfo?.requestId === undefined ? id : randomUUID();
  return uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24);
}
