import type { ReloadOutcome, ReportedReloadOutcome } from '../../process/reload/reload-outcome.ts';
import { reportProblems } from '../../process/reload/reload-report.ts';
import { jsonResponse, problemDetails, type ReloadControl, type Respond } from '../admin-endpoint.ts';

/** Status codes by outcome (RFC 9110 sections 15.3.1, 15.5.21 and 15.6.4). 200 means that the saved manifest is active. */
const STATUS_CODES: Readonly<Record<Exclude<ReloadOutcome['kind'], 'cancelled'>, number>> = {
  accepted: 200,
  unchanged: 200,
  rejected: 422,
  unreadable: 503,
  failed: 503,
};

export const reload: Respond = async (_request, { gateway, reloader, isStopping }) => {
  const outcome = isStopping() ? undefined : await reloader.reload('request');
  if (outcome === undefined || outcome.kind === 'cancelled')
    return problemDetails(503, 'the gateway is stopping and does not reload; send the request to another instance');
  const fields =
    outcome.kind === 'unchanged' ? { result: outcome.kind, ...attemptFields(outcome) } : outcomeFields(outcome);
  return jsonResponse({ hash: gateway.plan.hash, ...fields }, STATUS_CODES[outcome.kind]);
};

/** Returns the members of /status that describe reloads. */
export function reloadFields(control: ReloadControl) {
  return {
    last_reload: control.lastOutcome === undefined ? null : outcomeFields(control.lastOutcome),
    last_success_at: control.lastActivatedAt,
    needs_restart: control.keysNeedingRestart,
    hung_threads: control.hungThreadCount,
  };
}

function attemptFields({ cause, at, ms, files }: ReloadOutcome) {
  return { cause, at, ms, files };
}

function outcomeFields(reload: ReportedReloadOutcome) {
  const attempt = attemptFields(reload);
  if (reload.kind === 'rejected')
    return {
      result: reload.kind,
      ...attempt,
      problems: reportProblems(reload),
      problem_count: reload.problems.length,
    };
  if (reload.kind === 'unreadable' || reload.kind === 'failed')
    return { result: reload.kind, ...attempt, reason: reload.reason };
  const { kind: result, hash, oldHash: old_hash, summary, changes, keysNeedingRestart: needs_restart } = reload;
  return { result, ...attempt, hash, old_hash, summary, changes, needs_restart };
}
