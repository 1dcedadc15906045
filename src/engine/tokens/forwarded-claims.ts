import { getOrCreate } from '../get-or-create.ts';
import { foldHeaderName } from '../header-names.ts';
import { compilePointer } from '../json-pointer.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import { checkClaimHeaders } from '../settings/header-rules.ts';
import { type AuthForward, claimHeadersOf } from './token-entries.ts';
import type { Principal } from './verifier.ts';

/** The headers of verified claims, as one route treats them. */
export type ForwardedClaims = NonNullable<ReturnType<ReturnType<typeof compileForwardedClaims>>>;

/**
 * Returns a function that compiles the treatment of one route; its result is `undefined` if no route forwards a claim.
 *
 * @param routes all routes, since none of them forwards the headers of clients that another one sets
 */
export function compileForwardedClaims(
  routes: readonly { readonly entry: RouteEntry; readonly index: number }[],
  common: AuthForward | undefined,
  findings: Finding[],
) {
  checkClaimHeaders(Object.keys(common ?? {}), ['auth', 'forward'], findings);
  const maps = [common, ...routes.map(({ entry }) => entry.forward)];
  // A route that does not forward a claim sets nothing.
  const names = new Set(
    maps.flatMap((map) => Object.entries(map || {}).flatMap(([name, claim]) => (claim ? [name] : []))),
  );
  const folded = new Set([...names].map(foldHeaderName));
  for (const { entry, index } of routes) {
    checkClaimHeaders(Object.keys(entry.forward || {}), ['routes', index, 'forward'], findings);
    findings.push(...checkRoute(entry, ['routes', index], folded, common));
  }
  // Folding keeps the length, so a name of another length needs no folding.
  const lengths = new Set([...folded].map(({ length }) => length));
  /** True for a header of a client that some route sets, in every spelling that servers read alike. */
  const drops = (rawName: string) => lengths.has(rawName.length) && folded.has(foldHeaderName(rawName));
  const known = new Map<string, ReturnType<typeof compile>>();
  const compile = (key: string, headers: ReturnType<typeof claimHeadersOf>) =>
    Object.freeze({ key, drops, headers, linesOf: compileLines(headers) });
  // Routes with the same headers share the lines of a caller.
  return (entry: RouteEntry) => {
    if (names.size === 0) return undefined;
    const headers = claimHeadersOf(entry, common);
    return getOrCreate(known, JSON.stringify([headers, [...folded].sort()]), (key) => compile(key, headers));
  };
}

function* checkRoute(
  entry: RouteEntry,
  path: Path,
  folded: ReadonlySet<string>,
  common: AuthForward | undefined,
): Generator<Finding> {
  const { access, forward, requestHeaders: { set = {}, keep = [] } = {} } = entry;
  if (forward !== undefined && access === 'public') {
    const message = 'a public route has no verified caller; write access: protected, or remove "forward"';
    yield errorAtKey([...path, 'forward'], 'header', message);
  }
  const own = new Set(claimHeadersOf(entry, common).map(({ name }) => foldHeaderName(name)));
  for (const name of Object.keys(set).filter((one) => own.has(foldHeaderName(one)))) {
    const message = `"forward" sets "${name}" from a claim; remove it here, or write forward: { ${name}: false }`;
    yield errorAtKey([...path, 'requestHeaders', 'set', name], 'header', message);
  }
  for (const name of keep.filter((one) => folded.has(foldHeaderName(one)))) {
    const message = `a route sets "${name}" from a claim, so no client may send it; remove it here`;
    yield errorAt([...path, 'requestHeaders', 'keep', keep.indexOf(name)], 'header', message);
  }
}

/**
 * Returns a function that returns the headers of a caller as names and values in turn, or the reason why the gateway cannot send
 * one of them, which names it. They are computed once, and live as long as the verified token is cached.
 */
function compileLines(headers: ReturnType<typeof claimHeadersOf>) {
  const rules = headers.map((header) => ({ ...header, claimAt: compilePointer(header.claim) }));
  const known = new WeakMap<Principal, readonly string[] | string>();
  const compute = ({ claims }: Principal) => {
    const lines: string[] = [];
    for (const { name, missing, claimAt } of rules) {
      const text = textOf(claimAt(claims));
      if (text === '' && missing === 'omit') continue;
      if (text === '') return `claim_missing (${name})`;
      if (text === undefined) return `claim_not_text (${name})`;
      const value = text.length > MAX_LENGTH ? text : text.replaceAll(ENCODED, encodeURIComponent);
      if (value.length > MAX_LENGTH) return `claim_too_long (${name})`;
      lines.push(name, value);
    }
    return lines;
  };
  return (principal: Principal) => getOrCreate(known, principal, compute);
}

/** The most characters of a value, as it is sent. */
const MAX_LENGTH = 1_024;
/** Everything but printable ASCII, `%` itself, and spaces at the ends, which parsers of headers remove. */
const ENCODED = /^ +| +$|[^ -$&-~]/gu;
/** Control characters, and halves of surrogate pairs, which have no UTF-8 form. */
const UNSENDABLE = /\p{Cc}|\p{Cs}/u;
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Returns the text of a claim: empty if it is missing, `undefined` if no header can have it. */
function textOf(claim: unknown): string | undefined {
  if (claim === undefined || claim === null) return '';
  if (!Array.isArray(claim)) return scalarText(claim);
  const items = claim.length > MAX_LENGTH ? [undefined] : claim.map(scalarText);
  return items.every((item) => item !== undefined && TOKEN.test(item)) ? items.join() : undefined;
}

/** A whole number beyond 2^53 may have lost its last digits, so two callers could have the same one. */
function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.length <= MAX_LENGTH && UNSENDABLE.test(value) ? undefined : value;
  const isExact = typeof value === 'number' && (Number.isSafeInteger(value) || value % 1 !== 0);
  return isExact || typeof value === 'boolean' ? String(value) : undefined;
}
