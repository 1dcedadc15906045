import { toldProblems } from '../reload/told.ts';
import type { Reload } from '../reload.ts';
import { type Answer, type Call, json, type Operated, type Reloading } from './call.ts';

/** Whether what is saved now is in force (RFC 9110 sections 15.3.1, 15.5.21 and 15.6.4). */
const STATUSES: Readonly<Record<Reload['kind'], number>> = { loaded: 200, unchanged: 200, kept: 422, unreadable: 503 };

/** Has the files read now, and answers once it is known what came of it. */
export async function reload(_call: Call, { reloader }: Operated): Promise<Answer> {
  const made = await reloader.reload('request');
  return json({ hash: reloader.hash, ...entryOf(made) }, STATUSES[made.kind]);
}

/** What the status says of reloads. */
export function reloadEntry({ last, lastSuccessAt, needsRestart }: Reloading): object {
  return {
    last_reload: last === undefined ? null : entryOf(last),
    last_success_at: lastSuccessAt,
    needs_restart: needsRestart,
  };
}

function entryOf(reload: Reload): object {
  const { kind, cause, at, ms, files } = reload;
  const attempt = { kind, cause, at, ms, files };
  if (reload.kind === 'kept')
    return { ...attempt, problems: toldProblems(reload), problem_count: reload.problems.length };
  if (reload.kind === 'unreadable') return { ...attempt, reason: reload.reason };
  if (reload.kind === 'unchanged') return attempt;
  const { hash, oldHash: old_hash, summary, changes, needsRestart: needs_restart } = reload;
  return { ...attempt, hash, old_hash, summary, changes, needs_restart };
}
