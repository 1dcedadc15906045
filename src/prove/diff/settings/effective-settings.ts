import type { Manifest, Upstream as UpstreamEntry } from '../../../engine/manifest/manifest.generated.ts';
import type { Environment } from '../../../engine/manifest/source.ts';
import type { Plan } from '../../../engine/plan/plan.ts';
import { normalize } from './normalizations.ts';

/**
 * Returns the manifest in one form: the admin API as a map, and the circuit breaker of every upstream that has one, by
 * default or not.
 */
export function uniformManifest(manifest: Manifest): Manifest {
  const { admin, upstreams, ...rest } = manifest;
  const uniformUpstreams = Object.entries(upstreams).map(([id, entry]) => [id, withBreaker(entry)]);
  return {
    ...rest,
    ...(admin !== undefined && { admin: typeof admin === 'string' ? { listen: admin } : admin }),
    upstreams: Object.fromEntries(uniformUpstreams),
  };
}

/**
 * Returns the values of a manifest as they take effect: durations in milliseconds, sizes in bytes, sorted lists where the
 * order means nothing. Manifests that behave alike have equal values, however they are written.
 */
export function effectiveSettings(manifest: Manifest, plan: Plan, readFile: Environment['readFile']): unknown {
  const { auth, server } = manifest;
  const { routes: _routes, schemas: _schemas, ...settings } = manifest;
  const effective = normalize(settings, [], readFile) as Pick<Manifest, 'auth' | 'server'>;
  const timeouts = { ...(effective.server.timeouts as object), headers: plan.server.headersTimeoutMs };
  return {
    ...effective,
    server: { ...effective.server, ...(server !== undefined && { timeouts }) },
    ...(auth !== undefined && { auth: { ...effective.auth, ...textsForClients(effective, plan) } }),
  };
}

/** Clients never receive a message or a realm from the environment. */
function textsForClients({ auth }: Pick<Manifest, 'auth'>, plan: Plan): object {
  return {
    role: { ...auth?.role, message: plan.auth?.role.message ?? null },
    realm: plan.auth?.challengePrefix,
  };
}

/** The breaker of an upstream with several endpoints that configures none. `compileBreaker` has the same values. */
const DEFAULT_BREAKER = { enabled: 'by default', failures: 5, pause: '10s' };

function withBreaker({ breaker, ...entry }: UpstreamEntry): UpstreamEntry {
  if (breaker?.enabled === false) return entry;
  if (breaker !== undefined) return { ...entry, breaker };
  const hasDefault = (entry.urls?.length ?? 0) > 1;
  return hasDefault ? { ...entry, breaker: DEFAULT_BREAKER as unknown as NonNullable<typeof breaker> } : entry;
}
