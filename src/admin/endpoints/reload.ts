import { reportProblems } from '../../reload/problem-report.ts';
import type { ReloadOutcome, ReportedReloadOutcome } from '../../reload/reloader.ts';
import {
  type AdminContext,
  type AdminRequest,
  type AdminResponse,
  jsonResponse,
  problemDetails,
  type ReloadControl,
} from '../admin-endpoint.ts';

/** 200 when the saved manifest is active (RFC 9110 sections 15.3.1, 15.5.21 and 15.6.4). */
const STATUS_CODES: Readonly<Record<Exclude<ReloadOutcome['kind'], 'cancelled'>, number>> = {
  accepted: 200,
  unchanged: 200,
  rejected: 422,
  unreadable: 503,
};

/** Reloads the manifest now, and responds once the result is known. */
export async function reload(_call: AdminRequest, { reloader, isStopping }: AdminContext): Promise<AdminResponse> {
  const made = isStopping() ? undefined : await reloader.reload('request');
  if (made === undefined || made.kind === 'cancelled')
    return problemDetails(503, 'the gateway is stopping, and reloads nothing; ask the instance that replaces it');
  const entry = made.kind === 'unchanged' ? { kind: made.kind, ...attemptFields(made) } : outcomeFields(made);
  return jsonResponse({ hash: reloader.hash, ...entry }, STATUS_CODES[made.kind]);
}

/** What the status says of reloads. */
export function reloadFields({
  lastOutcome,
  lastActivatedAt: last_success_at,
  keysNeedingRestart,
  hungThreadCount,
}: ReloadControl) {
  return {
    last_reload: lastOutcome === undefined ? null : outcomeFields(lastOutcome),
    last_success_at,
    needs_restart: keysNeedingRestart,
    hung_threads: hungThreadCount,
  };
}

function attemptFields({ cause, at, ms, files }: ReloadOutcome) {
  return { cause, at, ms, files };
}

function outcomeFields(reload: ReportedReloadOutcome) {
  const attempt = attemptFields(reload);
  if (reload.kind === 'rejected')
    return { kind: reload.kind, ...attempt, problems: reportProblems(reload), problem_count: reload.problems.length };
  if (reload.kind === 'unreadable') return { kind: reload.kind, ...attempt, reason: reload.reason };
  const { kind, hash, oldHash: old_hash, summary, changes, keysNeedingRestart: needs_restart } = reload;
  return { kind, ...attempt, hash, old_hash, summary, changes, needs_restart };
}
