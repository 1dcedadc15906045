import { type PlannedManifest, planManifest } from '../../engine/load.ts';
import type { Manifest, RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { runToEnd } from '../../engine/plan/sliced-work.ts';
import { foldedVariants, foldLiteral } from '../../engine/routing/path-folding.ts';
import { type Pattern, parsePattern, patternKey } from '../../engine/routing/pattern.ts';
import { createRouter } from '../../engine/routing/router.ts';
import { referencePath } from '../../engine/schema/schema-walk.ts';
import type { TestedManifest } from '../testing/run-test-file.ts';
import { referencesIn } from './mutators/schema-mutators.ts';

/** A changed manifest with its plan, and the requests that the change can affect. */
export interface PlannedMutant {
  /** Creates the plan for requests with these paths. The router has only the routes that such a request can match. */
  readonly planFor: (paths: readonly PathReadings[]) => TestedManifest;
  /** Returns false only if a request with this URL and these paths has the same outcome with the original manifest. */
  readonly affects: (url: string, paths: readonly PathReadings[]) => boolean;
  /** True if the changed manifest would not load, because it breaks one of its invariants. */
  readonly breaksInvariant: () => boolean;
}

type MutantPlanner = (changed: Manifest) => PlannedMutant | undefined;

/**
 * Returns a function that compiles a changed manifest, or returns `undefined` if it does not compile. If only routes and
 * schemas differ, it compiles only the routes that differ and takes the others from the original plan: hundreds of changed
 * manifests then compile in a second.
 */
export function createMutantPlanner(original: PlannedManifest, readFile: Environment['readFile']): MutantPlanner {
  const { manifest, plan, secrets } = original;
  const { checked } = original.compileInput;
  const planOf = (changed: Manifest) => runToEnd(planManifest({ ...checked, manifest: changed }, readFile, plan)).plan;
  const compile = (changed: Manifest) => planOf({ ...changed, invariants: [] });
  const planner = new RoutePlanner(original, compile);
  const breaksInvariantOf = (changed: Manifest) => () =>
    isListed(changed.invariants) && compile(changed) !== undefined && planOf(changed) === undefined;
  // A secret inside of a route is known by the index of the route, which a part of the manifest would change.
  const needsAll = secrets.hasSecretWithin(['routes']);
  return (changed) => {
    const breaksInvariant = breaksInvariantOf(changed);
    if (!needsAll && onlyRoutesDiffer(manifest, changed)) {
      const planned = planner.plan(changed);
      return planned && { ...planned, breaksInvariant };
    }
    const changedPlan = compile(changed);
    if (changedPlan === undefined) return undefined;
    const planFor = () => ({ plan: changedPlan, manifest: changed, secrets });
    return { planFor, affects: () => true, breaksInvariant };
  };
}

function isListed(invariants: Manifest['invariants']): boolean {
  return Array.isArray(invariants) && invariants.length > 0;
}

function onlyRoutesDiffer(manifest: Manifest, changed: Manifest): boolean {
  const keys = new Set([...Object.keys(manifest), ...Object.keys(changed)]) as Set<keyof Manifest>;
  return [...keys].every((key) => key === 'routes' || key === 'schemas' || manifest[key] === changed[key]);
}

/** Compiles manifests that differ from the original one only in routes and schemas. */
class RoutePlanner {
  readonly #original: PlannedManifest;
  readonly #compile: (part: Manifest) => Plan | undefined;
  readonly #routes: ReadonlyMap<RouteEntry, Route>;
  readonly #upstreams: ReadonlyMap<string, Route['upstream']>;
  readonly #patterns = new Map<string, { readonly pattern: Pattern; readonly key: string }>();

  constructor(original: PlannedManifest, compile: (part: Manifest) => Plan | undefined) {
    const { plan, manifest } = original;
    this.#original = original;
    this.#compile = compile;
    this.#routes = new Map(plan.routes.map((route, index) => [manifest.routes[index] as RouteEntry, route]));
    this.#upstreams = new Map(plan.upstreams.map((upstream) => [upstream.id, upstream]));
  }

  plan(changed: Manifest): Omit<PlannedMutant, 'breaksInvariant'> | undefined {
    const { plan, secrets } = this.#original;
    const differing = this.#differingEntries(changed);
    const compiled = this.#compileEntries(changed, differing);
    if (compiled === undefined) return undefined;
    const routes = changed.routes.map((entry) => compiled.get(entry) ?? (this.#routes.get(entry) as Route));
    const keepsEncodedSlash = routes.some((route) => route.keepsEncodedSlash);
    const patterns = differing.map((entry) => this.#patternOf(entry).pattern);
    return {
      planFor: (paths) => {
        const possible = routes.filter((route) => paths.some((path) => reads(path, this.#patternOf(route).pattern)));
        const router = { ...runToEnd(createRouter(possible)), keepsEncodedSlash };
        return { plan: { ...plan, routes, router }, manifest: changed, secrets };
      },
      affects: (url, paths) => {
        // This setting decides about a path with an encoded slash before the router receives it.
        if (keepsEncodedSlash !== plan.router.keepsEncodedSlash && /%2f/i.test(url)) return true;
        return patterns.some((pattern) => paths.some((path) => reads(path, pattern)));
      },
    };
  }

  /** Returns the routes that are only in one of the manifests, and those with a schema that differs. */
  #differingEntries(changed: Manifest): RouteEntry[] {
    const { schemas, routes } = this.#original.manifest;
    const added = changed.routes.filter((entry) => !this.#routes.has(entry));
    const isRemoved = added.length > 0 || changed.routes.length < routes.length;
    const kept = new Set(isRemoved ? changed.routes : []);
    const removed = isRemoved ? routes.filter((entry) => !kept.has(entry)) : [];
    const names = Object.keys(schemas).filter((name) => schemas[name] !== changed.schemas[name]);
    if (names.length === 0) return [...removed, ...added];
    const users = changed.routes.filter((entry) => {
      const used = schemasOf(entry, changed);
      return names.some((name) => used.has(name));
    });
    return [...removed, ...added, ...users];
  }

  /** Compiles these routes with all others of the same paths: a route receives HEAD only if no other one of its path does. */
  #compileEntries(changed: Manifest, differing: readonly RouteEntry[]): Map<RouteEntry, Route> | undefined {
    const keys = new Set(differing.map((entry) => this.#patternOf(entry).key));
    const entries = changed.routes.filter((entry) => keys.has(this.#patternOf(entry).key));
    if (entries.length === 0) return new Map();
    const names = new Set(entries.flatMap((entry) => [...schemasOf(entry, changed)]));
    const schemas = Object.fromEntries(Object.entries(changed.schemas).filter(([name]) => names.has(name)));
    const part = this.#compile({ ...changed, routes: entries, schemas });
    if (part === undefined) return undefined;
    return new Map(
      entries.map((entry, index) => {
        const route = part.routes[index] as Route;
        return [entry, { ...route, upstream: this.#upstreams.get(route.upstream.id) ?? route.upstream }];
      }),
    );
  }

  #patternOf({ path }: { readonly path: string }): { readonly pattern: Pattern; readonly key: string } {
    const known = this.#patterns.get(path);
    if (known !== undefined) return known;
    const pattern = parsePattern(path);
    const parsed = { pattern, key: patternKey(pattern) };
    this.#patterns.set(path, parsed);
    return parsed;
  }
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

/** The segments of a path as written, and as the router may read it. */
export type PathReadings = readonly (readonly string[])[];

/** Returns every form of a path that the router compares with patterns; see `createRouter`. */
export function readPath(path: string): PathReadings {
  const slashed = path.replaceAll(/%2f/gi, '/');
  const forms = new Set([path, ...foldedVariants(path), ...foldedVariants(slashed)]);
  return [...forms].map((form) => form.slice(1).replace(/\/$/, '').split('/'));
}

/** True if the router may match the path with this pattern, or compare the pattern with it. */
function reads(readings: PathReadings, pattern: Pattern): boolean {
  return readings.some((segments) => {
    const [rest, fixed] = pattern.at(-1)?.kind === 'rest' ? [true, pattern.length - 1] : [false, pattern.length];
    const length = segments.length === 1 && segments[0] === '' ? 0 : segments.length;
    if (rest ? length < fixed : length !== fixed) return false;
    return pattern.slice(0, fixed).every((segment, index) => {
      if (segment.kind !== 'literal') return true;
      return segments[index] === segment.text || segments[index] === foldLiteral(segment).text;
    });
  });
}
