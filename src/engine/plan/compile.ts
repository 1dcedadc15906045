import { checkLog, compileLog } from '../log/log-settings.ts';
import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Environment } from '../manifest/source.ts';
import { sizeBytes } from '../manifest/units.ts';
import { errorAt, errorAtKey, type Finding } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import { compileRateLimits } from '../rate-limits/compile-rate-limits.ts';
import { compileStores } from '../rate-limits/compile-stores.ts';
import { createRouter } from '../routing/router.ts';
import { createManifestNameCheck } from '../schema/schema-bundle.ts';
import { createSchemaCompiler } from '../schema/schema-compiler.ts';
import { checkListeners, compileListen } from '../settings/address.ts';
import { adminListenPath, compileAdmin } from '../settings/admin.ts';
import type { CertificateFile } from '../settings/compile-context.ts';
import { compileCors } from '../settings/cors.ts';
import { compileReload, compileServer } from '../settings/server.ts';
import { compileUpstreams } from '../settings/upstream.ts';
import { compileAuth } from '../tokens/auth.ts';
import type { TokensContext } from '../tokens/identity-endpoint.ts';
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
  /** True if another thread has compiled the same manifest without errors. */
  readonly isChecked?: boolean;
  /** See `TokensContext`. */
  readonly networkVerifier?: TokensContext['networkVerifier'];
}

/** Compiles the plan of a checked manifest, or returns all its errors but those in `invalidParts`, which the schema has reported. */
export function* compilePlan(
  manifest: Manifest,
  options: CompileOptions,
): SlicedWork<{ plan?: Plan; findings: Finding[] }> {
  const findings: Finding[] = [];
  const { hash, invalidParts, isChecked = false, networkVerifier, previous, readFile, secrets } = options;
  const certificates: CertificateFile[] = [];
  const context = { readFile, secrets, findings, certificates };
  const valid = validParts(manifest, invalidParts);
  const upstreams = compileUpstreams(manifest, invalidParts, context);
  const auth =
    valid.auth && compileAuth(valid.auth, { ...context, upstreams, networkVerifier }, previous?.auth?.verifier);
  const cors = valid.cors && compileCors(valid.cors, findings);
  const stores = valid.stores && compileStores(valid.stores, context);
  const rateLimits = compileRateLimits(manifest.rateLimits, invalidParts, stores, findings);
  const schemas =
    valid.schemas && !invalidParts.has('')
      ? yield* createSchemaCompiler(manifest, readFile, secrets, findings, previous?.compilations, isChecked)
      : undefined;
  for (const name of Object.keys(schemas === undefined ? {} : manifest.schemas)) {
    schemas?.compile(['schemas', name], findings);
    yield;
  }
  const listen = valid.listen === undefined ? undefined : compileListen(valid.listen, valid.server, findings);
  const admin = valid.admin === undefined ? undefined : compileAdmin(valid.admin, context);
  if (listen !== undefined && valid.admin !== undefined && admin !== undefined)
    checkListeners(listen, admin, adminListenPath(valid.admin), findings);
  const server = valid.server && compileServer(valid.server, context);
  if (valid.log !== undefined) checkLog(valid.log, secrets, findings);
  const reload = valid.reload && compileReload(valid.reload, readFile, findings);
  const parsedRoutes: ParsedRoute[] = [];
  for (const [index, entry] of manifest.routes.entries()) {
    if (invalidParts.has(`routes/${index}`)) checkInvalidRoute(entry, index, upstreams, findings);
    else parsedRoutes.push(parseRoute(entry, index, findings));
    yield;
  }
  if (!invalidParts.has('')) findMissingAuth(manifest, parsedRoutes, findings);
  if (valid.server !== undefined) findBodiesOverBudget(manifest, parsedRoutes, findings);
  const routes = yield* compileRoutes(
    parsedRoutes,
    {
      upstreams,
      rateLimits,
      schemas,
      auth,
      authEntry: valid.auth,
      origins: valid.cors?.origins ?? [],
      secrets,
      isManifestName: createManifestNameCheck(schemas?.redactedRoot),
    },
    findings,
  );
  if (findings.length > 0 || invalidParts.size > 0) return { findings };
  if (listen === undefined || server === undefined || reload === undefined) return { findings };
  const used = previous?.compilations?.compiledContents;
  if (used !== undefined) yield* schemas?.compilations.compileAhead((content) => used.has(content)) ?? [];
  const router = yield* createRouter(routes);
  const plan = {
    hash,
    listen,
    admin,
    server,
    certificates,
    upstreams: [...upstreams.values()].filter((upstream) => upstream !== undefined),
    routes,
    router,
    rateLimits: [...(rateLimits?.values() ?? [])].filter((limit) => limit !== undefined),
    reload,
    auth,
    log: yield* compileLog(manifest.log, { hash, entries: manifest.routes, routes, secrets }),
    sampledTraces: manifest.tracing.sample,
    cors,
    addsHeaders: cors !== undefined || server.hasRateLimitHeaders || server.responseHeaders.length > 0,
    schemas: schemas?.redactedRoot,
    compilations: schemas?.compilations,
  };
  return { plan: Object.freeze(plan), findings };
}

/** Returns the top-level keys of the manifest without those that the schema has rejected. */
function validParts(manifest: Manifest, invalidParts: ReadonlySet<string>): Partial<Manifest> {
  return Object.fromEntries(Object.entries(manifest).filter(([key]) => !invalidParts.has(key)));
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

/** Reports routes whose body limit exceeds the share of the buffer memory that one client may use. */
function findBodiesOverBudget({ server }: Manifest, routes: readonly ParsedRoute[], findings: Finding[]): void {
  const { bufferedBodies } = server.limits;
  for (const { entry, index } of routes) {
    const { body, login } = entry;
    const buffered = { body: body?.schema === undefined ? undefined : body.maxBytes, login: login?.maxBytes };
    for (const [key, size] of Object.entries(buffered)) {
      if (size === undefined || sizeBytes(size) * 2 <= sizeBytes(bufferedBodies)) continue;
      const message = `this exceeds the share of one client, which is half of server.limits.bufferedBodies (${bufferedBodies}); lower this limit, or raise that one`;
      findings.push(errorAt(['routes', index, key, 'maxBytes'], 'server-limit', message));
    }
  }
}
