import { toldProblems } from '../reload/told.ts';
import type { News, Reload } from '../reload.ts';
import { type Answer, type Call, json, type Operated, type Reloading } from './call.ts';

/** Whether what is saved now is in force (RFC 9110 sections 15.3.1, 15.5.21 and 15.6.4). */
const STATUSES: Readonly<Record<Reload['kind'], number>> = { loaded: 200, unchanged: 200, kept: 422, unreadable: 503 };

/** Has the files read now, and answers once it is known what came of it. */
export async function reload(_call: Call, { reloader }: Operated): Promise<Answer> {
  const made = await reloader.reload('request');
  const entry = made.kind === 'unchanged' ? { kind: made.kind, ...attemptOf(made) } : entryOf(made);
  return json({ hash: reloader.hash, ...entry }, STATUSES[made.kind]);
}

/** What the status says of reloads. */
export function reloadEntry({ last, lastSuccessAt, needsRestart }: Reloading) {
  return {
    last_reload: last === undefined ? null : entryOf(last),
    last_success_at: lastSuccessAt,
    needs_restart: needsRestart,
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
