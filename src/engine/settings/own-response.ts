import { BODYLESS_METHODS } from '../http1/http-methods.ts';
import { type RawHeaders, withMissing } from '../http1/raw-headers.ts';
import type { Redirect, Respond, RouteEntry } from '../manifest/manifest.generated.ts';
import { errorAt, errorAtKey, type Finding, type Path, quoteFreeErrorAt } from '../problem/finding.ts';
import type { Pattern } from '../routing/pattern.ts';
import { parseHttpUrl } from './address.ts';
import { checkHeaderRules } from './header-rules.ts';

/** The response of a route without an upstream. */
export interface OwnResponse {
  readonly status: number;
  readonly headers: RawHeaders;
  /** Empty if the status has no body. */
  readonly body: Buffer;
  /** Returns the `Location` for a request, or `undefined` if it would name another host. Present for a redirect. */
  readonly locationOf: ((path: string, query: string) => string | undefined) | undefined;
}

interface OwnResponseContext {
  readonly findings: Finding[];
  readonly path: Path;
  readonly methods: readonly string[];
  readonly pattern: Pattern;
}

const RULE = 'route-response';
/** The keys of a route that only affect requests that it forwards. */
const OF_FORWARDING = ['timeout', 'upstreamPath', 'requestHeaders', 'forward', 'login', 'body'] as const;
const MAX_BODY_BYTES = 65_536;

/** Compiles `respond` or `redirect` of a route; `undefined` if it has an upstream. */
export function compileOwnResponse(entry: RouteEntry, context: OwnResponseContext): OwnResponse | undefined {
  const { respond, redirect, access } = entry;
  if (respond === undefined && redirect === undefined) return undefined;
  const { findings, path } = context;
  for (const key of OF_FORWARDING) if (entry[key] !== undefined) reportUnused(key);
  if (entry.websocket !== false) reportUnused('websocket');
  const cacheControl = access === 'protected' ? ['Cache-Control', 'no-store'] : [];
  return redirect === undefined
    ? compileRespond(respond as Respond, cacheControl, context)
    : compileRedirect(redirect, cacheControl, context);

  function reportUnused(key: string): void {
    const message = `"${key}" has no effect on a route that forwards no request; remove it`;
    findings.push(errorAtKey([...path, key], RULE, message));
  }
}

/** Reports a route that does not have exactly one of `upstream`, `respond` and `redirect`. */
export function checkDestination(entry: Partial<RouteEntry>, path: Path, findings: Finding[]): void {
  const [first, second] = (['upstream', 'respond', 'redirect'] as const).filter((key) => entry[key] !== undefined);
  const none = 'this route does nothing; add upstream: with a name, or respond: or redirect:';
  if (first === undefined) findings.push(errorAt(path, RULE, none));
  if (second === undefined) return;
  const message = `a route has only one of "${first}" and "${second}"; remove the other one`;
  findings.push(errorAtKey([...path, second], RULE, message));
}

function compileRespond(
  { status, headers, body: text }: Respond,
  defaults: RawHeaders,
  { findings, path }: OwnResponseContext,
): OwnResponse {
  const at = [...path, 'respond'];
  checkHeaderRules({ set: headers, remove: [] }, 'response', at, findings, [...at, 'headers']);
  const body = Buffer.from(text);
  const report = (key: string, message: string) => findings.push(quoteFreeErrorAt([...at, key], RULE, message));
  if (status >= 300 && status < 400)
    report('status', 'this is a status of redirects; write redirect: in place of respond:');
  if (body.length > 0 && (status === 204 || status === 205))
    report('body', `a response with status ${status} has no body; remove it`);
  if (body.length > MAX_BODY_BYTES)
    report('body', `a body has at most 64 kB; write a shorter one, or serve it by an upstream`);
  const contentType = body.length === 0 ? [] : ['Content-Type', 'text/plain; charset=utf-8'];
  const missing = withMissing(Object.entries(headers).flat(), [...contentType, ...defaults]);
  return { status, headers: [...missing, 'Content-Length', String(body.length)], body, locationOf: undefined };
}

/** A fixed origin, a path, a query and a fragment. */
const LOCATION = /^(https?:\/\/[^/?#\\{}]*)?(\/[^?#]*)(\?[^#]*)?(#.*)?$/i;
/** Characters of a URI (RFC 3986), and parameters. */
const URI_TEXT = /^(?:[A-Za-z0-9._~:/?#@!$&'()*+,;=-]|%[0-9A-Fa-f]{2}|\{[A-Za-z_]\w*\})*$/;
const PARAMETER = /\{(\w+)\}/g;
/** Browsers read such a path as a host. */
const HOST_LIKE = /^\/[/\\]/;

/** Characters of a request, which the path guard has validated, only need escapes in a query. */
const escapeQuery = (text: string) => text.replaceAll(/["<>\\^`{|}]/g, encodeURIComponent);
const escapeQueryValue = (text: string) => text.replaceAll(/[&+=;]/g, encodeURIComponent);

function compileRedirect(
  { to, status, query: handling }: Redirect,
  headers: RawHeaders,
  { findings, path, methods, pattern }: OwnResponseContext,
): OwnResponse {
  const at = [...path, 'redirect'];
  const report = (message: string, key = 'to') => findings.push(quoteFreeErrorAt([...at, key], RULE, message));
  const [matched, origin = '', toPath = '', toQuery = '', fragment = ''] = LOCATION.exec(to) ?? [];
  const url = origin === '' ? undefined : parseHttpUrl(origin);
  const example = 'write for example /v2/{rest} or https://docs.example/{rest}';
  if (matched === undefined || !URI_TEXT.test(to)) report(`this is not a path or a URL with a fixed host; ${example}`);
  else if (typeof url === 'string') report(`${url}; ${example}`);
  else if (/\/\*+(?:\/|$)/.test(toPath))
    report('a location has no wildcards; write {name} of a segment of "path", or {rest} for its **');
  else if (HOST_LIKE.test(toPath)) report('browsers read "//" at the start of a path as a host; write one slash');
  if ([...to.matchAll(PARAMETER)].some(([, name = '']) => readParameter(pattern, name, []) === undefined))
    report('a parameter of this location is not in "path"; write {name} of one of its segments, or {rest} for its **');
  if (handling === 'keep' && toQuery !== '')
    report('this has a query, so the query of the request has no place; remove it, or write query: drop');
  const isRepeated = (status === 307 || status === 308) && methods.some((method) => !BODYLESS_METHODS.has(method));
  if (url !== undefined && isRepeated)
    report('with 307 and 308 clients repeat bodies at the other host; write 303, or method: GET', 'status');
  const locationOf = (requestPath: string, query: string) => {
    const segments = requestPath.split('/').slice(1);
    const fill = (text: string, escapeValue = (value: string) => value) =>
      text.replaceAll(PARAMETER, (_match, name: string) => escapeValue(readParameter(pattern, name, segments) ?? ''));
    const location = fill(toPath);
    if (HOST_LIKE.test(location)) return undefined;
    const ownQuery = handling === 'keep' ? escapeQuery(query) : fill(toQuery, escapeQueryValue);
    return origin + location + ownQuery + fill(fragment);
  };
  return { status, headers: [...headers, 'Content-Length', '0'], body: Buffer.alloc(0), locationOf };
}

/** Returns the value of a parameter in the segments of a path; `undefined` if the pattern has no such parameter. `rest` stands for `**`. */
function readParameter(pattern: Pattern, name: string, segments: readonly string[]): string | undefined {
  const index = pattern.findIndex((one) => (one.kind === 'parameter' ? one.name : one.kind) === name);
  if (index === -1) return undefined;
  return pattern[index]?.kind === 'rest' ? segments.slice(index).join('/') : (segments[index] ?? '');
}
