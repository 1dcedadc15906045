import { isDeepStrictEqual } from 'node:util';
import { BODYLESS_METHODS } from '../../../engine/http1/http-methods.ts';
import { valueAt } from '../../../engine/json-pointer.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import { isMap } from '../../../engine/schema/schema-walk.ts';
import { ANY_ROLE } from '../../../engine/tokens/token-entries.ts';
import type { Comparison, DiffContext, DiffFinding, MatchedRoutePair } from '../difference.ts';
import { rewrittenRoutes } from '../matched-routes.ts';
import { normalize, startsWith } from '../settings/effective-settings.ts';
import { type DiffMethod, type DiffSide, formatRedactedValue } from '../side.ts';
import { segmentOf } from '../witnesses/sample-requests.ts';
import { pairMethods } from './token-comparisons.ts';
import { renamedUpstreams } from './upstream-comparisons.ts';
import { VALUE_RULES, type ValueRule } from './value-rules.ts';

/** Reports values that changed at the same path. */
export const valueComparison: Comparison = {
  rules: Object.fromEntries(VALUE_RULES.map(({ id, severity, description }) => [id, [severity, description]])),
  *find(sides) {
    for (const change of [...topChanges(sides), ...tokenChanges(sides), ...routeChanges(sides)])
      yield {
        ...describeChange(change, sides),
        rule: ruleFor(change, sides).id,
        ...(change.pair && { pair: change.pair }),
      };
  },
};

/** The keys that other comparisons report: `defaults` changes routes. */
const EXCLUDED_KEYS = new Set(['defaults', 'include', 'invariants', 'rateLimits', 'routes', 'schemas']);
const EXCLUDED_ROUTE_KEYS = new Set(
  (
    'access encodedSlash forward headers id issuers login method params path query rateLimits requestHeaders responseHeaders ' +
    'roles upstream upstreamPath validation websocket'
  ).split(' '),
);

const EXCLUDED_BODY_KEYS = new Set(['maxBytes', 'schema', 'types']);

interface Change {
  /** The path in the old manifest. It differs from `path` if a route moved. */
  readonly oldPath: Path;
  readonly path: Path;
  /** The path by which rules know the value; default: `path`. */
  readonly rulePath?: Path;
  /** The values as they take effect. */
  readonly old: unknown;
  readonly next: unknown;
  /** The routes that have the values. */
  readonly pair?: MatchedRoutePair;
}

function ruleFor({ path, rulePath = path, old, next }: Change, sides: DiffContext): ValueRule {
  const rule = VALUE_RULES.find(
    ({ pathPattern, when }) => startsWith(rulePath, pathPattern) && (when === undefined || when(old, next, sides)),
  );
  // The last rule matches everything.
  return rule as ValueRule;
}

function describeChange({ oldPath, path, old, next }: Change, sides: DiffContext): Omit<DiffFinding, 'rule'> {
  const name = nameOf(path, sides.next);
  const previous = old === undefined || isMap(old) ? '' : ` (was ${formatRedactedValue(sides.old, oldPath)})`;
  if (next === undefined) return { message: `${name} was removed${previous}`, path: oldPath, side: 'old' };
  if (isMap(next)) return { message: `${name} ${old === undefined ? 'was added' : `has changed${previous}`}`, path };
  const value = formatRedactedValue(sides.next, path);
  return { message: `${name} is now ${value}${previous || (old === undefined ? ' (was not set)' : '')}`, path };
}

/** Formats a path for a message, with the id of a route instead of its index. */
function nameOf([first, second, ...rest]: Path, { manifest }: DiffSide): string {
  const tokens = manifest.auth?.tokens;
  if (first === 'auth' && second === 'tokens' && Array.isArray(tokens))
    return [first, second, tokens[Number(rest[0])]?.name, ...rest.slice(1)].join('.');
  if (first !== 'routes') return [first, second, ...rest].filter((step) => step !== undefined).join('.');
  return `${rest.join('.')} of the route "${manifest.routes[Number(second)]?.id}"`;
}

function* topChanges(sides: DiffContext): Generator<Change> {
  const { old, next } = sides;
  const names = renamedUpstreams(sides);
  const renamed = new Set([...names.keys(), ...names.values()]);
  for (const change of leafChanges({ ...old, path: [] }, { ...next, path: [] }, sides)) {
    const [section, id] = change.path;
    if (!isReportedElsewhere(change.path, sides) && !(section === 'upstreams' && renamed.has(String(id)))) yield change;
  }
}

type ManifestPart = Pick<DiffMethod, 'effective' | 'path'>;

/** Yields the values in two parts of the manifests that have another effect. */
function* leafChanges(old: ManifestPart, next: ManifestPart, sides: DiffContext): Generator<Change> {
  const names = renamedUpstreams(sides);
  for (const suffix of leafPaths([old.effective, next.effective], [])) {
    const oldPath = [...old.path, ...suffix];
    const path = [...next.path, ...suffix];
    const [before, now] = [valueAt(old.effective, suffix), valueAt(next.effective, suffix)];
    const isRenamed = suffix.at(-1) === 'upstream' && names.get(String(before)) === now;
    // Values with the same text have another effect because of a file or of another key, which is reported.
    const isSameText = isDeepStrictEqual(valueAt(sides.old.redacted, oldPath), valueAt(sides.next.redacted, path));
    if (!isRenamed && !isSameText && !isDeepStrictEqual(before, now)) yield { oldPath, path, old: before, next: now };
  }
}

/** True if another comparison reports changes at this path. */
function isReportedElsewhere([first, second, third]: Path, { old, next }: Pick<DiffContext, 'old' | 'next'>): boolean {
  if (EXCLUDED_KEYS.has(String(first))) return true;
  if (first === 'upstreams') return ['tls', 'url', 'urls'].includes(String(third));
  const areBoth = [old, next].every(({ manifest }) => manifest.auth !== undefined);
  return first === 'auth' && (second === 'forward' || (areBoth && (second === 'role' || second === 'tokens')));
}

/** Yields the changes of token methods and of their role rules. Other comparisons report the kind of a method and the roles. */
function* tokenChanges(sides: DiffContext): Generator<Change> {
  for (const { old, next } of pairMethods(sides)) {
    if (old.kind === next.kind)
      for (const change of leafChanges(old, next, sides))
        yield { ...change, rulePath: ['auth', 'tokens', next.kind, ...change.path.slice(next.path.length)] };
    // `role-widened` and `role-narrowed` report `any`.
    const [oldRole, role] = [old.role, next.role];
    if (oldRole === ANY_ROLE || role === ANY_ROLE) continue;
    for (const key of ['array', 'claim', 'format', 'message'] as const) {
      const [oldPath, path] = [
        [...old.rolePath, key],
        [...next.rolePath, key],
      ];
      const [before, now] = [effectOf(sides.old, oldRole[key], oldPath), effectOf(sides.next, role[key], path)];
      if (before !== now) yield { oldPath, path, rulePath: ['auth', 'role', key], old: before, next: now };
    }
  }
}

const ROLE_DEFAULTS: Readonly<Record<string, unknown>> = { array: false, format: 'one' };

/** Clients never receive a message from the environment. */
function effectOf({ secrets }: DiffSide, value: unknown, path: Path): unknown {
  const key = String(path.at(-1));
  return key === 'message' && secrets.isSecret(path) ? null : (value ?? ROLE_DEFAULTS[key]);
}

function* routeChanges(sides: DiffContext): Generator<Change> {
  for (const pair of rewrittenRoutes(sides)) {
    const { from, to } = pair;
    const keys = new Set([...Object.keys(from.entry), ...Object.keys(to.entry)]);
    // A route of GET has no rules for bodies. Other comparisons report which bodies its requests may have.
    const isBodyless = [from, to].some(({ route }) => route.methods.every((method) => BODYLESS_METHODS.has(method)));
    const names = [...keys].filter((key) => !EXCLUDED_ROUTE_KEYS.has(key) && !(isBodyless && key === 'body')).sort();
    for (const suffix of names.flatMap((key) => otherPaths([from.entry, to.entry], key))) {
      const [before, now] = [from, to].map(({ entry }) =>
        normalize(valueAt(entry, suffix), ['routes', '*', ...suffix]),
      );
      const [oldPath, path] = [
        [...from.path, ...suffix],
        [...to.path, ...suffix],
      ];
      const isSame = isDeepStrictEqual(before, now) || (isMap(before) && isMap(now) && isSameOwnResponse(pair, suffix));
      if (!isSame) yield { oldPath, path, old: before, next: now, pair };
    }
  }
}

/** True if clients receive the same: names of headers in another letter case, defaults, other names of the parameters of a location. */
function isSameOwnResponse({ from, to }: MatchedRoutePair, [key]: Path): boolean {
  if (key !== 'respond' && key !== 'redirect') return false;
  const [before, now] = [from, to].map((one) => {
    const { redirect } = one.entry;
    const { status, headers = [], body = '' } = one.route.ownResponse ?? {};
    const fields = headers.flatMap((name, index) =>
      index % 2 === 0 ? [[name.toLowerCase(), headers[index + 1]]] : [],
    );
    const location = redirect?.to.replaceAll(/\{(\w+)\}/g, (_, name: string) => `{${segmentOf(one, name)}}`);
    return [status, fields.sort(), String(body), location, redirect?.query];
  });
  return isDeepStrictEqual(before, now);
}

/** Returns the paths below a key of a route that no other comparison reports. */
function otherPaths(entries: readonly object[], key: string): string[][] {
  if (key !== 'body') return [[key]];
  const bodies = entries.map((entry) => valueAt(entry, [key]) ?? {});
  const names = new Set(bodies.flatMap((body) => Object.keys(body as object)));
  return [...names]
    .filter((name) => !EXCLUDED_BODY_KEYS.has(name))
    .sort()
    .map((name) => [key, name]);
}

/** Yields the paths at which at least one of the values is not a map: scalars, lists, and maps that one side lacks. */
function* leafPaths(values: readonly unknown[], path: Path): Generator<Path> {
  if (!values.every(isMap)) {
    yield path;
    return;
  }
  const keys = new Set(values.flatMap((value) => Object.keys(value)));
  for (const key of [...keys].sort())
    yield* leafPaths(
      values.map((value) => value[key]),
      [...path, key],
    );
}
