import type { MethodVerifier } from '../../engine/tokens/verifier.ts';
import { type AdminContext, jsonResponse, type ReloadControl, type Respond } from '../admin-endpoint.ts';

/** Responds while the event loop runs. */
export const livez: Respond = () => jsonResponse({ status: 'alive' });

/** Reports whether the process is ready for requests. */
export const readyz: Respond = ({ isAuthenticated }, context) => {
  // An unready replica gets no requests, so without this probe nothing would fetch the keys that make it ready.
  for (const method of context.gateway.plan.auth?.verifier.methods ?? []) void method.prepare();
  const readiness = readinessOf(context);
  const isReady = readiness.status === 'ready' || readiness.status === 'degraded';
  // The reasons name upstreams, and this endpoint is public.
  return jsonResponse(isAuthenticated ? readiness : { status: readiness.status }, isReady ? 200 : 503);
};

/** The values of `status`. A `degraded` process serves requests but needs attention; for the last two /readyz responds with 503. */
export const READINESS_STATUSES = ['ready', 'degraded', 'unready', 'stopping'] as const;

interface Readiness {
  readonly status: (typeof READINESS_STATUSES)[number];
  /** Empty if the process is ready. */
  readonly reasons: readonly string[];
}

/**
 * Returns the readiness of the process. A failure that all replicas share makes none of them unready, so that they
 * still serve the routes that work: an unhealthy upstream counts only if the manifest says `required`, and then only by its
 * checks, because clients can provoke failed requests. A replica that never had keys is unready, because it would refuse tokens
 * that other replicas accept.
 */
export function readinessOf({ gateway, workers, reloader, isStopping, isWarm }: AdminContext): Readiness {
  if (isStopping()) return { status: 'stopping', reasons: ['the process is stopping'] };
  const methods = gateway.plan.auth?.verifier.methods ?? [];
  const withKeys = (state: string) => methods.filter(({ status }) => status.keys === state).map(keysText);
  const panicking = gateway.upstreams.filter(({ panic }) => panic).map(({ id }) => id);
  const unhealthy = gateway.upstreams.filter(({ health, panic }) => health === 'unhealthy' && !panic);
  const required = new Set(gateway.plan.upstreams.filter(({ health }) => health?.required).map(({ id }) => id));
  const unready = [
    ...(isWarm() ? [] : ['the process warms up, so that its first requests are not slow']),
    ...withKeys('unknown').map((keys) => `${keys} were never fetched`),
    ...gateway.upstreams.filter(({ id }) => required.has(id)).flatMap(unreadyReason),
  ];
  const degraded = [
    ...withKeys('stale').map((keys) => `${keys} are too old and cannot be fetched`),
    ...unhealthy
      .filter((upstream) => !required.has(upstream.id) || unreadyReason(upstream).length === 0)
      .map(({ id }) => `the upstream "${id}" has no healthy endpoint`),
    ...panicking.map((id) => `every endpoint of the upstream "${id}" fails; requests go to all of them`),
    ...gateway.stores
      .filter(({ state }) => state === 'down')
      .map(({ id }) => `the store "${id}" of rate limits does not respond`),
    ...workerReasons(workers.status),
    ...reloadReasons(reloader.lastOutcome),
  ];
  const status = unready.length > 0 ? 'unready' : degraded.length > 0 ? 'degraded' : 'ready';
  return { status, reasons: [...unready, ...degraded] };
}

function keysText({ name }: MethodVerifier): string {
  return name === undefined ? 'the keys that verify tokens' : `the keys of the token method "${name}"`;
}

type UpstreamStatus = AdminContext['gateway']['upstreams'][number];

/** Returns the reason if a required upstream makes the process unready. */
function unreadyReason({ id, endpoints, available, panic }: UpstreamStatus): string[] {
  if (panic || (available && endpoints.some(({ check }) => check === 'healthy'))) return [];
  const mayPass = available && endpoints.some(({ check }) => check === 'unknown');
  return [`the required upstream "${id}" ${mayPass ? 'has passed no check yet' : 'has no healthy endpoint'}`];
}

/** The time for which a failure of a worker degrades the process. */
const FAILURE_REPORT_MS = 60_000;

function workerReasons(status: AdminContext['workers']['status']): string[] {
  const { serving, count, lastFailure, lastValidationHang } = status;
  const isRecent = (at: Date | undefined) => at !== undefined && Date.now() - at.getTime() < FAILURE_REPORT_MS;
  return [
    ...(serving < count ? [`only ${serving} of ${count} workers serve requests`] : []),
    ...(lastFailure !== undefined && isRecent(lastFailure.at)
      ? [`a worker ended unexpectedly in the last minute: ${lastFailure.reason}`]
      : []),
    ...(isRecent(lastValidationHang)
      ? ['a validation thread did not finish its work in the last minute and was replaced']
      : []),
  ];
}

function reloadReasons(reload: ReloadControl['lastOutcome']): string[] {
  if (reload?.kind === 'rejected') return ['the saved manifest was rejected'];
  if (reload?.kind === 'failed') return [`the saved manifest could not be loaded: ${reload.reason}`];
  return reload?.kind === 'unreadable' ? ['the saved manifest cannot be read'] : [];
}
