import { createRequire } from 'node:module';
import type { Context, Span, Tracer } from '@opentelemetry/api';
import type { Exchange } from '../exchange.ts';
import { passThroughTracer, type RequestTrace, type RequestTracer, readTraceparent } from './trace.ts';

type OpenTelemetryApi = typeof import('@opentelemetry/api');

/** For a process with an SDK: an import would read the library for every one. */
const require = createRequire(import.meta.url);

/** Where the library keeps what an SDK has registered, whichever copy of it the SDK has. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1') as unknown as 'registered';

/**
 * Traces as the process has them: recorded as spans where an OpenTelemetry SDK was registered before (by
 * `node --import`), else only passed on.
 */
export function findRequestTracer(version: string): RequestTracer {
  const { [REGISTERED]: registered } = globalThis as { readonly registered?: { readonly trace?: unknown } };
  if (registered?.trace === undefined) return passThroughTracer;
  const api: OpenTelemetryApi = require('@opentelemetry/api');
  const provider = api.trace.getTracerProvider();
  const tracer = provider.getTracer('signing-gateway', version);
  return { begin: (exchange, written) => new OpenTelemetryTrace(api, tracer, exchange, written) };
}

/** A span of the request, and one of what was asked of the upstream (the HTTP conventions of OpenTelemetry). */
class OpenTelemetryTrace implements RequestTrace {
  readonly id: string;
  readonly isContinued: boolean;
  readonly #api: OpenTelemetryApi;
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;
  #asking: Span | undefined;

  constructor(api: OpenTelemetryApi, tracer: Tracer, exchange: Exchange, written: string | undefined) {
    const { request, connection } = exchange;
    const parent = readTraceparent(written);
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
    this.#asking = this.#tracer.startSpan(request.method ?? 'HTTP', options, this.#context);
    const { traceId, spanId, traceFlags } = this.#asking.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  end({ request, response, route, refusal, isTunnel, retries }: Exchange): void {
    const status = isTunnel ? 101 : response.headersSent ? response.statusCode : 0;
    const span = this.#span;
    if (route !== undefined) {
      span.updateName(`${request.method} ${route.path}`);
      span.setAttributes({ 'http.route': route.path, 'signing_gateway.route': route.id });
    }
    if (refusal !== undefined) span.setAttribute('error.type', refusal.code);
    for (const each of [span, this.#asking]) {
      if (status > 0) each?.setAttribute('http.response.status_code', status);
      if (status === 0 || status >= 500) each?.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    }
    if (retries > 0) this.#asking?.setAttribute('http.request.resend_count', retries);
    this.#asking?.end();
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
