import { getOrCreate } from '../../engine/get-or-create.ts';
import { HTTP_METHODS } from '../../engine/http1/http-methods.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { SlicedWork } from '../../engine/plan/sliced-work.ts';
import { intersect, type Pattern, patternKey, type Segment } from '../../engine/routing/pattern.ts';
import { findUnusedSegment, type PatternRoute, RouteIndex, type RouteSet } from '../../engine/routing/route-index.ts';

type TemplateSegment = Exclude<Segment, { kind: 'rest' }>;

/** A path of an OpenAPI document, and the route of each of its methods. */
export interface PathTemplate {
  readonly segments: readonly TemplateSegment[];
  /** By method, in the order of `Allow`. HEAD is absent if the route of GET receives it. */
  readonly routes: ReadonlyMap<string, Route>;
}

export interface PathTemplates {
  readonly templates: readonly PathTemplate[];
  /** The template that describes a route best: its own path, or the one whose last parameter stands for the rest. */
  readonly mainTemplates: ReadonlyMap<Route, PathTemplate>;
}

/** The paths of thousands of routes with literals at different positions would otherwise be millions. */
const MAX_CROSSINGS = 10_000;

interface TemplateDraft {
  segments: readonly TemplateSegment[];
  /** True if the path of a route is exactly this one. */
  isExact: boolean;
}

/**
 * Returns the paths of an OpenAPI document for a plan, in the order of the routes. OpenAPI treats paths that differ only in
 * parameter names as one path, and has no parameter for several segments. A `/**` therefore becomes a path without it, a path
 * with one parameter in its place, and longer paths while other routes receive the requests of the shorter ones.
 *
 * The router says which routes receive the requests of a path. A path has the methods of every route that matches it, because
 * readers of a document select the path before the method. `addCrossings` adds the other paths that this needs.
 */
export function* createPathTemplates({ routes, router }: Plan): SlicedWork<PathTemplates> {
  const unused = yield* findUnusedSegment(routes.map(({ pattern }) => pattern));
  // A segment that is no route's literal stands for every other text.
  const matchSample: SampleMatch = (method, segments) =>
    router.match(
      method,
      `/${segments.map((segment) => (segment.kind === 'literal' ? segment.text : unused)).join('/')}`,
    );
  const { drafts, mainKeys } = yield* draftTemplates(routes, matchSample);
  const index = yield* RouteIndex.create(routes.map((route) => ({ route, pattern: route.pattern })));
  yield* addCrossings(drafts, index, matchSample);
  const templates = new Map<string, PathTemplate>();
  for (const [key, { segments }] of drafts) {
    const routesByMethod = matchMethods(segments, matchSample);
    if (routesByMethod.size > 0) templates.set(key, { segments, routes: routesByMethod });
    yield;
  }
  const mainTemplates = new Map<Route, PathTemplate>();
  for (const [route, key] of mainKeys) {
    const template = templates.get(key);
    if (template !== undefined) mainTemplates.set(route, template);
  }
  return { templates: [...templates.values()], mainTemplates };
}

/** Returns the route of a method for a path with an unused text in place of each parameter. */
type SampleMatch = (method: string, segments: readonly TemplateSegment[]) => Route | undefined;

function* draftTemplates(routes: readonly Route[], matchSample: SampleMatch) {
  // Beyond the longest pattern, all paths of a rest match the same routes.
  const depth = routes.reduce((longest, { pattern }) => Math.max(longest, pattern.length), 0);
  const drafts = new Map<string, TemplateDraft>();
  const mainKeys = new Map<Route, string>();
  for (const route of routes) {
    const { pattern } = route;
    for (const segments of expandRest(pattern, depth)) {
      const key = patternKey(segments);
      addDraft(drafts, key, { segments, isExact: pattern.at(-1)?.kind !== 'rest' });
      mainKeys.set(route, key);
      const isComplete = segments.length >= pattern.length;
      if (isComplete && route.methods.every((method) => matchSample(method, segments) === route)) break;
    }
    yield;
  }
  return { drafts, mainKeys };
}

/**
 * Adds the paths that crossing routes need, at most `MAX_CROSSINGS`. A crossing route receives some requests of a path, but not those
 * of its sample.
 *
 * `/a/{p}` has the methods of every route that contains it. `/{q}/b` crosses it: neither contains the other. If only the
 * second one has `GET`, a reader of the document selects `/a/{p}` for `GET /a/b`, but the router selects `/{q}/b`. The document
 * therefore needs `/a/b` as well.
 */
function* addCrossings(drafts: Map<string, TemplateDraft>, index: RouteIndex, matchSample: SampleMatch) {
  const maxSize = drafts.size + MAX_CROSSINGS;
  // The loop also visits the paths that it adds.
  for (const { segments } of drafts.values()) {
    yield;
    for (const member of crossingRoutes(segments, index, matchSample)) {
      const { route, pattern } = index.routes[member] as PatternRoute;
      // Parameters get the names of the second pattern. A path without a rest has no path with a rest in common.
      const common = intersect(pattern, segments) as readonly TemplateSegment[] | undefined;
      if (common !== undefined && route.methods.some((method) => matchSample(method, common) === route))
        addDraft(drafts, patternKey(common), { segments: common, isExact: false });
      if (drafts.size === maxSize) return;
      yield;
    }
  }
}

/** Returns the crossing routes that readers select after a path, but the router before the route of its sample. */
function crossingRoutes(segments: readonly TemplateSegment[], index: RouteIndex, matchSample: SampleMatch): RouteSet {
  const { patterns } = index;
  const overlapping = patterns.overlapping(segments);
  const crossing = patterns.following(segments, overlapping.subtract(patterns.containing(segments)));
  const found = index.select(() => false);
  if (crossing.isEmpty()) return found;
  for (const method of index.distinctMethods(HTTP_METHODS)) {
    const candidates = crossing.copy().intersect(index.withMethod(method));
    const route = matchSample(method, segments);
    found.unite(route === undefined ? candidates : patterns.preceding(route.pattern, candidates));
  }
  return found;
}

/** Returns the routes of a path by method. */
function matchMethods(segments: readonly TemplateSegment[], matchSample: SampleMatch): Map<string, Route> {
  const routes = HTTP_METHODS.map((method) => [method, matchSample(method, segments)] as const);
  const found = new Map(routes.filter((entry): entry is [string, Route] => entry[1] !== undefined));
  if (found.get('HEAD') === found.get('GET')) found.delete('HEAD');
  return found;
}

/** Returns the methods of a route that a document has: a reader knows that HEAD is GET without content (RFC 9110 section 9.3.2). */
export function describedMethods({ methods }: Route): readonly string[] {
  return methods.includes('GET') ? methods.filter((method) => method !== 'HEAD') : methods;
}

/** Adds a path, unless there is an equal one. The parameter names of a route with exactly this path replace generated ones. */
function addDraft(drafts: Map<string, TemplateDraft>, key: string, draft: TemplateDraft): void {
  const present = getOrCreate(drafts, key, () => draft);
  if (!present.isExact && draft.isExact) Object.assign(present, draft);
}

/** Yields a pattern with 0, 1, 2 and more parameters in place of its rest. */
function* expandRest(pattern: Pattern, depth: number): Generator<readonly TemplateSegment[]> {
  const fixed = pattern.filter((segment): segment is TemplateSegment => segment.kind !== 'rest');
  yield fixed;
  if (fixed.length === pattern.length) return;
  const names = new Set(fixed.map((segment) => (segment.kind === 'parameter' ? segment.name : '')));
  let name = 'rest';
  while (names.has(name)) name = `${name}_`;
  for (let length = fixed.length + 1; length <= depth + 1; length += 1) {
    const leading = Array.from({ length: length - fixed.length - 1 }, (_, index) => parameter(`${name}-${index + 1}`));
    yield [...fixed, ...leading, parameter(name)];
  }
}

function parameter(name: string): TemplateSegment {
  return { kind: 'parameter', name };
}
