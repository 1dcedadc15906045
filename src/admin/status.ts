import type { BufferBudget } from '../gateway/buffer-budget.ts';
import type { LogStatus } from '../log.ts';
import type { VerifierStatus } from '../plan/plan.ts';
import { validationPool } from '../plan/validation-pool.ts';
import { type Answer, type Call, json, type Operated } from './call.ts';
import { readinessOf } from './health.ts';
import { reloadEntry } from './reload.ts';

/** How the process is, and what is in force. */
export function status(_call: Call, operated: Operated): Answer {
  return json(statusOf(operated));
}

export type Status = ReturnType<typeof statusOf>;

function statusOf(operated: Operated) {
  const { gateway, version, startedAt, reloader } = operated;
  const { plan } = gateway;
  return {
    version,
    started_at: startedAt,
    ...readinessOf(operated),
    manifest: { hash: plan.hash, routes: plan.routes.length, loaded_at: reloader.lastSuccessAt },
    ...reloadEntry(reloader),
    upstreams: gateway.upstreams,
    tokens: plan.auth === undefined ? null : tokensOf(plan.auth.verifier.status),
    validation: validationPool.status,
    buffered_bodies: buffersOf(gateway.buffers),
    watch_error: reloader.watchError ?? null,
    streams: streamsOf(operated),
    file_descriptors: operated.descriptors.status,
    client_connections: clientsOf(operated),
    admin: adminOf(operated.counts),
    reported: Object.fromEntries(gateway.meters.reported),
  };
}

function streamsOf({ streams }: Operated) {
  const { stdout, stderr } = streams();
  return { stdout: streamOf(stdout), stderr: streamOf(stderr) };
}

function streamOf({ droppedLines, waitingBytes, error, errors }: LogStatus) {
  return { dropped_lines: droppedLines, waiting_bytes: waitingBytes, error: error ?? null, errors };
}

function clientsOf({ gateway }: Operated) {
  const { connections, limit, refused, unaccepted } = gateway.clients;
  return { open: connections, limit, refused, unaccepted };
}

function adminOf({ connections, evictions, refusals, unaccepted, skippedDecisions }: Operated['counts']) {
  return { connections, evictions, refusals, unaccepted, skipped_decisions: skippedDecisions };
}

function tokensOf({ verdicts, ...status }: VerifierStatus) {
  return { ...status, verdicts: Object.fromEntries(verdicts) };
}

function buffersOf({ heldBytes, limitBytes, clients, refused }: BufferBudget) {
  return { held_bytes: heldBytes, limit_bytes: limitBytes, clients, refused: { ...refused } };
}
