import {
  type AdminContext,
  type AdminRequest,
  type AdminResponse,
  jsonResponse,
  type ReloadControl,
} from '../admin-endpoint.ts';

/** Answers for as long as the process does anything at all. */
export function livez(): AdminResponse {
  return jsonResponse({ status: 'alive' });
}

/** Whether the process should get requests now. */
export function readyz({ isAuthenticated }: AdminRequest, operated: AdminContext): AdminResponse {
  // Until there are keys nobody else may ask for them.
  void operated.gateway.plan.auth?.verifier.prepare();
  const readiness = readinessOf(operated);
  const isReady = readiness.status === 'ready' || readiness.status === 'degraded';
  // Why names upstreams, and anybody may ask.
  return jsonResponse(isAuthenticated ? readiness : { status: readiness.status }, isReady ? 200 : 503);
}

/** `degraded`: it serves, but somebody should look. The last two are answered 503. */
export const READINESS_STATUSES = ['ready', 'degraded', 'unready', 'stopping'] as const;

export interface Readiness {
  readonly status: (typeof READINESS_STATUSES)[number];
  /** None when it is ready. */
  readonly why: readonly string[];
}

/**
 * What fails for all replicas at once makes none of them unready, or nobody would be left to serve what still can
 * be: an upstream that is down is told of, and stands in the way only where the manifest says `required`. Keys that
 * were never known do: a replica that begins without them refuses what the others still let in.
 */
export function readinessOf({ gateway, reloader, isStopping }: AdminContext): Readiness {
  if (isStopping()) return { status: 'stopping', why: ['the process was asked to stop'] };
  const tokens = gateway.plan.auth?.verifier.status;
  const panicking = gateway.upstreams.filter(({ panic }) => panic).map(({ id }) => id);
  const down = gateway.upstreams.filter(({ healthy, panic }) => !healthy && !panic).map(({ id }) => id);
  const required = new Set(gateway.plan.upstreams.filter(({ health }) => health?.required).map(({ id }) => id));
  const unready = [
    ...(tokens?.keys === 'unknown' ? ['no keys are known by which tokens are verified'] : []),
    ...down.filter((id) => required.has(id)).map((id) => `no endpoint of the required upstream "${id}" is healthy`),
  ];
  const degraded = [
    ...(tokens?.keys === 'stale' ? ['the keys are too old, and the issuer gives no newer ones'] : []),
    ...down.filter((id) => !required.has(id)).map((id) => `no endpoint of the upstream "${id}" is healthy`),
    ...panicking.map((id) => `every endpoint of the upstream "${id}" fails; requests go to all of them`),
    ...reloadReasons(reloader.lastOutcome),
  ];
  const why = [...unready, ...degraded];
  return { status: unready.length > 0 ? 'unready' : degraded.length > 0 ? 'degraded' : 'ready', why };
}

/** The last good plan serves on. */
function reloadReasons(reload: ReloadControl['lastOutcome']): string[] {
  if (reload?.kind !== 'rejected' && reload?.kind !== 'unreadable') return [];
  return [reload.kind === 'rejected' ? 'the saved manifest was rejected' : 'the manifest cannot be read'];
}
