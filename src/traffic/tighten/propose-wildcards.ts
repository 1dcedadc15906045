import type { Plan } from '../../engine/plan/plan.ts';
import { type Pattern, parsePattern, patternKey } from '../../engine/routing/pattern.ts';
import { fallThroughOf, takesRequests } from './fall-through.ts';
import type { NamedRoute } from './manifest-change.ts';
import { hasKeyedPaths, PathShapes } from './path-shape.ts';
import type { Proposal } from './proposal.ts';
import { acceptedMethods, usedMethods } from './propose-routes.ts';
import { evidenceOf, type Round } from './round.ts';
import type { RouteUse } from './tighten-state.ts';
import { type ShapeSegment, type WildcardShape, wildcardShapes } from './wildcard-shapes.ts';

/** More paths than these are probably the reason for the wildcard. */
const MAX_PATHS = 8;
const MAX_ID_CHARACTERS = 60;

/** Proposes routes with names in place of a wildcard whose requests had few forms of paths. */
export function* proposeWildcards(round: Round): Generator<Proposal> {
  const { state, usage } = round;
  if (usage.isSampled || usage.isCoarse) return;
  const { plan, manifest } = state.loaded;
  const shapes = new PathShapes(plan);
  for (const use of state.uses) {
    const { route, groups, index } = use;
    const { pattern } = route;
    if (pattern.at(-1)?.kind !== 'rest' || groups.length === 0) continue;
    if (route.methods.some((method) => fallThroughOf(route, method, plan) !== undefined)) continue;
    const isKeyed = hasKeyedPaths(route, manifest.log);
    const found = wildcardShapes(groups, pattern.length - 1, (segment) => shapes.isName(segment, isKeyed));
    const into = namedRoutes(use, found, plan);
    if (into === undefined || !canSplit(round, use, into)) continue;
    const paths = into.length === 1 ? `the path ${into[0]?.path}` : `one of ${into.length} paths`;
    yield {
      id: `wildcard/${route.id}`,
      kind: 'wildcard',
      message: `all requests to "${route.id}" had ${paths}; write ${into.length === 1 ? 'it' : 'them'} in place of ${route.path}`,
      route: route.id,
      path: ['routes', index, 'path'],
      changes: [{ change: 'split', route: route.id, into }],
      closes: route.methods,
      ...evidenceOf(round, use),
    };
  }
}

function canSplit({ state }: Round, { route, entry }: RouteUse, into: readonly NamedRoute[]): boolean {
  const { plan, manifest } = state.loaded;
  // Several routes would have several counters.
  const countsByRoute = entry.rateLimits?.some((name) => [manifest.rateLimits[name]?.key].flat().includes('route'));
  if (into.length > 1 && countsByRoute) return false;
  return into.every(({ path, methods }) => !takesRequests(parsePattern(path), acceptedMethods(methods), route, plan));
}

/** Returns the routes for the forms of paths; `undefined` if there are too many. */
function namedRoutes(use: RouteUse, found: readonly WildcardShape[], plan: Plan): NamedRoute[] | undefined {
  if (found.length > MAX_PATHS) return undefined;
  const { route, entry } = use;
  const prefix = route.pattern.slice(0, -1);
  const ids = new Set(plan.routes.map(({ id }) => id));
  const named: NamedRoute[] = [];
  for (const { segments, groups } of found) {
    const pattern = nameParameters(prefix, segments, plan);
    const id = found.length === 1 ? route.id : unusedId(route.id, segments, ids);
    ids.add(id);
    named.push({ id, path: formatPattern(pattern), methods: usedMethods(entry, groups) });
  }
  return named;
}

/** Gives each parameter a name: that of another route at the same place, or a new one. */
function nameParameters(prefix: Pattern, segments: readonly ShapeSegment[], plan: Plan): Pattern {
  const pattern: Pattern[number][] = [...prefix];
  const patterns = plan.routes.map(({ pattern }) => pattern);
  for (const segment of segments) {
    if (segment.kind === 'word') pattern.push({ kind: 'literal', text: segment.text });
    else pattern.push({ kind: 'parameter', name: parameterName(segment.kind, pattern, patterns) });
  }
  return pattern;
}

function parameterName(kind: 'id' | 'name', before: Pattern, patterns: readonly Pattern[]): string {
  const taken = new Set(before.flatMap((segment) => (segment.kind === 'parameter' ? [segment.name] : [])));
  const key = patternKey(before);
  for (const pattern of patterns) {
    const segment = pattern[before.length];
    if (
      segment?.kind === 'parameter' &&
      !taken.has(segment.name) &&
      patternKey(pattern.slice(0, before.length)) === key
    )
      return segment.name;
  }
  let name: string = kind;
  for (let number = 2; taken.has(name); number += 1) name = `${kind}${number}`;
  return name;
}

function formatPattern(pattern: Pattern): string {
  const texts = pattern.map((segment) => {
    if (segment.kind === 'rest') return '**';
    return segment.kind === 'literal' ? segment.text : `{${segment.name}}`;
  });
  return `/${texts.join('/')}`;
}

/** Returns the id of the wildcard with the words of the path: `docs-guide`; the parameters of `/docs/{id}` give `docs-by-id`. */
function unusedId(id: string, segments: readonly ShapeSegment[], ids: ReadonlySet<string>): string {
  const words = segments.map((segment) => (segment.kind === 'word' ? segment.text : `by-${segment.kind}`));
  const slug = [id, ...words]
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_ID_CHARACTERS);
  const base = segments.length === 0 ? id : slug.replace(/-$/, '');
  if (segments.length === 0 || !ids.has(base)) return base;
  let number = 2;
  while (ids.has(`${base}-${number}`)) number += 1;
  return `${base}-${number}`;
}
