import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Secrets } from '../manifest/secrets.ts';
import type { World } from '../manifest/source.ts';
import { errorAtKey, type Finding } from '../problem/finding.ts';
import { compileAddress } from './address.ts';
import { compileAdmin } from './admin.ts';
import { compileAuth } from './auth.ts';
import { findBodiesOverBudget } from './buffered-routes.ts';
import { compileCors } from './cors.ts';
import { createSchemaCompiler } from './json-schema.ts';
import { ownNames } from './own-names.ts';
import type { Plan } from './plan.ts';
import { compileReload } from './reload-rules.ts';
import { compilingRoutes, glanceAt, readRoute, type Written } from './route.ts';
import { creatingRouter } from './router.ts';
import { compileServer } from './server.ts';
import type { Steps } from './steps.ts';
import { compileUpstreams } from './upstream.ts';

export interface CompileOptions {
  readonly hash: string;
  readonly readFile: World['readFile'];
  readonly secrets: Secrets;
  /** The plan in force: what did not change is taken over from it. */
  readonly previous: Plan | undefined;
  /** What the schema has refused: `routes/3`, `upstreams/contacts`, `auth`; an empty text for a key of the manifest itself. */
  readonly faulty: ReadonlySet<string>;
}

/**
 * Makes the plan of a checked manifest, or tells everything that stands in its way. What is named in `faulty` is
 * passed over, since the schema has told of it already; the rest is looked at, so that all mistakes show at once.
 */
export function* compiling(manifest: Manifest, options: CompileOptions): Steps<{ plan?: Plan; findings: Finding[] }> {
  const findings: Finding[] = [];
  const { faulty, readFile, secrets } = options;
  const upstreams = compileUpstreams(manifest, faulty, { readFile, secrets, findings });
  const authEntry = faulty.has('auth') ? undefined : manifest.auth;
  const tokens = { readFile, upstreams, secrets, findings };
  const auth = authEntry && compileAuth(authEntry, tokens, options.previous?.auth?.verifier);
  const cors = faulty.has('cors') ? undefined : manifest.cors && compileCors(manifest.cors, findings);
  const hasSchemas = !faulty.has('') && !faulty.has('schemas');
  const schemas = hasSchemas ? createSchemaCompiler(manifest, readFile, secrets, findings) : undefined;
  for (const name of Object.keys(schemas === undefined ? {} : manifest.schemas)) {
    schemas?.compile(['schemas', name], findings);
    yield;
  }
  const listen = faulty.has('listen') ? undefined : compileAddress(manifest.listen, ['listen'], findings);
  const adminEntry = faulty.has('admin') ? undefined : manifest.admin;
  const admin = adminEntry === undefined ? undefined : compileAdmin(adminEntry, { readFile, secrets, findings });
  const server = faulty.has('server') ? undefined : compileServer(manifest.server, options.readFile, findings);
  const reload = faulty.has('reload') ? undefined : compileReload(manifest.reload, readFile, findings);
  const written: Written[] = [];
  for (const [index, entry] of manifest.routes.entries()) {
    if (faulty.has(`routes/${index}`)) glanceAt(entry, index, upstreams, findings);
    else written.push(readRoute(entry, index, findings));
    yield;
  }
  if (!faulty.has('')) findMissingAuth(manifest, written, findings);
  if (!faulty.has('server')) findBodiesOverBudget(manifest, written, findings);
  const routes = yield* compilingRoutes(
    written,
    {
      upstreams,
      schemas,
      auth,
      authEntry,
      origins: faulty.has('cors') ? [] : (manifest.cors?.origins ?? []),
      secrets,
      isOwnName: ownNames(schemas?.shown),
    },
    findings,
  );
  if (findings.length > 0 || faulty.size > 0) return { findings };
  if (listen === undefined || server === undefined || reload === undefined) return { findings };
  const plan = {
    hash: options.hash,
    listen,
    admin,
    server,
    upstreams: [...upstreams.values()].filter((upstream) => upstream !== undefined),
    routes,
    router: yield* creatingRouter(routes),
    reload,
    auth,
    sample2xx: faulty.has('log') ? 1 : manifest.log.sample2xx,
    sampledTraces: faulty.has('tracing') ? 1 : manifest.tracing.sample,
    cors,
    schemas: schemas?.shown,
  };
  return { plan: Object.freeze(plan), findings };
}

/** Told once, at the first route that needs it: it is one mistake. */
function findMissingAuth(manifest: Manifest, routes: readonly Written[], findings: Finding[]): void {
  if (manifest.auth !== undefined) return;
  const needy = routes.find(({ entry }) => entry.access === 'protected' || entry.login !== undefined);
  if (needy === undefined) return;
  const path = ['routes', needy.index, needy.entry.login === undefined ? 'access' : 'login'];
  const message = 'this needs "auth", which the manifest does not have; add auth: with tokens and role';
  findings.push(errorAtKey(path, 'auth-missing', message));
}
