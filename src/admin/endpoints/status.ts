import type { Gateway } from '../../engine/gateway/gateway.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { copyLimitCounts, STORE_FAILURES } from '../../engine/rate-limits/rate-limit.ts';
import type { Verifier, VerifierStatus } from '../../engine/tokens/verifier.ts';
import type { LogStatus } from '../../process/log/process-log.ts';
import { type AdminContext, jsonResponse, type Respond } from '../admin-endpoint.ts';
import { rateLimitSummary } from '../route-summary.ts';
import { candidateSummary } from './candidate.ts';
import { readinessOf } from './health.ts';
import { reloadFields } from './reload.ts';

/** Reports the state of the process and its active manifest. */
export const status: Respond = (_request, context) => jsonResponse(statusOf(context));

export type AdminStatus = ReturnType<typeof statusOf>;

function statusOf(context: AdminContext) {
  const { gateway, version, startedAt, overrides, reloader } = context;
  const { plan } = gateway;
  return {
    version,
    started_at: startedAt,
    ...readinessOf(context),
    workers: workerFields(context.workers.status),
    manifest: { hash: plan.hash, routes: plan.routes.length, loaded_at: reloader.lastActivatedAt },
    overrides,
    certificates: plan.certificates.map(certificateFields),
    ...reloadFields(reloader),
    candidate: candidateSummary(context),
    upstreams: gateway.upstreams.map(upstreamFields),
    rate_limits: rateLimitFields(gateway),
    stores: gateway.stores.map(storeFields),
    tokens: (plan.auth && tokenFields(plan.auth.verifier)) ?? null,
    validation: context.workers.telemetry.totals.validation,
    buffered_bodies: bufferFields(gateway.bufferBudget),
    watch_error: reloader.watchError ?? null,
    streams: streamFields(context),
    file_descriptors: context.descriptors.status,
    client_connections: clientFields(context),
    admin: adminFields(context.adminMetrics),
    reported: Object.fromEntries(gateway.metrics.reportedRequests),
  };
}

function workerFields({ threads, lastFailure, ...status }: AdminContext['workers']['status']) {
  const { count, serving, failures, hung } = status;
  const heartbeats = threads.map(({ index, isListening: listening, silentMs: silent_ms }) => ({
    index,
    listening,
    silent_ms,
  }));
  return { count, serving, heartbeats, failures, hung, last_failure: lastFailure ?? null };
}

const DAY_MS = 86_400_000;

function certificateFields({ path, validFromMs, expiresMs, problemAt }: Plan['certificates'][number]) {
  const days_left = Math.floor((expiresMs - Date.now()) / DAY_MS);
  const problem = problemAt(Date.now()) ?? null;
  return { key: path.join('.'), valid_from: new Date(validFromMs), expires: new Date(expiresMs), days_left, problem };
}

function upstreamFields({ endpoints, ...upstream }: Gateway['upstreams'][number]) {
  const fields = endpoints.map(({ breakerOpenings: breaker_openings, ...endpoint }) => ({
    ...endpoint,
    breaker_openings,
  }));
  return { ...upstream, endpoints: fields };
}

function rateLimitFields({ plan, rateLimiter: { counts, local } }: Gateway) {
  return plan.rateLimits.map((limit) => {
    const { evicted, overflowed, retained, ...outcomes } = copyLimitCounts(counts.get(limit.id));
    const counters = local.tables.get(limit.key)?.size ?? 0;
    return { ...rateLimitSummary(limit), ...outcomes, counters, evicted, overflowed, retained };
  });
}

function storeFields({ since, reason, failures, decisionsWithout, ...store }: Gateway['stores'][number]) {
  return {
    ...store,
    since: new Date(since),
    reason: reason === undefined ? null : STORE_FAILURES[reason],
    failures: Object.fromEntries(failures),
    decisions_without: decisionsWithout,
  };
}

function streamFields({ standardStreams }: AdminContext) {
  const { stdout, stderr } = standardStreams();
  return { stdout: logFields(stdout), stderr: logFields(stderr) };
}

function logFields({ droppedLines, waitingBytes, error, errors }: LogStatus) {
  return { dropped_lines: droppedLines, waiting_bytes: waitingBytes, error: error ?? null, errors };
}

function clientFields({ gateway }: AdminContext) {
  const { connections, limit, refused, unaccepted } = gateway.clients;
  return { open: connections, limit, refused, unaccepted };
}

function adminFields({ connections, evicted, refused, unaccepted, skippedEvents }: AdminContext['adminMetrics']) {
  return {
    connections,
    evictions: evicted.total,
    refusals: refused.total,
    unaccepted: unaccepted.total,
    skipped_decisions: skippedEvents,
  };
}

/** Returns the state of all token methods together, and that of each method if there are several. */
function tokenFields({ methods }: Verifier) {
  const [first, ...others] = methods.map(({ status }) => status);
  const issuers = methods.map(({ name, status }) => ({ name, ...methodFields(status) }));
  return first && { ...methodFields(others.reduce(addStatus, first)), issuers: others.length > 0 ? issuers : [] };
}

/** The states of keys, the worst one last. */
const KEY_STATES: readonly VerifierStatus['keys'][] = ['none', 'known', 'stale', 'unknown'];

/** Returns the sums, with the worse state of the keys. */
function addStatus(one: VerifierStatus, other: VerifierStatus): VerifierStatus {
  const isWorse = KEY_STATES.indexOf(other.keys) > KEY_STATES.indexOf(one.keys);
  const results = new Map(one.results);
  for (const [result, count] of other.results) results.set(result, (results.get(result) ?? 0) + count);
  return {
    keys: isWorse ? other.keys : one.keys,
    cause: isWorse ? (other.cause ?? one.cause) : (one.cause ?? other.cause),
    entries: one.entries + other.entries,
    refused: one.refused + other.refused,
    verifying: one.verifying + other.verifying,
    hits: one.hits + other.hits,
    misses: one.misses + other.misses,
    results,
    fetches: one.fetches + other.fetches,
    failedFetches: one.failedFetches + other.failedFetches,
  };
}

function methodFields({ results, failedFetches: failed_fetches, ...status }: VerifierStatus) {
  return { ...status, failed_fetches, results: Object.fromEntries(results) };
}

function bufferFields({ usedBytes, limitBytes, clientCount, refusedCounts }: Gateway['bufferBudget']) {
  return { held_bytes: usedBytes, limit_bytes: limitBytes, clients: clientCount, refused: { ...refusedCounts } };
}
