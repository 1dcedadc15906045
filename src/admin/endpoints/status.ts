import type { BufferBudget } from '../../gateway/server/buffer-budget.ts';
import type { LogStatus } from '../../log/log.ts';
import { validationPool } from '../../plan/body/validation-pool.ts';
import type { VerifierStatus } from '../../plan/tokens/verifier.ts';
import { type AdminContext, type AdminRequest, type AdminResponse, jsonResponse } from '../admin-endpoint.ts';
import { readinessOf } from './health.ts';
import { reloadFields } from './reload.ts';

/** How the process is, and what is in force. */
export function status(_call: AdminRequest, operated: AdminContext): AdminResponse {
  return jsonResponse(statusOf(operated));
}

export type AdminStatus = ReturnType<typeof statusOf>;

function statusOf(operated: AdminContext) {
  const { gateway, version, startedAt, reloader } = operated;
  const { plan } = gateway;
  return {
    version,
    started_at: startedAt,
    ...readinessOf(operated),
    manifest: { hash: plan.hash, routes: plan.routes.length, loaded_at: reloader.lastActivatedAt },
    ...reloadFields(reloader),
    upstreams: gateway.upstreams,
    tokens: plan.auth === undefined ? null : tokensOf(plan.auth.verifier.status),
    validation: validationPool.status,
    buffered_bodies: buffersOf(gateway.bufferBudget),
    watch_error: reloader.watchError ?? null,
    streams: streamsOf(operated),
    file_descriptors: operated.descriptors.status,
    client_connections: clientsOf(operated),
    admin: adminOf(operated.adminMetrics),
    reported: Object.fromEntries(gateway.metrics.reportedRequests),
  };
}

function streamsOf({ standardStreams }: AdminContext) {
  const { stdout, stderr } = standardStreams();
  return { stdout: streamOf(stdout), stderr: streamOf(stderr) };
}

function streamOf({ droppedLines, waitingBytes, error, errors }: LogStatus) {
  return { dropped_lines: droppedLines, waiting_bytes: waitingBytes, error: error ?? null, errors };
}

function clientsOf({ gateway }: AdminContext) {
  const { connections, limit, refused, unaccepted } = gateway.clients;
  return { open: connections, limit, refused, unaccepted };
}

function adminOf({
  connections,
  evictions,
  refusals,
  acceptErrors: unaccepted,
  skippedEvents,
}: AdminContext['adminMetrics']) {
  return { connections, evictions, refusals, unaccepted, skipped_decisions: skippedEvents };
}

function tokensOf({ verdicts, ...status }: VerifierStatus) {
  return { ...status, verdicts: Object.fromEntries(verdicts) };
}

function buffersOf({ usedBytes: held_bytes, limitBytes, clientCount: clients, refusedCounts }: BufferBudget) {
  return { held_bytes, limit_bytes: limitBytes, clients, refused: { ...refusedCounts } };
}
