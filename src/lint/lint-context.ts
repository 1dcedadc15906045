import type { Document } from '../manifest/document.ts';
import type { Manifest, RouteEntry } from '../manifest/manifest.generated.ts';
import type { Plan } from '../plan/plan.ts';
import type { Route } from '../plan/route-definition.ts';
import { type Pattern, parsePattern } from '../plan/routing/pattern.ts';
import type { Finding, Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import { type SchemaNode, schemaNodes } from './schema-nodes.ts';
import { WitnessSearch } from './witness-search.ts';

/** A manifest that loads, with what the stages of `load` made of it. */
export interface ValidManifest {
  readonly document: Document;
  readonly manifest: Manifest;
  readonly plan: Plan;
  readonly findings: readonly Finding[];
  readonly secrets: Secrets;
}

/** What rules look at. */
export interface LintContext extends ValidManifest {
  /** In the manifest's order. */
  readonly routes: readonly LintRoute[];
  /** Every JSON Schema of the manifest, those inside of others too. */
  readonly schemas: readonly SchemaNode[];
  readonly witnessSearch: WitnessSearch;
}

/** A route as it was written and as it runs. */
export interface LintRoute {
  /** `['routes', 3]` */
  readonly path: Path;
  readonly entry: RouteEntry;
  readonly route: Route;
  readonly pattern: Pattern;
}

export function createLintContext(sound: ValidManifest): LintContext {
  const { manifest, plan } = sound;
  const routes = plan.routes.map((route, index) => ({
    path: ['routes', index],
    entry: manifest.routes[index] as RouteEntry,
    route,
    pattern: parsePattern(route.path),
  }));
  return {
    ...sound,
    routes,
    schemas: [...schemaNodes(manifest)],
    witnessSearch: new WitnessSearch(routes, plan.router),
  };
}
