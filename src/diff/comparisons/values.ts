import { isDeepStrictEqual } from 'node:util';
import { isMap, valueAt } from '../../plan/schema/schema-walk.ts';
import type { Path } from '../../problem/finding.ts';
import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import { type DiffSide, formatRedactedValue } from '../side.ts';
import { VALUE_RULES, type ValueRule } from './value-rules.ts';

/** A comparison of each id of the rows: values that stand where they stood, and are others. */
export const valueComparisons: readonly Comparison[] = [...Map.groupBy(VALUE_RULES, ({ id }) => id).values()].map(
  (rows) => {
    const [{ id, severity, description: what }] = rows as [ValueRule];
    return { id, severity, description: what, find: (sides) => findChanges(rows, sides) };
  },
);

/** What other comparisons tell of: what comes of routes and of upstreams' files is no matter of single values. */
const ELSEWHERE = new Set(['include', 'routes', 'schemas']);
const ROUTE_KEYS = new Set([
  'access',
  'encodedSlash',
  'headers',
  'id',
  'login',
  'method',
  'params',
  'path',
  'query',
  'requestHeaders',
  'responseHeaders',
  'roles',
  'upstream',
  'upstreamPath',
  'validation',
  'websocket',
]);

function* findChanges(rows: readonly ValueRule[], sides: DiffContext): Generator<DiffFinding> {
  for (const change of changesOf(sides)) if (rows.includes(ruleFor(change))) yield findingFor(change, sides);
}

const BODY_KEYS = new Set(['maxBytes', 'schema', 'types']);

interface Change {
  /** In the old and in the new manifest: routes may have moved. */
  readonly oldPath: Path;
  readonly path: Path;
  readonly old: unknown;
  readonly next: unknown;
}

function ruleFor({ path, old, next }: Change): ValueRule {
  const found = VALUE_RULES.find(
    ({ pathPattern, when }) =>
      pathPattern.every((key, index) => key === '*' || key === String(path[index])) &&
      (when === undefined || when(old, next)),
  );
  // The last row is for whatever is left.
  return found as ValueRule;
}

function findingFor({ oldPath, path, old, next }: Change, sides: DiffContext): DiffFinding {
  const name = nameOf(path, sides.next);
  const before = old === undefined || isMap(old) ? '' : `, before ${formatRedactedValue(sides.old, oldPath)}`;
  if (next === undefined) return { message: `${name} is left out now${before}`, path: oldPath, side: 'old' };
  if (isMap(next)) return { message: `${name} is written ${isMap(old) ? 'otherwise' : `now${before}`}`, path };
  return { message: `${name} is ${formatRedactedValue(sides.next, path)} now${before || ', before left out'}`, path };
}

/** A path as people write it; a route by its id. */
function nameOf([first, second, ...rest]: Path, { manifest }: DiffSide): string {
  if (first !== 'routes') return [first, second, ...rest].filter((step) => step !== undefined).join('.');
  return `${rest.join('.')} of the route "${manifest.routes[Number(second)]?.id}"`;
}

const changeCache = new WeakMap<DiffContext, readonly Change[]>();

function changesOf(sides: DiffContext): readonly Change[] {
  const before = changeCache.get(sides);
  if (before !== undefined) return before;
  const changes = [...topChanges(sides), ...routeChanges(sides)];
  changeCache.set(sides, changes);
  return changes;
}

function* topChanges({ old, next }: DiffContext): Generator<Change> {
  for (const path of leafPaths([old.manifest, next.manifest], [])) {
    if (isReportedElsewhere(path, { old, next })) continue;
    const [before, now] = [valueAt(old.manifest, path), valueAt(next.manifest, path)];
    if (!isDeepStrictEqual(before, now)) yield { oldPath: path, path, old: before, next: now };
  }
}

/** Whether others tell of what stands at a path. */
function isReportedElsewhere([first, second, third]: Path, { old, next }: Pick<DiffContext, 'old' | 'next'>): boolean {
  if (ELSEWHERE.has(String(first))) return true;
  if (first === 'upstreams') return ['tls', 'url', 'urls'].includes(String(third));
  if (first !== 'auth') return false;
  if (second === 'role') return third === 'allow';
  // Another way to verify tokens is told of as a whole.
  const has = ({ manifest }: DiffSide) =>
    manifest.auth === undefined || Object.hasOwn(manifest.auth.tokens, String(third));
  return second === 'tokens' && !(has(old) && has(next));
}

function* routeChanges({ old, next, pairs }: DiffContext): Generator<Change> {
  for (const { from, to } of pairs) {
    if (from === undefined || to?.route.id !== from.route.id) continue;
    const keys = new Set([...Object.keys(from.entry), ...Object.keys(to.entry)]);
    const entries = [from.entry, to.entry];
    const others = [...keys].filter((key) => !ROUTE_KEYS.has(key)).sort();
    for (const inside of others.flatMap((key) => otherPaths(entries, key))) {
      const [oldPath, path] = [
        [...from.path, ...inside],
        [...to.path, ...inside],
      ];
      const [before, now] = [valueAt(old.manifest, oldPath), valueAt(next.manifest, path)];
      if (!isDeepStrictEqual(before, now)) yield { oldPath, path, old: before, next: now };
    }
  }
}

/** The paths in a route's entry that nobody else tells of. */
function otherPaths(entries: readonly object[], key: string): Path[] {
  if (key !== 'body') return [[key]];
  const bodies = entries.map((entry) => valueAt(entry, [key]) ?? {});
  const names = new Set(bodies.flatMap((body) => Object.keys(body as object)));
  return [...names]
    .filter((name) => !BODY_KEYS.has(name))
    .sort()
    .map((name) => [key, name]);
}

/** The paths to what is no map, in one of the values at least. Of a map that only one of them has, the path to all of it. */
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
