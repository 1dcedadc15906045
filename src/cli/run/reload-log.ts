import type { Log } from '../../engine/log/log.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { PlanChanges } from '../../process/reload/plan-changes.ts';
import type { ReloadOutcome } from '../../process/reload/reload-outcome.ts';
import { reportProblems } from '../../process/reload/reload-report.ts';
import { formatProblems } from '../../report/text.ts';
import { type Streams, writeNote } from './streams.ts';

/** Limits the names of one kind in a log line. The summary counts all of them. */
const MAX_NAMES = 20;

export function logReload(reload: ReloadOutcome, { log: { logger }, notes }: Streams, colour: boolean): void {
  const { cause, files, ms } = reload;
  const attempt = { cause, files: files.slice(0, MAX_NAMES), ms };
  if (reload.kind === 'accepted') {
    const { hash, oldHash: old_hash, summary, changes, keysNeedingRestart } = reload;
    const names = Object.entries(changes).map(([kind, ids]) => [kind, ids.slice(0, MAX_NAMES)]);
    logger.info({ hash, old_hash, summary, ...attempt, ...Object.fromEntries(names) }, 'manifest reloaded');
    const keys = changes.needs_restart.filter((key) => keysNeedingRestart.includes(key));
    if (keys.length > 0) logger.warn({ keys }, 'these keys take effect only after a restart; restart the gateway');
    logCertificates(reload.planned.plan, logger);
    writeNote(notes, `${formatChanges(changes, files)}\n`);
  } else if (reload.kind === 'unreadable' || reload.kind === 'failed') {
    const message =
      reload.kind === 'failed'
        ? 'manifest could not be loaded; the gateway keeps the active manifest'
        : 'manifest cannot be read; the gateway keeps the active manifest';
    logger.error({ reason: reload.reason, ...attempt }, message);
  } else if (reload.kind === 'rejected') {
    const problems = reportProblems(reload);
    logger.error({ problems, ...attempt }, 'manifest rejected; the gateway keeps the active manifest');
    writeNote(notes, formatProblems(reload.problems, reload.sources, colour));
  }
}

/** Warns about certificates that are not valid or expire soon. */
export function logCertificates({ certificates }: Plan, logger: Log['logger']): void {
  const problems = certificates.flatMap(({ path, problemAt }) => {
    const problem = problemAt(Date.now());
    return problem === undefined ? [] : [`${path.join('.')}: ${problem}`];
  });
  if (problems.length === 0) return;
  const details = { count: problems.length, certificates: problems.slice(0, MAX_NAMES) };
  logger.warn(details, 'certificates of the manifest are not valid or expire soon; renew them');
}

export function logUnchanged({ kind, cause }: ReloadOutcome, { logger }: Log): void {
  if (kind === 'unchanged') logger.info({ cause }, 'manifest unchanged; nothing was reloaded');
}

/** Formats the changes of a reload in one line. `files` are those that changed. */
function formatChanges(changes: PlanChanges, files: readonly string[]): string {
  const changed = Object.entries(changes)
    .filter(([, ids]) => ids.length > 0)
    .map(
      ([kind, ids]) => `${kind === 'needs_restart' ? 'needs a restart' : kind.replaceAll('_', ' ')}: ${joinNames(ids)}`,
    );
  const unchanged = `routes and upstreams are unchanged; saved: ${joinNames(files)}`;
  return `the saved manifest is active; ${changed.join('; ') || unchanged}`;
}

/** The names of one kind that a person reads. */
const MAX_PRINTED = 10;

function joinNames(names: readonly string[]): string {
  const more = names.length - MAX_PRINTED;
  return names.slice(0, MAX_PRINTED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
