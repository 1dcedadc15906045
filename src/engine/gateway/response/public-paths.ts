import { isHeader, type RawHeaders } from '../../http1/raw-headers.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { Exchange } from '../exchange.ts';

type ToPublic = NonNullable<Route['publicPath']>;

/** Returns the headers of an upstream's response with its paths as clients know them. Values that lead elsewhere stay as they are. */
export function withPublicPaths(headers: RawHeaders, exchange: Exchange, toPublic: ToPublic): string[] {
  return headers.map((value, index) => {
    const name = index % 2 === 0 ? '' : (headers[index - 1] as string);
    if (isHeader(name, 'location') || isHeader(name, 'content-location')) return publicUrl(value, exchange, toPublic);
    return isHeader(name, 'set-cookie') ? publicCookie(value, toPublic) : value;
  });
}

/** A path with query and fragment, with an origin or without one. Other references are relative to the request. */
const URL_TEXT = /^(?:(https?:)\/\/([^/?#\\]*)(?![^/?#]))?(\/?)(.*)$/is;

/** The origin of the endpoint is not that of the clients, so it is removed. */
function publicUrl(value: string, { route, head, forwardedInfo }: Exchange, toPublic: ToPublic): string {
  const [, scheme = 'http:', authority, slash = '', rest = ''] = URL_TEXT.exec(value) ?? [];
  // The path of a URL with a host may be empty, which means `/` (RFC 9110 section 4.2.3).
  const mapped = authority === undefined && slash === '' ? undefined : toPublic(`/${rest}`);
  if (mapped === undefined || authority === undefined) return mapped ?? value;
  const hostOf = (text: string | undefined) => URL.parse(`${scheme}//${text}`)?.host;
  const host = hostOf(authority);
  if (host === hostOf(forwardedInfo?.host ?? head?.host)) return `${scheme}//${authority}${mapped}`;
  const { host: sent = 'client', endpoints = [] } = route?.upstream ?? {};
  const isOfUpstream = sent === 'upstream' ? endpoints.some(({ url }) => url.host === host) : host === hostOf(sent);
  return sent !== 'client' && isOfUpstream ? mapped : value;
}

const COOKIE_PATH = /(;[\t ]*path[\t ]*=[\t ]*)([^;]*)/gi;

/** Browsers refuse a cookie whose name begins with `__Host-` if its path is not `/`. */
function publicCookie(cookie: string, toPublic: ToPublic): string {
  if (/^[\t ]*__host-/i.test(cookie)) return cookie;
  return cookie.replaceAll(COOKIE_PATH, (attribute: string, name: string, value: string) => {
    const path = value.trimEnd();
    const mapped = path.startsWith('/') ? toPublic(path) : undefined;
    if (mapped === undefined) return attribute;
    // The path of a cookie with a final slash would not cover the prefix itself.
    return name + (path === '/' && mapped.length > 1 ? mapped.slice(0, -1) : mapped);
  });
}
