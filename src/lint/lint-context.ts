import type { Document } from '../manifest/document.ts';
import type { Manifest, RouteEntry } from '../manifest/manifest.generated.ts';
import type { Plan } from '../plan/plan.ts';
import type { Route } from '../plan/route-definition.ts';
import { type Pattern, parsePattern } from '../plan/routing/pattern.ts';
import type { Finding, Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import { type SchemaNode, schemaNodes } from './schema-nodes.ts';
import { WitnessSearch } from './witness-search.ts';

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
  readonly witnessSearch: WitnessSearch;
}

/** A route as written and as compiled. */
export interface LintRoute {
  /** For example `['routes', 3]`. */
  readonly path: Path;
  readonly entry: RouteEntry;
  readonly route: Route;
  readonly pattern: Pattern;
}

export function createLintContext(valid: ValidManifest): LintContext {
  const { manifest, plan } = valid;
  const routes = plan.routes.map((route, index) => ({
    path: ['routes', index],
    entry: manifest.routes[index] as RouteEntry,
    route,
    pattern: parsePattern(route.path),
  }));
  return {
    ...valid,
    routes,
    schemas: [...schemaNodes(manifest)],
    witnessSearch: new WitnessSearch(routes, plan.router),
  };
}
