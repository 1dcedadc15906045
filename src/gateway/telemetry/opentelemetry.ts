import { createRequire } from 'node:module';
import type { Context, Span, Tracer } from '@opentelemetry/api';
import type { Exchange } from '../exchange.ts';
import type { RequestRecord } from './request-record.ts';
import { passThroughTracer, type RequestTrace, type RequestTracer, readTraceparent } from './trace.ts';

type OpenTelemetryApi = typeof import('@opentelemetry/api');

/** Loads the library only in a process with an SDK; an import would load it in every process. */
const require = createRequire(import.meta.url);

/** The global under which every copy of the library registers its SDK. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1') as unknown as 'registered';

/**
 * Returns a tracer that records spans if an OpenTelemetry SDK is registered (by `node --import`), else the pass-through
 * tracer.
 */
export function findRequestTracer(version: string): RequestTracer {
  const { [REGISTERED]: registered } = globalThis as { readonly registered?: { readonly trace?: unknown } };
  if (registered?.trace === undefined) return passThroughTracer;
  const api: OpenTelemetryApi = require('@opentelemetry/api');
  const provider = api.trace.getTracerProvider();
  const tracer = provider.getTracer('signing-gateway', version);
  return { begin: (exchange, traceparent) => new OpenTelemetryTrace(api, tracer, exchange, traceparent) };
}

/** A server span for the request and a client span for the upstream request (OpenTelemetry HTTP conventions). */
class OpenTelemetryTrace implements RequestTrace {
  readonly id: string;
  readonly isContinued: boolean;
  readonly #api: OpenTelemetryApi;
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;
  #upstreamSpan: Span | undefined;

  constructor(api: OpenTelemetryApi, tracer: Tracer, exchange: Exchange, traceparent: string | undefined) {
    const { request, connection } = exchange;
    const parent = readTraceparent(traceparent);
    const attributes = { 'http.request.method': request.method ?? '', 'url.scheme': connection.protocol };
    const context = parent === undefined ? api.ROOT_CONTEXT : remoteContext(api, parent, request.headers['tracestate']);
    this.#api = api;
    this.#tracer = tracer;
    this.#span = tracer.startSpan(request.method ?? 'HTTP', { kind: api.SpanKind.SERVER, attributes }, context);
    this.#context = api.trace.setSpan(context, this.#span);
    this.id = this.#span.spanContext().traceId;
    this.isContinued = parent !== undefined;
  }

  traceparentFor({ request, route }: Exchange): string {
    const attributes = {
      'http.request.method': request.method ?? '',
      'signing_gateway.upstream': route?.upstream.id ?? '',
    };
    const options = { kind: this.#api.SpanKind.CLIENT, attributes };
    this.#upstreamSpan = this.#tracer.startSpan(request.method ?? 'HTTP', options, this.#context);
    const { traceId, spanId, traceFlags } = this.#upstreamSpan.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  end({ method, status = 0, route, refusal, retries }: RequestRecord): void {
    const span = this.#span;
    if (route !== undefined) {
      span.updateName(`${method} ${route.path}`);
      span.setAttributes({ 'http.route': route.path, 'signing_gateway.route': route.id });
    }
    if (refusal !== undefined) span.setAttribute('error.type', refusal.code);
    for (const each of [span, this.#upstreamSpan]) {
      if (status > 0) each?.setAttribute('http.response.status_code', status);
      if (status === 0 || status >= 500) each?.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    }
    if (retries > 0) this.#upstreamSpan?.setAttribute('http.request.resend_count', retries);
    this.#upstreamSpan?.end();
    span.end();
  }
}

function remoteContext(
  api: OpenTelemetryApi,
  parent: NonNullable<ReturnType<typeof readTraceparent>>,
  state: unknown,
): Context {
  const { traceId, spanId, flags } = parent;
  const traceFlags = Number.parseInt(flags, 16);
  const traceState = typeof state === 'string' ? { traceState: api.createTraceState(state) } : {};
  return api.trace.setSpanContext(api.ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true, ...traceState });
}
