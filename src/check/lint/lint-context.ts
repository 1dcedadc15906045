import { CONTENT_METHODS } from '../../engine/http1/http-methods.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import type { Manifest, RouteEntry, Upstream as UpstreamEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { runToEnd } from '../../engine/plan/sliced-work.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { type PatternRoute, RouteIndex } from '../../engine/routing/route-index.ts';
import { keywordsWith } from '../../engine/schema/keywords.ts';
import { type LocatedSchema, schemasOfRoute, schemasWithin } from '../../engine/schema/schema-walk.ts';
import { LostRequestSearch } from './lost-requests.ts';

/** A manifest that loads without errors, with the results of each stage of `load`. */
export type ValidManifest = Pick<PlannedManifest, 'document' | 'manifest' | 'plan' | 'findings' | 'secrets'>;

/** The input of the rules. */
export type LintContext = Readonly<ReturnType<typeof createLintContext>>;

/** A route as written and as compiled. */
export interface LintRoute extends PatternRoute {
  /** For example `['routes', 3]`. */
  readonly path: Path;
  readonly entry: RouteEntry;
}

/** @param time a date or time in UTC, such as `2027-01-31` */
export function createLintContext(valid: ValidManifest, time: string) {
  const { manifest, plan } = valid;
  const routes: readonly LintRoute[] = plan.routes.map((route, index) => ({
    path: ['routes', index],
    entry: manifest.routes[index] as RouteEntry,
    route,
    pattern: route.pattern,
  }));
  const routeIndex = runToEnd(RouteIndex.create<LintRoute>(routes));
  return {
    ...valid,
    /** In the order of the manifest. */
    routes,
    /** Every JSON Schema of the manifest, including nested ones. */
    schemas: schemaNodes(manifest),
    /** Finds the routes that overlap with a route. Sets have the indexes of `routes`. */
    routeIndex,
    witnessSearch: new LostRequestSearch(routeIndex, plan.router),
    /** The date, such as `2027-01-31`. */
    today: time.slice(0, 10),
    /** The time, in milliseconds since the Unix epoch. */
    nowMs: Date.parse(time),
  };
}

/** An upstream as written and as compiled, with the path of each endpoint in the manifest. */
export type LintUpstream = ReturnType<typeof upstreamsOf>[number];

export function upstreamsOf({ manifest, plan }: ValidManifest) {
  return plan.upstreams.map((upstream) => {
    const path: Path = ['upstreams', upstream.id];
    const entry = manifest.upstreams[upstream.id] as UpstreamEntry;
    const endpointPath = (index: number): Path =>
      entry.url === undefined ? [...path, 'urls', index] : [...path, 'url'];
    const endpoints = upstream.endpoints.map(({ url }, index) => ({ url, path: endpointPath(index) }));
    return { path, entry, upstream, endpoints };
  });
}

/** Returns the rate limits that routes use, in the order of the manifest. */
export function usedLimits({ plan, routes }: Pick<LintContext, 'plan' | 'routes'>): Plan['rateLimits'][number][] {
  const used = new Set(routes.flatMap(({ entry }) => entry.rateLimits ?? []));
  return plan.rateLimits.filter(({ id }) => used.has(id));
}

/** Returns the public routes whose paths have parameters or `/**`: such a path may be the only secret of a download. */
export function loggedSecrets(routes: readonly LintRoute[]): readonly LintRoute[] {
  return routes.filter(
    ({ entry, pattern }) => entry.access === 'public' && pattern.some(({ kind }) => kind !== 'literal'),
  );
}

/** True if a route lists a method that sends a body. `matchesAny` is the result for the method `any`. */
export function hasWriteMethod({ method }: RouteEntry, matchesAny: boolean): boolean {
  return method === 'any' ? matchesAny : [method].flat().some((name) => CONTENT_METHODS.has(name));
}

export type Schema = Readonly<Record<string, unknown>>;

/** A JSON Schema that is a map, with its path in the manifest. */
export interface SchemaNode {
  readonly path: Path;
  readonly schema: Schema;
  /** True if another schema applies to the same value, as in `allOf`, and may contain the keywords that this one lacks. */
  readonly isInPlace: boolean;
  /** True below `if` and `not`: a request may be valid although it does not match such a schema. */
  readonly isCondition: boolean;
}

const IN_PLACE = new Set<string | undefined>(keywordsWith({ appliesTo: 'value' }));
const CONDITIONS = new Set<string | undefined>(keywordsWith({ isCondition: true }));

/** Returns all schemas of a manifest, including nested ones. */
function schemaNodes({ schemas, routes }: Manifest): SchemaNode[] {
  const located = [
    ...Object.entries(schemas).flatMap(([name, schema]) => schemasWithin(schema, ['schemas', name])),
    ...routes.flatMap((route, index) => schemasOfRoute(route, ['routes', index])),
  ];
  return located.map((one) => ({
    path: one.at,
    schema: one.schema,
    isInPlace: IN_PLACE.has(one.keyword),
    isCondition: isCondition(one),
  }));
}

function isCondition({ keyword, holder }: LocatedSchema): boolean {
  return CONDITIONS.has(keyword) || (holder !== undefined && isCondition(holder));
}
