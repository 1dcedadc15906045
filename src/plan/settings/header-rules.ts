import { foldHeaderName, isOverrideHeader } from '../../header-names.ts';
import type { HeaderRules as Entry, RequestHeaderRules, RouteEntry } from '../../manifest/manifest.generated.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';

/** Changes that a route makes to the headers of one direction. */
export interface HeaderRules {
  /** Whether a header of this name, as it was written, goes no further: it is removed, or set anew. */
  readonly drops: (written: string) => boolean;
  /** Returns true for an override header of a request that the route lets through; `undefined`: it lets none through. */
  readonly keeps: ((written: string) => boolean) | undefined;
  /** What is said in addition: names and values in turn. */
  readonly set: readonly string[];
}

type Side = 'request' | 'response';
const KEYS = { request: 'requestHeaders', response: 'responseHeaders' } as const;

/** Makes the header rules of a route for one direction; `undefined` when it has none. */
export function compileHeaderRules(
  entry: RouteEntry,
  side: Side,
  route: Path,
  findings: Finding[],
): HeaderRules | undefined {
  const rules = entry[KEYS[side]];
  if (rules === undefined) return undefined;
  checkHeaderRules(rules, side, [...route, KEYS[side]], findings);
  const set = Object.entries(rules.set).flat();
  const fold = FOLDS[side];
  const names = new Set([...Object.keys(rules.set), ...rules.remove].map(fold));
  // Folding keeps the length: most names need no folding to tell that they are none of these.
  const lengths = new Set([...names].map(({ length }) => length));
  const kept = new Set(keptNames(rules).map(foldHeaderName));
  return {
    set,
    drops: (written) => lengths.has(written.length) && names.has(fold(written)),
    keeps: kept.size === 0 ? undefined : (written) => kept.has(foldHeaderName(written)),
  };
}

function keptNames(rules: Entry | RequestHeaderRules): readonly string[] {
  return 'keep' in rules ? rules.keep : [];
}

/** Some servers take `X_Platform` and `X.Platform` for `X-Platform`: no spelling of it passes beside the one that is set. */
const FOLDS: Readonly<Record<Side, (name: string) => string>> = {
  request: foldHeaderName,
  response: (name) => name.toLowerCase(),
};

/** RFC 9110 section 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110 section 5.5, less what is obsolete: visible ASCII, with blanks inside alone. */
const VALUE = /^(?:[!-~](?:[\t -~]*[!-~])?)?$/;

function checkHeaderRules(rules: Entry, side: Side, path: Path, findings: Finding[]): void {
  const seen = new Set<string>();
  const look = (name: string, report: (message: string) => void) => {
    const folded = FOLDS[side](name);
    if (!NAME.test(name)) {
      report('this is no header name; write letters, digits and hyphens, as in X-Platform');
    } else if (seen.has(folded)) {
      report(`"${name}" stands here twice; "set" replaces what was sent, so leave one of them`);
    } else {
      const reason = reservedReason(folded, side);
      if (reason !== undefined) report(`"${name}" is not a route's to change: ${reason}; leave it out`);
    }
    seen.add(folded);
  };
  for (const [name, value] of Object.entries(rules.set)) {
    const at = [...path, 'set', name];
    look(name, (message) => findings.push(errorAtKey(at, 'header', message)));
    if (VALUE.test(value)) continue;
    const message = 'this is no header value; write visible ASCII on one line, with no blank at either end';
    findings.push(errorAt(at, 'header', message));
  }
  for (const [index, name] of rules.remove.entries())
    look(name, (message) => findings.push(errorAt([...path, 'remove', index], 'header', message)));
  checkKeptHeaders(keptNames(rules), seen, path, findings);
}

function checkKeptHeaders(names: readonly string[], seen: Set<string>, path: Path, findings: Finding[]): void {
  for (const [index, name] of names.entries()) {
    const folded = foldHeaderName(name);
    const message = seen.has(folded)
      ? `"${name}" stands here twice; leave one of them`
      : isOverrideHeader(folded)
        ? undefined
        : `"${name}" is not a header that the gateway drops by default and may let through; remove it here`;
    if (message !== undefined) findings.push(errorAt([...path, 'keep', index], 'header', message));
    seen.add(folded);
  }
}

const OF_THE_CONNECTION = 'it belongs to the connection, and ends here by itself';
const OF_THE_FRAMING = 'it says where the body ends';
const OF_THE_BODY = 'it says how to read the body, which passes unchanged';
const OF_THE_GATEWAY = 'the gateway says it itself, to every upstream';

/** What no route may touch: by it two servers could come to read one message in two ways, or a request lose its caller. */
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
  authorization: 'the token that was checked goes to every upstream',
  host: 'it passes as the client sent it',
  expect: 'the gateway meets it itself',
  'content-type': OF_THE_BODY,
  forwarded: OF_THE_GATEWAY,
  'x-request-id': OF_THE_GATEWAY,
  traceparent: OF_THE_GATEWAY,
};

function reservedReason(name: string, side: Side): string | undefined {
  if (name.startsWith('sec-websocket-')) return 'it belongs to the handshake of a WebSocket';
  if (Object.hasOwn(RESERVED, name)) return RESERVED[name];
  if (side === 'response') return undefined;
  if (name.startsWith('x-forwarded-')) return OF_THE_GATEWAY;
  return Object.hasOwn(RESERVED_IN_REQUESTS, name) ? RESERVED_IN_REQUESTS[name] : undefined;
}
