import type { Document } from '../../engine/manifest/document.ts';
import type { Manifest, RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Finding, Path } from '../../engine/problem/finding.ts';
import type { Secrets } from '../../engine/problem/redaction.ts';
import { type PatternRoute, RouteIndex } from '../../engine/routing/route-index.ts';
import { WitnessSearch } from '../../engine/routing/witnesses/witness-search.ts';
import { type SchemaNode, schemaNodes } from './schema-nodes.ts';
import { findUnusedExceptions, type UnusedException } from './unused-exceptions.ts';

/** A manifest that loads without errors, with the results of each stage of `load`. */
export interface ValidManifest {
  readonly document: Document;
  readonly manifest: Manifest;
  readonly plan: Plan;
  readonly findings: readonly Finding[];
  readonly secrets: Secrets;
}

/** The input of the rules. */
export interface LintContext extends ValidManifest {
  /** In the order of the manifest. */
  readonly routes: readonly LintRoute[];
  /** Every JSON Schema of the manifest, including nested ones. */
  readonly schemas: readonly SchemaNode[];
  /** Finds the routes that overlap with a route. Sets have the indexes of `routes`. */
  readonly routeIndex: RouteIndex<LintRoute>;
  readonly witnessSearch: WitnessSearch<LintRoute>;
  /** Returns the exceptions of invariants that no route needs. */
  readonly unusedExceptions: () => readonly UnusedException[];
  /** The date, such as `2027-01-31`. */
  readonly today: string;
}

/** A route as written and as compiled. */
export interface LintRoute extends PatternRoute {
  /** For example `['routes', 3]`. */
  readonly path: Path;
  readonly entry: RouteEntry;
}

export function createLintContext(valid: ValidManifest, today: string): LintContext {
  const { manifest, plan } = valid;
  const routes = plan.routes.map((route, index) => ({
    path: ['routes', index],
    entry: manifest.routes[index] as RouteEntry,
    route,
    pattern: route.pattern,
  }));
  const routeIndex = RouteIndex.create(routes);
  return {
    ...valid,
    routes,
    schemas: schemaNodes(manifest),
    routeIndex,
    witnessSearch: new WitnessSearch(routeIndex, plan.router),
    unusedExceptions: () => findUnusedExceptions(manifest, plan),
    today,
  };
}
