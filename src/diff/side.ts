import type { PlannedManifest } from '../load.ts';
import type { Manifest, RouteEntry } from '../manifest/manifest.generated.ts';
import type { Environment } from '../manifest/source.ts';
import type { Route } from '../plan/route-definition.ts';
import { type Pattern, parsePattern } from '../plan/routing/pattern.ts';
import { bundleSchemas, type SchemaRoot } from '../plan/schema/schema-bundle.ts';
import { redactRoot } from '../plan/schema/schema-compiler.ts';
import { valueAt } from '../plan/schema/schema-walk.ts';
import { createSchemaValidators, type ValueValidator } from '../plan/schema/value-validator.ts';
import type { Path } from '../problem/finding.ts';

/** One of two manifests that are compared. */
export interface DiffSide extends Omit<PlannedManifest, 'findings' | 'problems' | 'files' | 'globs' | 'sources'> {
  /** The manifest as it may be printed: what came from the environment stands as it was written. */
  readonly redacted: Manifest;
  readonly routes: readonly DiffRoute[];
  /** By id. */
  readonly routeById: ReadonlyMap<string, DiffRoute>;
  /** The JSON Schemas as they may be printed, those of other files too. */
  readonly schemas: SchemaRoot;
  /** Judges values by the schema at a path of them. */
  readonly validatorAt: (path: Path) => ValueValidator;
}

/** A route as it was written and as it runs. */
export interface DiffRoute {
  /** `['routes', 3]` */
  readonly path: Path;
  readonly entry: RouteEntry;
  /** The entry as it may be printed. */
  readonly redactedEntry: RouteEntry;
  readonly route: Route;
  readonly pattern: Pattern;
}

export function createDiffSide(planned: PlannedManifest, readFile: Environment['readFile']): DiffSide {
  const { plan, manifest, document, secrets } = planned;
  const redacted = secrets.redactValue(manifest, []);
  const routes = plan.routes.map((route, index) => ({
    path: ['routes', index],
    entry: manifest.routes[index] as RouteEntry,
    redactedEntry: redacted.routes[index] as RouteEntry,
    route,
    pattern: parsePattern(route.path),
  }));
  const routeById = new Map(routes.map((route) => [route.route.id, route]));
  const root = bundleSchemas(manifest, readFile, []).root;
  let judges: ReturnType<typeof createSchemaValidators> | undefined;
  const validatorAt = (path: Path) => {
    judges ??= createSchemaValidators(root);
    return judges.validatorAt(path);
  };
  return {
    plan,
    manifest,
    document,
    secrets,
    redacted,
    routes,
    routeById,
    schemas: redactRoot(root, secrets),
    validatorAt,
  };
}

/** A value of the manifest as it may be printed. */
export function formatRedactedValue({ redacted }: DiffSide, path: Path): string {
  const value = valueAt(redacted, path);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ') || 'empty';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
