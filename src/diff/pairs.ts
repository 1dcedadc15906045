import { METHODS } from '../gateway/methods.ts';
import { type Changes, changesBetween } from '../plan/changes.ts';
import type { Pattern, Segment } from '../plan/pattern.ts';
import type { Request } from './difference.ts';
import type { Side, SideRoute } from './side.ts';

/** What has a request in the old manifest and what has it in the new one: at least one of the two. */
export interface Pair {
  readonly from: SideRoute | undefined;
  readonly to: SideRoute | undefined;
  /** A request that goes from the one to the other; `undefined`: they have the same id, and no request in common. */
  readonly request: Request | undefined;
}

/**
 * Pairs the routes of two manifests by the requests that they get. Paths are proposed, and both routers decide: what is said of
 * a request is what happens to it.
 *
 * In a path, a text that no route has stands for every text of a parameter or a rest. Fewer routes match it than match any
 * other text, so what is true of all requests from one route to another is true of one with such texts alone, where the
 * two patterns meet. Routes that are written as they were keep what they had but for those that are not.
 */
export function pairsBetween(old: Side, next: Side): Pair[] {
  const pairs = new Map<string, Pair>();
  const add = (from: SideRoute | undefined, to: SideRoute | undefined, request: Request | undefined) => {
    const key = `${from?.route.id ?? ''} ${to?.route.id ?? ''}`;
    if ((from ?? to) !== undefined && pairs.get(key)?.request === undefined) pairs.set(key, { from, to, request });
  };
  const pathsOf = createSampler([...old.routes, ...next.routes]);
  const propose = (pattern: Pattern, methods: readonly string[]) => {
    for (const url of pathsOf(pattern))
      for (const method of methods) {
        const from = routeAt(old, method, url);
        const to = routeAt(next, method, url);
        add(from, to, { method, url });
      }
  };
  for (const { pattern, route } of [...old.routes, ...next.routes]) propose(pattern, usual(route.methods));
  for (const [one, other] of meetings(old, next, changesBetween(old.plan, next.plan))) {
    const met = meet(one.pattern, other.pattern);
    const methods = one.route.methods.filter((method) => other.route.methods.includes(method));
    if (met !== undefined && methods.length > 0) propose(met, usual(methods));
  }
  for (const from of old.routes) {
    const to = next.routeOf.get(from.route.id);
    if (to !== undefined) add(from, to, undefined);
  }
  return [...pairs.values()];
}

function routeAt(side: Side, method: string, path: string): SideRoute | undefined {
  const route = side.plan.router.match(method, path);
  return route && side.routeOf.get(route.id);
}

/** The pairs of an old and a new route of which one at least is written otherwise than before, and whose paths may meet. */
function* meetings(old: Side, next: Side, { added, removed, changed }: Changes): Generator<[SideRoute, SideRoute]> {
  const isOther = new Set([...added, ...removed, ...changed]);
  const [oldNear, nextNear] = [createNeighbours(old.routes), createNeighbours(next.routes)];
  for (const one of old.routes) if (isOther.has(one.route.id)) for (const other of nextNear(one)) yield [one, other];
  for (const other of next.routes)
    if (isOther.has(other.route.id)) for (const one of oldNear(other)) yield [one, other];
}

/** Makes what tells the routes whose first segments do not speak against a common path: with many routes, few of them. */
function createNeighbours(routes: readonly SideRoute[]): (of: SideRoute) => readonly SideRoute[] {
  const byStart = Map.groupBy(routes, startOf);
  const open = byStart.get(undefined) ?? [];
  return (of) => {
    const start = startOf(of);
    return start === undefined ? routes : [...(byStart.get(start) ?? []), ...open];
  };
}

const START = 3;

/** The first segments, where they are all literal: two that are not the same have no path in common. */
function startOf({ pattern }: SideRoute): string | undefined {
  const texts = pattern.slice(0, START).map((segment) => (segment.kind === 'literal' ? segment.text : undefined));
  return texts.length === START && !texts.includes(undefined) ? texts.join('/') : undefined;
}

/** What the paths of both have in common; `undefined` when they have no path in common. */
export function meet(one: Pattern, other: Pattern): Pattern | undefined {
  const met: Segment[] = [];
  for (let index = 0; ; index += 1) {
    const a = one[index];
    const b = other[index];
    if (a === undefined && b === undefined) return met;
    if (a?.kind === 'rest') return [...met, ...other.slice(index)];
    if (b?.kind === 'rest') return [...met, ...one.slice(index)];
    if (a === undefined || b === undefined) return undefined;
    if (a.kind === 'literal' && b.kind === 'literal' && a.text !== b.text) return undefined;
    met.push(a.kind === 'literal' ? a : b);
  }
}

/** Makes what tells paths of a pattern, one of each length that could matter, with texts that none of the routes has. */
function createSampler(routes: readonly SideRoute[]): (pattern: Pattern) => string[] {
  const texts = routes.flatMap(({ pattern }) =>
    pattern.flatMap((segment) => (segment.kind === 'literal' ? [segment.text.toLowerCase()] : [])),
  );
  const literals = new Set(texts);
  let free = 'x';
  while (literals.has(free)) free += 'x';
  const depth = routes.reduce((most, { pattern }) => Math.max(most, pattern.length), 0);
  return (pattern) => {
    const hasRest = pattern.at(-1)?.kind === 'rest';
    const fixed = hasRest ? pattern.slice(0, -1) : pattern;
    const segments = fixed.map((segment) => (segment.kind === 'literal' ? segment.text : free));
    const most = hasRest ? Math.max(1, depth + 1 - fixed.length) : 0;
    // One more segment is the usual case of a rest; none at all is the next.
    const lengths = hasRest ? [1, 0, ...Array.from({ length: most - 1 }, (_, index) => index + 2)] : [0];
    return lengths.map((length) => `/${[...segments, ...Array<string>(length).fill(free)].join('/')}`);
  };
}

/** What people think of first comes first. */
function usual(methods: readonly string[]): readonly string[] {
  return ['GET', 'POST', ...METHODS].filter(
    (method, index, all) => methods.includes(method) && all.indexOf(method) === index,
  );
}
