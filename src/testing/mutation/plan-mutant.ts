import type { PlannedManifest } from '../../load.ts';
import type { Manifest, RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Environment } from '../../manifest/source.ts';
import { type CompileOptions, compilePlan } from '../../plan/compile.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import { parsePattern, patternKey } from '../../plan/routing/pattern.ts';
import { createRouter } from '../../plan/routing/router.ts';
import { referencePath } from '../../plan/schema/schema-walk.ts';
import { runToEnd } from '../../plan/sliced-work.ts';
import type { TestedManifest } from '../run-test-file.ts';
import { referencesIn } from './mutators/schemas.ts';
import { type PathReadings, reads } from './path-readings.ts';

/** A changed manifest with its plan, and the requests that the change can affect. */
export interface PlannedMutant {
  /** Creates the plan for requests with these paths. The router has only the routes that such a request can match. */
  readonly planFor: (paths: readonly PathReadings[]) => TestedManifest;
  /** Returns false only if a request with this URL and these paths has the same outcome with the original manifest. */
  readonly affects: (url: string, paths: readonly PathReadings[]) => boolean;
}

export type MutantPlanner = (changed: Manifest) => PlannedMutant | undefined;

/**
 * Returns a function that compiles a changed manifest, or returns `undefined` if it does not compile. If only routes and
 * schemas differ, it compiles only the routes that differ and takes the others from the original plan: hundreds of changed
 * manifests then compile in a second.
 */
export function createMutantPlanner(original: PlannedManifest, readFile: Environment['readFile']): MutantPlanner {
  const { manifest, plan, secrets } = original;
  const options: CompileOptions = { hash: plan.hash, readFile, secrets, previous: plan, invalidParts: new Set() };
  const compile = (changed: Manifest) => runToEnd(compilePlan(changed, options)).plan;
  const routes = new Map(plan.routes.map((route, index) => [manifest.routes[index] as RouteEntry, route]));
  // A secret inside of a route is known by the index of the route, which a part of the manifest would change.
  const needsAll = secrets.hasSecretWithin(['routes']);
  return (changed) => {
    const isPartial = !needsAll && onlyRoutesDiffer(manifest, changed);
    if (isPartial) return planRoutes(original, routes, changed, compile);
    const changedPlan = compile(changed);
    if (changedPlan === undefined) return undefined;
    return { planFor: () => ({ plan: changedPlan, manifest: changed, secrets }), affects: () => true };
  };
}

function onlyRoutesDiffer(manifest: Manifest, changed: Manifest): boolean {
  const keys = new Set([...Object.keys(manifest), ...Object.keys(changed)]) as Set<keyof Manifest>;
  return [...keys].every((key) => key === 'routes' || key === 'schemas' || manifest[key] === changed[key]);
}

function planRoutes(
  { manifest, plan, secrets }: PlannedManifest,
  routes: ReadonlyMap<RouteEntry, Route>,
  changed: Manifest,
  compile: (part: Manifest) => Plan | undefined,
): PlannedMutant | undefined {
  const removed = difference(manifest.routes, changed.routes);
  const added = difference(changed.routes, manifest.routes);
  const changedSchemas = Object.keys(manifest.schemas).filter(
    (name) => manifest.schemas[name] !== changed.schemas[name],
  );
  const users = changed.routes.filter((entry) => changedSchemas.some((name) => schemasOf(entry, changed).has(name)));
  const differing = [...removed, ...added, ...users];
  const compiled = compileEntries(changed, differing, compile);
  if (compiled === undefined) return undefined;
  const upstreams = new Map(plan.upstreams.map((upstream) => [upstream.id, upstream]));
  const all = changed.routes.map((entry) => {
    const route = compiled.get(entry) ?? (routes.get(entry) as Route);
    return { ...route, upstream: upstreams.get(route.upstream.id) ?? route.upstream };
  });
  const patterns = all.map(({ path }) => parsePattern(path));
  const keepsEncodedSlash = all.some((route) => route.keepsEncodedSlash);
  const differingPatterns = differing.map(({ path }) => parsePattern(path));
  return {
    planFor: (paths) => {
      const possible = all.filter((_, index) => paths.some((path) => reads(path, patterns[index] ?? [])));
      const router = { ...createRouter(possible), keepsEncodedSlash };
      return { plan: { ...plan, routes: all, router }, manifest: changed, secrets };
    },
    affects: (url, paths) => {
      // This setting decides about a path with an encoded slash before the router receives it.
      if (keepsEncodedSlash !== plan.router.keepsEncodedSlash && /%2f/i.test(url)) return true;
      return differingPatterns.some((pattern) => paths.some((path) => reads(path, pattern)));
    },
  };
}

/** Compiles these routes with all others of the same paths: a route receives HEAD only if no other one of its path does. */
function compileEntries(
  changed: Manifest,
  differing: readonly RouteEntry[],
  compile: (part: Manifest) => Plan | undefined,
): Map<RouteEntry, Route> | undefined {
  const keys = new Set(differing.map(keyOf));
  const set = new Set(differing);
  const entries = changed.routes.filter((entry) => set.has(entry) || keys.has(keyOf(entry)));
  if (entries.length === 0) return new Map();
  const names = new Set(entries.flatMap((entry) => [...schemasOf(entry, changed)]));
  const schemas = Object.fromEntries(Object.entries(changed.schemas).filter(([name]) => names.has(name)));
  const ids = new Set(changed.routes.map(({ id }) => id));
  const part = compile({ ...changed, routes: entries, schemas });
  if (part === undefined || ids.size < changed.routes.length) return undefined;
  return new Map(entries.map((entry, index) => [entry, part.routes[index] as Route]));
}

function keyOf({ path }: RouteEntry): string {
  return patternKey(parsePattern(path));
}

function difference(all: readonly RouteEntry[], others: readonly RouteEntry[]): RouteEntry[] {
  const known = new Set(others);
  return all.filter((entry) => !known.has(entry));
}

/** Returns the names of the schemas that a value refers to, directly or not. */
function schemasOf(value: unknown, { schemas }: Manifest, names = new Set<string>()): Set<string> {
  for (const reference of referencesIn(value)) {
    const [key, name] = referencePath(reference) ?? [];
    if (key !== 'schemas' || name === undefined || names.has(name)) continue;
    names.add(name);
    schemasOf(schemas[name], { schemas } as Manifest, names);
  }
  return names;
}
