import { foldHeaderName, forgeableHeader } from '../../../src/engine/header-names.ts';
import type { Manifest, RouteEntry } from '../../../src/engine/manifest/manifest.generated.ts';
import { type HeaderLine, type ModelRequest, refuse } from './model-request.ts';

// ## Requests to upstreams, and redirects
//
// The upstream gets method, query and body as they were sent, and all headers that this section does not name, such as `Authorization`.

export function pathFor({ upstreamPath }: RouteEntry, path: string): string {
  // `upstreamPath` puts `with` in place of `replace` at the start of the path. `/` stands for no text there, and an empty path becomes `/`.
  const [cut = '', added = ''] = [upstreamPath?.replace, upstreamPath?.with].map((text) => text?.replace(/^\/$/, ''));
  return added + path.slice(cut.length) || '/';
}

export function forwardedHeaders(
  manifest: Manifest,
  route: RouteEntry,
  request: ModelRequest,
  claims: readonly HeaderLine[],
): HeaderLine[] {
  const { set = {}, remove = [], keep = [] } = route.requestHeaders ?? {};
  const { host = 'client' } = manifest.upstreams[route.upstream ?? ''] ?? {};
  const claimed = [manifest.auth, ...manifest.routes].flatMap((each) => Object.entries(each?.forward || {}));
  const replaced = [...claimed.flatMap(([name, claim]) => (claim ? [name] : [])), ...Object.keys(set), ...remove];
  const isIn = (name: string, names: readonly string[]) =>
    names.some((each) => foldHeaderName(each) === foldHeaderName(name));
  const passes = ([name]: HeaderLine) => {
    // Headers in `requestHeaders.set` and `remove` end here, and so do those that some route sets from a claim, on all routes and in every spelling that servers read alike.
    if (isIn(name, replaced)) return false;
    // `Host` is that of the client, or the one that `host` of the upstream names.
    if (host !== 'client' && name.toLowerCase() === 'host') return false;
    // Headers that forge an address, an identity, or another method, path or host end here, unless `requestHeaders.keep` lists them. Addresses pass from `server.trustedProxies`, to which no client of a unix socket belongs.
    const kind = forgeableHeader(foldHeaderName(name));
    const isAddress = kind === 'address' && request.isTrustedProxy && foldHeaderName(name) === name.toLowerCase();
    return kind === undefined || isAddress || isIn(name, keep);
  };
  // Headers of the connection end here (RFC 9110 section 7.6.1). The gateway writes `X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix`, `X-Request-Id`, `traceparent` and `Via`.
  const ownHost: HeaderLine[] = host === 'client' ? [] : [['Host', host]];
  return [...ownHost, ...request.headers.filter(passes), ...Object.entries(set), ...claims];
}

export function locationOf(
  pattern: string,
  redirect: NonNullable<RouteEntry['redirect']>,
  path: string,
  query: string,
): string {
  // In `redirect.to`, `{name}` stands for a segment and `{rest}` for the part that `/**` matches, as sent. In a query, `&`, `=`, `+` and `;` of them are escaped.
  const [parts, segments] = [pattern.split('/'), path.split('/')];
  const partOf = (name: string) => {
    const at = parts.indexOf(`{${name}}`);
    return at === -1 ? segments.slice(parts.indexOf('**')).join('/') : (segments[at] ?? '');
  };
  const fill = (text = '', marks = /(?!)/g) =>
    text.replaceAll(/\{(\w+)\}/g, (_, name) => partOf(name).replaceAll(marks, encodeURIComponent));
  const [, to, ownQuery, fragment] = /^([^?#]*)(\?[^#]*)?(.*)$/.exec(redirect.to) ?? [];
  // `redirect.query: keep` adds the query of the request.
  const kept =
    redirect.query === 'keep' ? query.replaceAll(/["<>\\^`{|}]/g, encodeURIComponent) : fill(ownQuery, /[&+=;]/g);
  // A location that begins with `//` is that of another host: 400 `path_ambiguous`.
  return /^(?:https?:\/\/[^/]*)?\/[/\\]/i.test(fill(to)) ? refuse('path_ambiguous') : fill(to) + kept + fill(fragment);
}
