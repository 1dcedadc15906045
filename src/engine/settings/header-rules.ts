import { foldHeaderName, forgeableHeader } from '../header-names.ts';
import type { HeaderRules as Entry, RequestHeaderRules } from '../manifest/manifest.generated.ts';
import { errorAt, errorAtKey, type Finding, type Path, quoteFreeErrorAt } from '../problem/finding.ts';

/** Changes that a route makes to the headers of one direction. */
export type HeaderRules = ReturnType<typeof compileHeaderRules>;

/** `claim`: in a request, from a claim of the caller. */
type Side = 'request' | 'response' | 'claim';

export function compileHeaderRules(rules: Entry | RequestHeaderRules, side: Side, path: Path, findings: Finding[]) {
  checkHeaderRules(rules, side, path, findings);
  // Headers to add, as alternating names and values.
  const set: readonly string[] = Object.entries(rules.set).flat();
  const fold = FOLDS[side];
  const names = new Set([...Object.keys(rules.set), ...rules.remove].map(fold));
  // Folding keeps the length, so a name of another length needs no folding.
  const lengths = new Set([...names].map(({ length }) => length));
  const keepNames = new Set(keepOf(rules).map(foldHeaderName));
  return {
    set,
    /** Returns true for a header that the route removes or replaces. */
    drops: (name: string) => lengths.has(name.length) && names.has(fold(name)),
    /** Returns true for a forgeable header of a request that the route forwards; `undefined` if it forwards none. */
    keeps: keepNames.size === 0 ? undefined : (name: string) => keepNames.has(foldHeaderName(name)),
  };
}

export function checkClaimHeaders(names: readonly string[], path: Path, findings: Finding[]): void {
  checkHeaderRules(
    { set: Object.fromEntries(names.map((name) => [name, ''])), remove: [] },
    'claim',
    path,
    findings,
    path,
  );
}

/** Compiles the headers of every response. */
export function compileResponseHeaders(set: Record<string, string>, findings: Finding[]): readonly string[] {
  const path = ['server', 'responseHeaders'];
  checkHeaderRules({ set, remove: [] }, 'response', path, findings, path);
  for (const name of Object.keys(set)) {
    if (reservedReason(name.toLowerCase(), 'response') !== undefined) continue;
    const folded = foldHeaderName(name);
    const message = `not every response may have the same "${name}"; remove it`;
    if (OF_ONE_RESPONSE.has(folded) || folded.startsWith('access-control-'))
      findings.push(errorAtKey([...path, name], 'header', message));
  }
  return Object.entries(set).flat();
}

/** Headers that describe one response, or that the gateway writes itself. */
const OF_ONE_RESPONSE = new Set(
  (
    'content-type content-length content-range content-location date age etag last-modified allow location retry-after ' +
    'set-cookie vary www-authenticate proxy-authenticate x-request-id'
  ).split(' '),
);

function keepOf(rules: Entry | RequestHeaderRules): readonly string[] {
  return 'keep' in rules ? rules.keep : [];
}

/** Some servers read `X_Platform` and `X.Platform` as `X-Platform`, so a rule applies to every spelling in a request. */
const FOLDS: Readonly<Record<Side, (name: string) => string>> = {
  request: foldHeaderName,
  response: (name) => name.toLowerCase(),
  claim: foldHeaderName,
};

/** RFC 9110 section 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110 section 5.5 without its obsolete forms: visible ASCII, with white space only between characters. */
const VALUE = /^(?:[!-~](?:[\t -~]*[!-~])?)?$/;

export function checkHeaderRules(
  rules: Entry,
  side: Side,
  path: Path,
  findings: Finding[],
  setPath: Path = [...path, 'set'],
): void {
  const seen = new Set<string>();
  const checkName = (name: string, report: (message: string) => void) => {
    const folded = FOLDS[side](name);
    if (!NAME.test(name)) {
      report('this is not a header name; write letters, digits and hyphens, such as X-Platform');
    } else if (seen.has(folded)) {
      report(`"${name}" appears twice; "set" already replaces the header, so remove one of them`);
    } else {
      const reason = reservedReason(folded, side);
      if (reason !== undefined)
        report(`a ${side === 'claim' ? 'claim cannot set' : 'manifest cannot change'} "${name}": ${reason}; remove it`);
    }
    seen.add(folded);
  };
  for (const [name, value] of Object.entries(rules.set)) {
    const at = [...setPath, name];
    checkName(name, (message) => findings.push(errorAtKey(at, 'header', message)));
    if (VALUE.test(value)) continue;
    const message = 'this is not a header value; write visible ASCII on one line, without white space at either end';
    findings.push(quoteFreeErrorAt(at, 'header', message));
  }
  for (const [index, name] of rules.remove.entries())
    checkName(name, (message) => findings.push(errorAt([...path, 'remove', index], 'header', message)));
  checkKeptHeaders(keepOf(rules), seen, path, findings);
}

function checkKeptHeaders(names: readonly string[], seen: Set<string>, path: Path, findings: Finding[]): void {
  for (const [index, name] of names.entries()) {
    const folded = foldHeaderName(name);
    const message = seen.has(folded)
      ? `"${name}" appears twice; remove one of them`
      : forgeableHeader(folded) === undefined
        ? `"${name}" is not a header of those that "keep" can let through; remove it here`
        : undefined;
    if (message !== undefined) findings.push(errorAt([...path, 'keep', index], 'header', message));
    seen.add(folded);
  }
}

const OF_THE_CONNECTION = 'it belongs to the connection, so the gateway never forwards it';
const OF_THE_FRAMING = 'it determines where the body ends';
const OF_THE_BODY = 'it describes the body, which the gateway does not change';
const OF_THE_GATEWAY = 'the gateway sets it for every upstream';
const OF_THE_TARGET = 'with it an upstream could read another path, host or client than the gateway';

/** Headers that no route may change: two servers could read one message differently, or a request could lose its caller. */
const RESERVED: Readonly<Record<string, string>> = {
  connection: OF_THE_CONNECTION,
  'keep-alive': OF_THE_CONNECTION,
  'proxy-connection': OF_THE_CONNECTION,
  te: OF_THE_CONNECTION,
  upgrade: OF_THE_CONNECTION,
  'http2-settings': OF_THE_CONNECTION,
  'transfer-encoding': OF_THE_FRAMING,
  'content-length': OF_THE_FRAMING,
  trailer: OF_THE_FRAMING,
  'content-encoding': OF_THE_BODY,
};

const RESERVED_IN_REQUESTS: Readonly<Record<string, string>> = {
  authorization: 'the gateway forwards the verified token to every upstream',
  host: '"host" of its upstream determines it',
  expect: 'the gateway responds to it',
  'content-type': OF_THE_BODY,
  forwarded: 'the gateway removes it and sets X-Forwarded-For instead',
  'x-request-id': OF_THE_GATEWAY,
  traceparent: OF_THE_GATEWAY,
};

/** Headers that a route may change, but not set from a claim: their meaning is not that of the caller. */
const RESERVED_FOR_CLAIMS = new Set(
  'cookie via origin referer proxy max-forwards tracestate range proxy-authorization proxy-authenticate'.split(' '),
);

function reservedReason(name: string, side: Side): string | undefined {
  if (name.startsWith('sec-websocket-')) return 'it belongs to the WebSocket handshake';
  if (Object.hasOwn(RESERVED, name)) return RESERVED[name];
  if (side === 'response') return undefined;
  // Applications read it for the links that they write.
  if (name === 'x-forwarded-prefix') return undefined;
  if (name.startsWith('x-forwarded-')) return forgeableHeader(name) === 'override' ? OF_THE_TARGET : OF_THE_GATEWAY;
  if (Object.hasOwn(RESERVED_IN_REQUESTS, name)) return RESERVED_IN_REQUESTS[name];
  const kind = side === 'claim' ? forgeableHeader(name) : undefined;
  if (kind === 'override' || kind === 'address') return OF_THE_TARGET;
  return side === 'claim' && RESERVED_FOR_CLAIMS.has(name) ? 'servers give it another meaning' : undefined;
}
