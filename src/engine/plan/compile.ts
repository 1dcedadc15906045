import { checkLog, compileLog } from '../log/log-settings.ts';
import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Environment } from '../manifest/source.ts';
import { errorAtKey, type Finding } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import { compileRateLimits } from '../rate-limits/compile-rate-limits.ts';
import { compileStores } from '../rate-limits/compile-stores.ts';
import { createRouterSliced } from '../routing/router.ts';
import { createManifestNameCheck } from '../schema/manifest-names.ts';
import { createSchemaCompiler } from '../schema/schema-compiler.ts';
import { compileAddress } from '../settings/address.ts';
import { adminListenPath, compileAdmin } from '../settings/admin.ts';
import { compileCors } from '../settings/cors.ts';
import { checkListeners } from '../settings/listeners.ts';
import { compileReload } from '../settings/reload.ts';
import { compileServer } from '../settings/server.ts';
import { compileUpstreams } from '../settings/upstream.ts';
import { compileAuth } from '../tokens/auth.ts';
import type { TokensContext } from '../tokens/tokens-context.ts';
import { findBodiesOverBudget } from '../validation/buffer-budget.ts';
import type { Plan } from './plan.ts';
import { checkInvalidRoute, compileRoutes, type ParsedRoute, parseRoute } from './route.ts';
import type { SlicedWork } from './sliced-work.ts';

export interface CompileOptions {
  readonly hash: string;
  readonly readFile: Environment['readFile'];
  readonly secrets: Secrets;
  /** The active plan, whose unchanged parts are reused. */
  readonly previous: Plan | undefined;
  /** Parts that the schema has rejected: `routes/3`, `upstreams/contacts`, `auth`; an empty string for an unknown top-level key. */
  readonly invalidParts: ReadonlySet<string>;
  /** See `TokensContext`. */
  readonly networkVerifier?: TokensContext['networkVerifier'];
}

/**
 * Compiles the plan of a checked manifest, or returns all its errors. Skips the `invalidParts`, which the
 * schema has reported, and checks the rest, so that all mistakes are reported at once.
 */
export function* compilePlan(
  manifest: Manifest,
  options: CompileOptions,
): SlicedWork<{ plan?: Plan; findings: Finding[] }> {
  const findings: Finding[] = [];
  const { invalidParts, networkVerifier, readFile, secrets } = options;
  const upstreams = compileUpstreams(manifest, invalidParts, { readFile, secrets, findings });
  const authEntry = invalidParts.has('auth') ? undefined : manifest.auth;
  const tokens = { readFile, upstreams, secrets, findings, networkVerifier };
  const auth = authEntry && compileAuth(authEntry, tokens, options.previous?.auth?.verifier);
  const cors = invalidParts.has('cors') ? undefined : manifest.cors && compileCors(manifest.cors, findings);
  const stores = invalidParts.has('stores')
    ? undefined
    : compileStores(manifest.stores, { readFile, secrets, findings });
  const rateLimits = compileRateLimits(manifest.rateLimits, invalidParts, stores, findings);
  const hasSchemas = !invalidParts.has('') && !invalidParts.has('schemas');
  const schemas = hasSchemas
    ? yield* createSchemaCompiler(manifest, readFile, secrets, findings, options.previous?.compilations)
    : undefined;
  for (const name of Object.keys(schemas === undefined ? {} : manifest.schemas)) {
    schemas?.compile(['schemas', name], findings);
    yield;
  }
  const listen = invalidParts.has('listen') ? undefined : compileAddress(manifest.listen, ['listen'], findings);
  const adminEntry = invalidParts.has('admin') ? undefined : manifest.admin;
  const admin = adminEntry === undefined ? undefined : compileAdmin(adminEntry, { readFile, secrets, findings });
  if (listen !== undefined && adminEntry !== undefined && admin !== undefined)
    checkListeners(listen, admin, adminListenPath(adminEntry), findings);
  const server = invalidParts.has('server') ? undefined : compileServer(manifest.server, options.readFile, findings);
  if (!invalidParts.has('log')) checkLog(manifest.log, secrets, findings);
  const reload = invalidParts.has('reload') ? undefined : compileReload(manifest.reload, readFile, findings);
  const parsedRoutes: ParsedRoute[] = [];
  for (const [index, entry] of manifest.routes.entries()) {
    if (invalidParts.has(`routes/${index}`)) checkInvalidRoute(entry, index, upstreams, findings);
    else parsedRoutes.push(parseRoute(entry, index, findings));
    yield;
  }
  if (!invalidParts.has('')) findMissingAuth(manifest, parsedRoutes, findings);
  if (!invalidParts.has('server')) findBodiesOverBudget(manifest, parsedRoutes, findings);
  const routes = yield* compileRoutes(
    parsedRoutes,
    {
      upstreams,
      rateLimits,
      schemas,
      auth,
      authEntry,
      origins: invalidParts.has('cors') ? [] : (manifest.cors?.origins ?? []),
      secrets,
      isManifestName: createManifestNameCheck(schemas?.redactedRoot),
    },
    findings,
  );
  if (findings.length > 0 || invalidParts.size > 0) return { findings };
  if (listen === undefined || server === undefined || reload === undefined) return { findings };
  const router = yield* createRouterSliced(routes);
  const plan = {
    hash: options.hash,
    listen,
    admin,
    server,
    upstreams: [...upstreams.values()].filter((upstream) => upstream !== undefined),
    routes,
    router,
    rateLimits: [...(rateLimits?.values() ?? [])].filter((limit) => limit !== undefined),
    reload,
    auth,
    log: yield* compileLog(manifest.log, { hash: options.hash, entries: manifest.routes, routes, secrets }),
    sampledTraces: invalidParts.has('tracing') ? 1 : manifest.tracing.sample,
    cors,
    schemas: schemas?.redactedRoot,
    compilations: schemas?.compilations,
  };
  return { plan: Object.freeze(plan), findings };
}

/** Reports a missing `auth` once, at the first route that needs it. */
function findMissingAuth(manifest: Manifest, routes: readonly ParsedRoute[], findings: Finding[]): void {
  if (manifest.auth !== undefined) return;
  const route = routes.find(({ entry }) => entry.access === 'protected' || entry.login !== undefined);
  if (route === undefined) return;
  const path = ['routes', route.index, route.entry.login === undefined ? 'access' : 'login'];
  const message = 'this needs "auth", which is missing; add auth: with tokens and role';
  findings.push(errorAtKey(path, 'auth-missing', message));
}
