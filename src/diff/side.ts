import type { Planned } from '../load.ts';
import type { Manifest, RouteEntry } from '../manifest/manifest.generated.ts';
import type { World } from '../manifest/source.ts';
import { shownRoot } from '../plan/json-schema.ts';
import { createJudges, type Judge } from '../plan/judges.ts';
import { type Pattern, parsePattern } from '../plan/pattern.ts';
import type { Route } from '../plan/plan.ts';
import { bundleSchemas, type SchemaRoot } from '../plan/schema-files.ts';
import { valueAt } from '../plan/schema-walk.ts';
import type { Path } from '../problem/finding.ts';

/** One of two manifests that are compared. */
export interface Side extends Omit<Planned, 'problems' | 'files' | 'patterns' | 'sources'> {
  /** The manifest as it may be printed: what came from the environment stands as it was written. */
  readonly shown: Manifest;
  readonly routes: readonly SideRoute[];
  /** By id. */
  readonly routeOf: ReadonlyMap<string, SideRoute>;
  /** The JSON Schemas as they may be printed, those of other files too. */
  readonly schemas: SchemaRoot;
  /** Judges values by the schema at a path of them. */
  readonly judgeAt: (path: Path) => Judge;
}

/** A route as it was written and as it runs. */
export interface SideRoute {
  /** `['routes', 3]` */
  readonly path: Path;
  readonly entry: RouteEntry;
  /** The entry as it may be printed. */
  readonly shown: RouteEntry;
  readonly route: Route;
  readonly pattern: Pattern;
}

export function createSide(planned: Planned, readFile: World['readFile']): Side {
  const { plan, manifest, document, secrets } = planned;
  const shown = secrets.shown(manifest, []);
  const routes = plan.routes.map((route, index) => ({
    path: ['routes', index],
    entry: manifest.routes[index] as RouteEntry,
    shown: shown.routes[index] as RouteEntry,
    route,
    pattern: parsePattern(route.path),
  }));
  const routeOf = new Map(routes.map((route) => [route.route.id, route]));
  const root = bundleSchemas(manifest, readFile, []).root;
  let judges: ReturnType<typeof createJudges> | undefined;
  const judgeAt = (path: Path) => {
    judges ??= createJudges(root);
    return judges.judgeAt(path);
  };
  return { plan, manifest, document, secrets, shown, routes, routeOf, schemas: shownRoot(root, secrets), judgeAt };
}

/** A value of the manifest as it may be printed. */
export function shownValue({ shown }: Side, path: Path): string {
  const value = valueAt(shown, path);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ') || 'empty';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
