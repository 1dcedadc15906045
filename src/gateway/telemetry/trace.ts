import { randomUUID } from 'node:crypto';
import type { Exchange } from '../exchange.ts';

/** The trace that a request belongs to (W3C Trace Context, level 1). */
export interface RequestTrace {
  /** 32 hex digits. */
  readonly id: string;
  /** Whether the client had begun it: only then its `tracestate` belongs to it. */
  readonly isContinued: boolean;
  /** Its `traceparent` for the upstream: the gateway is the parent now. */
  traceparentFor(exchange: Exchange): string;
  /** The request is over. */
  end(exchange: Exchange): void;
}

export interface RequestTracer {
  /**
   * @param written the `traceparent` that the client sent; empty when there were several
   * @param sampled the share of the traces begun here that are marked as sampled
   */
  begin(exchange: Exchange, written: string | undefined, sampled: number): RequestTrace;
}

export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  /** Two hex digits. */
  readonly flags: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NONE = /^0+$/;

/** What a `traceparent` says (section 3.2); `undefined` when it cannot be read: then a trace begins anew. */
export function readTraceparent(written: string | undefined): TraceParent | undefined {
  if (written === undefined) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(written) ?? [];
  // A later version may say more behind it; this one says no more, and ff is none.
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  return NONE.test(traceId) || NONE.test(spanId) ? undefined : { traceId, spanId, flags };
}

/** Traces that nobody here records: they go on to whoever does. */
export const passThroughTracer: RequestTracer = {
  begin(exchange, written, sampled) {
    const parent = readTraceparent(written);
    if (parent !== undefined) return new PassThroughTrace(parent.traceId, parent.flags, true);
    return new PassThroughTrace(newTraceId(exchange), Math.random() < sampled ? '01' : '00', false);
  },
};

/** A span's id must be none that another one of the trace has: a process's own half, and a number. */
const PROCESS_ID = randomUUID().slice(0, 8);
const MAX_SPANS = 2 ** 32;
let spanCount = Math.floor(Math.random() * MAX_SPANS);

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
    spanCount = (spanCount + 1) % MAX_SPANS;
    return `00-${this.id}-${PROCESS_ID}${(MAX_SPANS + spanCount).toString(16).slice(1)}-${this.#flags}`;
  }

  end(): void {}
}

/** That of the request's own id, where that was made here. */
function newTraceId({ id, forwardedInfo }: Exchange): string {
  const text = forwardedInfo?.requestId === undefined ? id : randomUUID();
  return text.slice(0, 8) + text.slice(9, 13) + text.slice(14, 18) + text.slice(19, 23) + text.slice(24);
}
