import { foldHeaderName, isOverrideHeader } from '../../header-names.ts';
import { HeaderNameCache } from './header-name-cache.ts';

/** RFC 9110 section 7.6.1: these speak of one connection and stop at each hop. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  // RFC 9110 section 11.7: credentials and challenges between a client and the proxy that it talks to.
  'proxy-authorization',
  'proxy-authenticate',
  'proxy-authentication-info',
]);
/** The gateway writes these itself, or does not forward them. CGI servers take `Proxy` for the variable HTTP_PROXY. */
const GATEWAY_OWNED = new Set([
  'expect',
  'trailer',
  'content-length',
  'forwarded',
  'x-request-id',
  'traceparent',
  'proxy',
]);
/** What a client cannot have removed by naming it in `Connection`. */
const PROTECTED = new Set(['authorization', 'host', 'content-type']);

/** Names and values in turn, as they came: repeated ones repeated, names in their case. */
export type RawHeaders = readonly string[];

/** What the gateway says of a request to the upstream. */
export interface ForwardingHeaders {
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /** Whether the client's `tracestate` belongs to it (W3C Trace Context section 3.3.1.1). */
  readonly hasTracestate: boolean;
  readonly for: string;
  readonly protocol: string;
  readonly host: string | undefined;
}

/**
 * The headers of a request on their way to the upstream.
 *
 * @param keeps returns true for an override header that the route lets through
 */
export function forwardRequestHeaders(
  raw: RawHeaders,
  forwarded: ForwardingHeaders,
  keeps: ((written: string) => boolean) | undefined,
): string[] {
  const named = connectionNames(raw);
  const headers: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const written = raw[index] as string;
    const fate = handlingOf(written);
    if (fate !== 'passes' && !(fate === 'traced' ? forwarded.hasTracestate : fate === 'override' && keeps?.(written)))
      continue;
    if (isListed(written, named, PROTECTED)) continue;
    headers.push(written, raw[index + 1] as string);
  }
  headers.push('X-Forwarded-For', forwarded.for, 'X-Forwarded-Proto', forwarded.protocol);
  if (forwarded.host !== undefined) headers.push('X-Forwarded-Host', forwarded.host);
  headers.push('X-Request-Id', forwarded.requestId);
  if (forwarded.traceparent !== undefined) headers.push('traceparent', forwarded.traceparent);
  return headers;
}

/** The headers of an answer on their way to the client, or its trailers. */
export function forwardResponseHeaders(raw: RawHeaders): string[] {
  const named = connectionNames(raw);
  const headers: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const written = raw[index] as string;
    if (handlingOf(written) !== 'ends' && !isListed(written, named, LENGTH))
      headers.push(written, raw[index + 1] as string);
  }
  return headers;
}

const LENGTH = new Set(['content-length']);

/**
 * The treatment of a header by its name: it passes, or ends at this hop. In a request it may also be one that the gateway
 * writes itself, one that passes with the trace that it belongs to, or one that passes only where the route keeps it.
 */
type HeaderHandling = 'passes' | 'ends' | 'own' | 'traced' | 'override';

/** By the name as it was written: to fold the letter case each time would show in the throughput. */
const handlings = new HeaderNameCache<HeaderHandling>();

function handlingOf(written: string): HeaderHandling {
  const known = handlings.get(written);
  if (known !== undefined) return known;
  const fate = handlingByName(written.toLowerCase());
  handlings.set(written, fate);
  return fate;
}

/**
 * Some servers take `X_Forwarded_For`, others `X.Forwarded.For` too, for `X-Forwarded-For`: no spelling goes on of
 * a header that is the gateway's to say, or that stops at this hop; nor a second one of the type that was checked.
 */
function handlingByName(name: string): HeaderHandling {
  if (HOP_BY_HOP.has(name)) return 'ends';
  const folded = foldHeaderName(name);
  if (isOverrideHeader(folded)) return 'override';
  if (GATEWAY_OWNED.has(folded) || folded.startsWith('x-forwarded-')) return 'own';
  if (folded !== name && (HOP_BY_HOP.has(folded) || PROTECTED.has(folded))) return 'own';
  return name === 'tracestate' ? 'traced' : 'passes';
}

function isListed(written: string, named: ReadonlySet<string> | undefined, kept: ReadonlySet<string>): boolean {
  if (named === undefined) return false;
  const name = written.toLowerCase();
  return named.has(name) && !kept.has(name);
}

/** What `Connection` names beyond the usual; `undefined` when that is nothing. */
function connectionNames(raw: RawHeaders): ReadonlySet<string> | undefined {
  let names: Set<string> | undefined;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string;
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    const value = (raw[index + 1] as string).toLowerCase();
    if (value === 'keep-alive' || value === 'close') continue;
    names ??= new Set();
    for (const token of value.split(',')) names.add(token.trim());
  }
  return names;
}
