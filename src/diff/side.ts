import type { Planned } from '../load.ts';
import type { Manifest, RouteEntry } from '../manifest/manifest.generated.ts';
import type { World } from '../manifest/source.ts';
import { createJudges, type Judge } from '../plan/judges.ts';
import { type Pattern, parsePattern } from '../plan/pattern.ts';
import type { Route } from '../plan/plan.ts';
import { bundleSchemas, type SchemaRoot } from '../plan/schema-files.ts';
import { isMap, valueAt } from '../plan/schema-walk.ts';
import type { Path } from '../problem/finding.ts';

/** One of two manifests that are compared. */
export interface Side extends Omit<Planned, 'problems' | 'files' | 'patterns' | 'sources'> {
  /** The manifest as it may be printed: what came from the environment stands as it was written. */
  readonly shown: Manifest;
  readonly routes: readonly SideRoute[];
  /** By id. */
  readonly routeOf: ReadonlyMap<string, SideRoute>;
  /** The JSON Schemas, those of other files too. */
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
  const { plan, manifest, document, isSecret } = planned;
  const shown = withoutSecrets(manifest, [], planned) as Manifest;
  const routes = plan.routes.map((route, index) => ({
    path: ['routes', index],
    entry: manifest.routes[index] as RouteEntry,
    shown: shown.routes[index] as RouteEntry,
    route,
    pattern: parsePattern(route.path),
  }));
  const routeOf = new Map(routes.map((route) => [route.route.id, route]));
  const schemas = bundleSchemas(manifest, readFile, []).root;
  let judges: ReturnType<typeof createJudges> | undefined;
  const judgeAt = (path: Path) => {
    judges ??= createJudges(schemas);
    return judges.judgeAt(path);
  };
  return { plan, manifest, document, isSecret, shown, routes, routeOf, schemas, judgeAt };
}

/** A value of the manifest as it may be printed. */
export function shownValue({ shown }: Side, path: Path): string {
  const value = valueAt(shown, path);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ') || 'empty';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function withoutSecrets(value: unknown, path: Path, side: Pick<Planned, 'document' | 'isSecret'>): unknown {
  if (side.isSecret(path)) return valueAt(side.document.value, path);
  if (Array.isArray(value)) return value.map((item, index) => withoutSecrets(item, [...path, index], side));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withoutSecrets(item, [...path, key], side)]),
  );
}
