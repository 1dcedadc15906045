import type { Exchange } from '../../engine/gateway/exchange.ts';
import { HTTP_METHODS } from '../../engine/http1/http-methods.ts';

type SpanAttributes = Record<string, string | number>;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, ws: 80, wss: 443 };
/** A valid `Host`: a name, an IPv4 address or an IPv6 address in brackets, then the port. */
const HOST = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/;

/**
 * Returns the attributes of a server span (OpenTelemetry semantic conventions for HTTP). The query and `User-Agent` are left out,
 * because they may contain tokens.
 */
export function serverSpanAttributes({ request, connection, forwardedInfo, head }: Exchange): SpanAttributes {
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

/**
 * Returns the attributes of a client span. `url.full` is left out: a path of the upstream may come from the environment, and a
 * query may contain tokens.
 *
 * @param endpoint an origin, or the name of the variable that it comes from
 */
export function clientSpanAttributes(endpoint: string): SpanAttributes {
  if (!URL.canParse(endpoint)) return { 'server.address': endpoint };
  const { protocol, host } = new URL(endpoint);
  return serverAttributes(host, protocol.slice(0, -1));
}

/** Returns a method that is part of a span's name; `undefined` for a method that a client may have invented. */
export function spanMethod(method: string | undefined): string | undefined {
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
