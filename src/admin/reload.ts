import { toldProblems } from '../reload/told.ts';
import type { News, Reload } from '../reload.ts';
import { type Answer, type Call, fault, json, type Operated, type Reloading } from './call.ts';

/** 200 when the saved manifest is active (RFC 9110 sections 15.3.1, 15.5.21 and 15.6.4). */
const STATUSES: Readonly<Record<Exclude<Reload['kind'], 'cancelled'>, number>> = {
  loaded: 200,
  unchanged: 200,
  kept: 422,
  unreadable: 503,
};

/** Reloads the manifest now, and responds once the result is known. */
export async function reload(_call: Call, { reloader, isStopping }: Operated): Promise<Answer> {
  const made = isStopping() ? undefined : await reloader.reload('request');
  if (made === undefined || made.kind === 'cancelled')
    return fault(503, 'the gateway is stopping, and reloads nothing; ask the instance that replaces it');
  const entry = made.kind === 'unchanged' ? { kind: made.kind, ...attemptOf(made) } : entryOf(made);
  return json({ hash: reloader.hash, ...entry }, STATUSES[made.kind]);
}

/** What the status says of reloads. */
export function reloadEntry({ last, lastSuccessAt, needsRestart, hungThreads }: Reloading) {
  return {
    last_reload: last === undefined ? null : entryOf(last),
    last_success_at: lastSuccessAt,
    needs_restart: needsRestart,
    hung_threads: hungThreads,
  };
}

function attemptOf({ cause, at, ms, files }: Reload) {
  return { cause, at, ms, files };
}

function entryOf(reload: News) {
  const attempt = attemptOf(reload);
  if (reload.kind === 'kept')
    return { kind: reload.kind, ...attempt, problems: toldProblems(reload), problem_count: reload.problems.length };
  if (reload.kind === 'unreadable') return { kind: reload.kind, ...attempt, reason: reload.reason };
  const { kind, hash, oldHash: old_hash, summary, changes, needsRestart: needs_restart } = reload;
  return { kind, ...attempt, hash, old_hash, summary, changes, needs_restart };
}
