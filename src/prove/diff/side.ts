import { valueAt } from '../../engine/json-pointer.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import type { Manifest, RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { readSchemas } from '../../engine/schema/schema-bundle.ts';
import type { SchemaRoot } from '../../engine/schema/schema-walk.ts';
import { type TokenEntry, tokenEntries } from '../../engine/tokens/token-entries.ts';
import type { PairedRoute } from './route-pairing.ts';
import { effectiveSettings, normalize, uniformManifest } from './settings/effective-settings.ts';

/** One of the two manifests of a comparison. */
export interface DiffSide
  extends Omit<
    PlannedManifest,
    'compileInput' | 'findings' | 'problems' | 'files' | 'globs' | 'secretFiles' | 'sources'
  > {
  /** The manifest with its references to the environment instead of their values, safe to print. */
  readonly redacted: Manifest;
  /** The values of the manifest as they take effect, without `routes` and `schemas`. They may contain secrets. */
  readonly effective: unknown;
  readonly methods: readonly DiffMethod[];
  readonly routes: readonly DiffRoute[];
  /** The routes, by id. */
  readonly routeById: ReadonlyMap<string, DiffRoute>;
  /** The redacted JSON Schemas, including those of other files. */
  readonly schemas: SchemaRoot;
  /** Returns a validator for the schema at a path of `schemas`. */
  readonly validatorAt: ReturnType<typeof readSchemas>['validatorAt'];
}

/** A token method, with its values as they take effect. */
export type DiffMethod = TokenEntry & { readonly effective: unknown };

/** A route as written and as compiled. */
export interface DiffRoute extends PairedRoute {
  readonly side: DiffSide;
  /** For example `['routes', 3]`. */
  readonly path: Path;
  readonly entry: RouteEntry;
  /** The entry with references to the environment instead of their values, safe to print. */
  readonly redactedEntry: RouteEntry;
}

export function createDiffSide(planned: PlannedManifest, readFile: Environment['readFile']): DiffSide {
  const { plan, document, secrets } = planned;
  const manifest = uniformManifest(planned.manifest);
  const redacted = uniformManifest(secrets.redactValue(planned.manifest, []));
  const routeById = new Map<string, DiffRoute>();
  const { root, validatorAt } = readSchemas(manifest, readFile);
  const routes: DiffRoute[] = [];
  const side: DiffSide = {
    ...{ plan, manifest, document, secrets, redacted, routes, routeById },
    effective: effectiveSettings(manifest, plan, readFile),
    methods: tokenEntries(manifest.auth).map((method) => ({
      ...method,
      effective: normalize(method.entry, ['auth', 'tokens', method.kind], readFile),
    })),
    schemas: secrets.redactValue(root, []),
    validatorAt,
  };
  for (const [index, route] of plan.routes.entries()) {
    const entry = manifest.routes[index] as RouteEntry;
    const redactedEntry = redacted.routes[index] as RouteEntry;
    const { id, pattern } = route;
    const diffRoute = { side, path: ['routes', index], entry, redactedEntry, route, pattern, kind: kindOf(entry) };
    routes.push(diffRoute);
    routeById.set(id, diffRoute);
  }
  return side;
}

function kindOf({ id: _id, path, ...rest }: RouteEntry): string {
  return JSON.stringify([path.replaceAll(LITERAL_SEGMENT, '/'), rest]);
}

/** A segment of a path that is no parameter and no wildcard. */
const LITERAL_SEGMENT = /\/[^/{*]+(?=\/|$)/g;

/** Formats a value of the manifest for a message, without secrets. */
export function formatRedactedValue({ redacted }: DiffSide, path: Path): string {
  const value = valueAt(redacted, path);
  if (value === undefined) return 'not set';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ') || 'empty';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
