import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, ProxyTracerProvider, Span, Tracer, TracerProvider } from '@opentelemetry/api';
import type { PlannedRequest } from '../../engine/gateway/request/planned-request.ts';
import type {
  RequestRecord,
  RequestTrace,
  RequestTracer,
  TraceParent,
} from '../../engine/gateway/telemetry/request-record.ts';
import { HTTP_METHODS } from '../../engine/http1/http-methods.ts';

type OpenTelemetryApi = typeof import('@opentelemetry/api');

/** Loads the library only if the process has an SDK. An import would load it in every process. */
const require = createRequire(import.meta.url);

/** The global symbol under which every copy of the library registers its SDK. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1') as unknown as 'registered';

/** Returns a tracer if an OpenTelemetry SDK is registered (with `node --import`). */
export function findRequestTracer(version: string): RequestTracer | undefined {
  const { [REGISTERED]: registered } = globalThis as { readonly registered?: { readonly trace?: unknown } };
  if (registered?.trace === undefined) return undefined;
  const api: OpenTelemetryApi = require('@opentelemetry/api');
  const provider = api.trace.getTracerProvider();
  const tracer = provider.getTracer('signing-gateway', version);
  return {
    begin: (request, parent) => new OpenTelemetryTrace(api, tracer, request, parent),
    flush: () => flush(provider),
  };
}

/** The longest time that the export of the last spans delays the exit. */
const FLUSH_TIMEOUT_MS = 2_000;

/** Exports the spans that the SDK holds. The API has no such function, but the providers of SDKs do. */
async function flush(provider: TracerProvider): Promise<void> {
  const sdk = ('getDelegate' in provider ? (provider as ProxyTracerProvider).getDelegate() : provider) as {
    readonly forceFlush?: () => Promise<void>;
  };
  // A collector that does not respond must not fail the exit, or delay it for long.
  await Promise.race([sdk.forceFlush?.(), sleep(FLUSH_TIMEOUT_MS, undefined, { ref: false })]).catch(() => undefined);
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

  constructor(api: OpenTelemetryApi, tracer: Tracer, planned: PlannedRequest, parent: TraceParent | undefined) {
    const { request } = planned;
    const attributes = serverSpanAttributes(planned);
    const context = parent === undefined ? api.ROOT_CONTEXT : remoteContext(api, parent, request.header('tracestate'));
    this.#api = api;
    this.#tracer = tracer;
    this.#span = tracer.startSpan(
      spanMethod(request.method) ?? 'HTTP',
      { kind: api.SpanKind.SERVER, attributes },
      context,
    );
    this.#context = api.trace.setSpan(context, this.#span);
    this.id = this.#span.spanContext().traceId;
    this.isContinued = parent !== undefined;
  }

  traceparentFor(method: string, upstreamId: string): string {
    const attributes = { 'http.request.method': method, 'signing_gateway.upstream': upstreamId };
    const options = { kind: this.#api.SpanKind.CLIENT, attributes };
    this.#upstreamSpan = this.#tracer.startSpan(method, options, this.#context);
    const { traceId, spanId, traceFlags } = this.#upstreamSpan.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  end(record: RequestRecord): void {
    this.#endUpstreamSpan(record);
    const { method, path, status, route, refusal } = record;
    const span = this.#span;
    if (path !== undefined) span.setAttribute('url.path', path);
    if (route !== undefined) {
      span.updateName(`${method} ${route.path}`);
      span.setAttributes({ 'http.route': route.path, 'signing_gateway.route': route.id });
    }
    if (refusal !== undefined) span.setAttribute('error.type', refusal.code);
    if (refusal?.limit !== undefined) span.setAttribute('signing_gateway.rate_limit', refusal.limit);
    this.#endSpan(span, status, SERVER_ERROR);
  }

  /** Ends the span of the upstream request. Only the response of the upstream has a status there, no refusal of the gateway. */
  #endUpstreamSpan({ status, refusal, retries, endpoint, respondedAfterMs }: RequestRecord): void {
    const span = this.#upstreamSpan;
    if (span === undefined) return;
    if (endpoint !== undefined) span.setAttributes(clientSpanAttributes(endpoint));
    if (retries > 0) span.setAttribute('http.request.resend_count', retries);
    if (refusal !== undefined) span.setAttribute('error.type', refusal.code);
    const hasStatus = respondedAfterMs !== undefined && refusal === undefined;
    this.#endSpan(span, hasStatus ? status : undefined, CLIENT_ERROR);
  }

  /** @param firstError the lowest status that makes the span an error, as does a span without a status */
  #endSpan(span: Span, status = 0, firstError: number): void {
    if (status > 0) span.setAttribute('http.response.status_code', status);
    const isError = status === 0 || status >= firstError;
    if (isError) span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    span.end();
  }
}

/** The first status that is an error of a server span, and of a client span. A 4xx is no failure of the server. */
const SERVER_ERROR = 500;
const CLIENT_ERROR = 400;

function remoteContext(api: OpenTelemetryApi, parent: TraceParent, state: unknown): Context {
  const { traceId, spanId, flags } = parent;
  const traceFlags = Number.parseInt(flags, 16);
  const traceState = typeof state === 'string' ? { traceState: api.createTraceState(state) } : {};
  return api.trace.setSpanContext(api.ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true, ...traceState });
}

type SpanAttributes = Record<string, string | number>;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, ws: 80, wss: 443 };
/** A valid `Host`: a name, an IPv4 address or an IPv6 address in brackets, then the port. */
const HOST = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/;

/** Returns the attributes of a server span by the OpenTelemetry conventions, without query and `User-Agent`, which may have tokens. */
function serverSpanAttributes({ request, connection, forwardedInfo, head }: PlannedRequest): SpanAttributes {
  const { method = '', httpVersion } = request;
  const known = spanMethod(method);
  const scheme = forwardedInfo?.protocol ?? connection.protocol;
  const host = forwardedInfo?.host ?? head?.host;
  const client = forwardedInfo?.client ?? connection.peer;
  return {
    'http.request.method': known ?? '_OTHER',
    ...(known === undefined && { 'http.request.method_original': method }),
    'url.scheme': scheme.toLowerCase(),
    'network.protocol.version': httpVersion,
    ...(host !== undefined && serverAttributes(host, scheme)),
    ...(client !== undefined && { 'client.address': client }),
    ...(connection.peer !== undefined && { 'network.peer.address': connection.peer }),
  };
}

/** Returns the attributes of a client span, without `url.full`, which may have secrets. `endpoint` is an origin, or names a variable. */
function clientSpanAttributes(endpoint: string): SpanAttributes {
  if (!URL.canParse(endpoint)) return { 'server.address': endpoint };
  const { protocol, host, pathname } = new URL(endpoint);
  // A unix socket has a path in place of the host.
  return host === '' ? { 'server.address': pathname } : serverAttributes(host, protocol.slice(0, -1));
}

/** Returns a method that is part of a span's name; `undefined` for a method that a client may have invented. */
function spanMethod(method: string | undefined): string | undefined {
  return (HTTP_METHODS as readonly string[]).find((name) => name === method);
}

function serverAttributes(host: string, scheme: string): SpanAttributes {
  const [, name = host, port] = HOST.exec(host) ?? [];
  const number = port === undefined ? DEFAULT_PORTS[scheme.toLowerCase()] : Number(port);
  return {
    'server.address': name.replace(/^\[(.*)\]$/, '$1').toLowerCase(),
    ...(number !== undefined && { 'server.port': number }),
  };
}
